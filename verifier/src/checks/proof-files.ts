import { fromUtf8, MAX_CARRIED_LEAVES, parseBundle } from '@rrs/evidence-format';
import type { OpenedPackage } from '../archive/read-package.ts';
import type { Recorder } from '../report.ts';

export type Bundle = ReturnType<typeof parseBundle>;

export const PROOF = {
  bundle: 'proof/package.sigstore.json',
  statement: 'proof/statement.json',
  tlogProof: 'proof/package.tlog-proof',
  consistency: 'proof/consistency.txt',
  epoch: 'proof/epoch.sigstore.json',
  packageKey: 'proof/keys/package.pem',
  logKey: 'proof/keys/log.pem',
  noteKey: 'proof/keys/log-note.pem',
  noteVkey: 'proof/keys/log-note.vkey',
} as const;

/** Only while the log is small. */
export const LEAVES = 'proof/leaves.bin';

/** Only if keys were rotated. */
export const SUCCESSION = 'proof/succession.json';

const TIMESTAMP = /^proof\/timestamp(?:-(?:[2-9]|[1-9]\d))?\.tsr$/;

export function timestampPath(index: number): string {
  return index === 0 ? 'proof/timestamp.tsr' : `proof/timestamp-${index + 1}.tsr`;
}

/** Reads the bundle and checks that proof/ contains exactly the files that it must. */
export async function readProof({ files }: OpenedPackage, recorder: Recorder): Promise<Bundle | null> {
  const bytes = files.get(PROOF.bundle)?.bytes;
  const bundle = bytes ? await recorder.guard('bundle', PROOF.bundle, () => parseBundle(fromUtf8(bytes))) : null;
  const required = new Set<string>(Object.values(PROOF));
  for (const index of timestampsIn(bundle).keys()) required.add(timestampPath(index));
  if (bundle !== null && Number(bundle.verificationMaterial.tlogEntries[0].inclusionProof.treeSize) <= MAX_CARRIED_LEAVES) required.add(LEAVES);
  for (const path of required) if (!files.has(path)) recorder.fail('proof_missing', path, 'The file is missing.');
  for (const path of files.keys()) {
    if (!path.startsWith('proof/') || required.has(path) || path === SUCCESSION) continue;
    if (bundle !== null || !(TIMESTAMP.test(path) || path === LEAVES)) recorder.fail('proof_extra', path, 'The file is not part of the proof.');
  }
  return bundle;
}

export function timestampsIn(bundle: Bundle | null) {
  return bundle?.verificationMaterial.timestampVerificationData.rfc3161Timestamps ?? [];
}
