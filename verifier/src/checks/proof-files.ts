import { fromUtf8, parseBundle } from '@rrs/evidence-format';
import type { Opened } from '../archive/read-package.ts';
import type { Findings } from '../report.ts';

export type Bundle = ReturnType<typeof parseBundle>;

export const PROOF = {
  bundle: 'proof/package.sigstore.json',
  statement: 'proof/statement.json',
  tlogProof: 'proof/package.tlog-proof',
  consistency: 'proof/consistency.txt',
  packageKey: 'proof/keys/package.pem',
  logKey: 'proof/keys/log.pem',
  noteKey: 'proof/keys/log-note.pem',
  noteVkey: 'proof/keys/log-note.vkey',
} as const;

const TIMESTAMP = /^proof\/timestamp(?:-(?:[2-9]|[1-9]\d))?\.tsr$/;

export function timestampPath(index: number): string {
  return index === 0 ? 'proof/timestamp.tsr' : `proof/timestamp-${index + 1}.tsr`;
}

/** The bundle, and that proof/ has the files that it must have and no others. */
export async function readProof({ files }: Opened, findings: Findings): Promise<Bundle | null> {
  const bytes = files.get(PROOF.bundle)?.bytes;
  const bundle = bytes ? await findings.guard('bundle', PROOF.bundle, () => parseBundle(fromUtf8(bytes))) : null;
  const wanted = new Set<string>(Object.values(PROOF));
  for (const index of stamps(bundle).keys()) wanted.add(timestampPath(index));
  for (const path of wanted) if (!files.has(path)) findings.fail('proof_missing', path, 'The file is missing.');
  for (const path of files.keys()) {
    if (!path.startsWith('proof/') || wanted.has(path)) continue;
    if (bundle !== null || !TIMESTAMP.test(path)) findings.fail('proof_extra', path, 'The file belongs to no proof.');
  }
  return bundle;
}

export function stamps(bundle: Bundle | null) {
  return bundle?.verificationMaterial.timestampVerificationData.rfc3161Timestamps ?? [];
}
