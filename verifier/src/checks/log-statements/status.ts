import {
  type EvidenceDocument,
  fromBase64,
  opensshFingerprint,
  type PackageStatus,
  parseOrigin,
  parsePackageStatus,
  preAuthEncoding,
  toHex,
} from '@rrs/evidence-format';
import { verifyEcdsa } from '../../crypto/signatures.ts';
import type { StatusResult } from '../../report.ts';
import { includesKey } from '../../trust/trust.ts';
import type { CheckContext } from '../context.ts';
import type { LogState } from '../log.ts';

interface About {
  evidence: EvidenceDocument;
  log: LogState;
}

const TOLERANCE_MS = 300_000;

/** Checks the service's statement whether the package is still current. It can be signed long after the package. */
export async function checkStatus(context: CheckContext, about: About): Promise<StatusResult | null> {
  const { trust, recorder } = context;
  if (trust.status === null) return null;
  const signed = parsePackageStatus(trust.status);
  const { status } = signed;
  const unusable = (problem: string): StatusResult => ({ statement: null, problem });
  if (status.package_id !== about.evidence.package_id) return unusable(`it is about another package, ${status.package_id}`);
  if (trust.packageKeys.length === 0) {
    recorder.note('Your status statement was not used, because you specified no trusted package key.');
    return null;
  }
  const key = await signerOf(context, signed.envelope);
  if (key === null) return unusable('it is not signed with one of your trusted package keys');
  if (!wasInUse(context, key, Date.parse(status.as_of))) return unusable('it is signed with a key that was not in use at that time');
  for (const fault of contradictions(context, about, signed)) recorder.fail('status', '', fault);
  recorder.note(sentenceOf(status));
  return { statement: status, problem: null };
}

type Signed = ReturnType<typeof parsePackageStatus>;

async function signerOf(
  { trust, platform }: CheckContext,
  { payload, payloadType, signatures: [{ keyid, sig }] }: Signed['envelope'],
): Promise<Uint8Array | null> {
  const signed = { message: preAuthEncoding(payloadType, fromBase64(payload)), signature: fromBase64(sig) };
  const key = trust.packageKeys.find((spki) => opensshFingerprint(spki) === keyid);
  return key !== undefined && (await verifyEcdsa(platform.subtle, { spki: key }, signed)) ? key : null;
}

function wasInUse({ trust }: CheckContext, key: Uint8Array, at: number): boolean {
  return trust.periods.every((period) => !includesKey([period.key], key) || (at >= period.from - TOLERANCE_MS && at < period.end));
}

function contradictions({ opened, now }: CheckContext, { evidence, log }: About, { status, tagManifestSha256 }: Signed): string[] {
  const [asOf, since] = [Date.parse(status.as_of), Date.parse(status.since)];
  const { epoch } = parseOrigin(log.origin);
  const faults: [boolean, string][] = [
    [opened.files.get('tagmanifest-sha256.txt')?.sha256 !== tagManifestSha256, 'The status statement is about a package with the same ID but other content.'],
    [status.sequence !== evidence.sequence || status.epoch !== epoch, 'The status statement has another sequence or epoch than the package.'],
    [
      status.log.size < log.size || (status.log.size === log.size && status.log.root !== toHex(log.root)),
      'The status statement names a state of the log that does not contain the package.',
    ],
    [asOf > now + TOLERANCE_MS, 'The status statement is dated in the future.'],
    [
      since > asOf + TOLERANCE_MS || asOf < Date.parse(evidence.generated_at) - TOLERANCE_MS,
      'The status statement is older than the status or the package that it describes.',
    ],
  ];
  return faults.flatMap(([applies, fault]) => (applies ? [fault] : []));
}

function sentenceOf({ status, since, as_of, by, reason }: PackageStatus): string {
  if (status === 'ready') return `The service stated at ${as_of} that the package is current.`;
  return `The service stated at ${as_of} that the package is superseded since ${since}${by === null ? '' : ` by ${by}`}. ${reason ?? ''}`;
}
