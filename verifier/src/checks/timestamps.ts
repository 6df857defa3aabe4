import { equalBytes, fromBase64, parseTimestampResponse } from '@rrs/evidence-format';
import { chainsToTrusted } from '../crypto/chain.ts';
import { checkImprint, verifyToken } from '../crypto/cms.ts';
import type { Certificate } from '../crypto/x509.ts';
import { LIMITS } from '../limits.ts';
import type { PackageSummary } from '../report.ts';
import type { CheckContext } from './context.ts';
import { type Bundle, PROOF, timestampPath, timestampsIn } from './proof-files.ts';

type Stamp = PackageSummary['timestamps'][number];

/** Checks the RFC 3161 timestamps of the signature. All must be valid, and at least one must come from an authority that the caller trusts. */
export async function checkTime(context: CheckContext, bundle: Bundle): Promise<Stamp[]> {
  const { opened, recorder, trust } = context;
  const tokens = timestampsIn(bundle).map(({ signedTimestamp }) => fromBase64(signedTimestamp));
  if (tokens.length === 0) {
    recorder.setLayer('time', 'not_present', 'no timestamp; only the service itself states when the package was made');
    return [];
  }
  if (tokens.length > LIMITS.timestamps) throw new Error(`The package has more than ${LIMITS.timestamps} timestamps.`);
  const results: Stamp[] = [];
  for (const [index, token] of tokens.entries()) {
    const path = timestampPath(index);
    const copy = opened.files.get(path)?.bytes;
    if (copy && !equalBytes(copy, token)) recorder.fail('timestamp_copy', path, `The file differs from the timestamp in ${PROOF.bundle}.`);
    const stamp = await recorder.guard('timestamp', path, () => checkStamp(context, bundle, token));
    if (stamp !== null) results.push(stamp);
  }
  const trusted = results.filter((stamp) => stamp.trusted);
  if (trust.timestampRoots.length > 0 && trusted.length === 0 && results.length > 0) {
    recorder.fail('untrusted_timestamp', timestampPath(0), {
      detail: 'No timestamp chains to a certificate that you trust and that was valid at the stamped time.',
      actual: results.map(({ authority }) => authority).join(', '),
    });
  }
  recordTimeResult(context, results, trusted);
  return results;
}

function recordTimeResult({ recorder, trust }: CheckContext, results: Stamp[], trusted: Stamp[]): void {
  const listed = (stamps: Stamp[]) => stamps.map(({ time, authority }) => `${time} by ${authority}`).join(', ');
  if (recorder.failed('time')) return;
  if (trust.timestampRoots.length === 0)
    recorder.setLayer('time', 'not_checked', `stamped ${listed(results)}, but you specified no trusted certificate of an authority`);
  else if (trusted.length > 0) recorder.setLayer('time', 'pass', `signed before ${listed(trusted)}`);
  const rest = results.length - trusted.length;
  if (trusted.length > 0 && rest > 0) recorder.note(`${rest} of ${results.length} timestamps come from authorities that you do not trust.`);
}

async function checkStamp({ platform: { subtle }, trust }: CheckContext, bundle: Bundle, der: Uint8Array): Promise<Stamp> {
  const { status, token } = parseTimestampResponse(der);
  if (token === null) throw new Error(`The authority refused the timestamp request (status ${status}).`);
  checkImprint(token, fromBase64(bundle.dsseEnvelope.signatures[0].sig));
  const { signer, others } = await verifyToken(subtle, token);
  const at = token.tstInfo.genTime;
  if (!wasValid(signer, at)) throw new Error("The authority's certificate was not valid at the stamped time.");
  const trusted = await chainsToTrusted(subtle, { leaf: signer, others, trusted: trust.timestampRoots, at });
  return { time: at.toISOString(), authority: signer.subjectText, trusted };
}

function wasValid({ notBefore, notAfter }: Certificate, at: Date): boolean {
  return notBefore <= at && at <= notAfter;
}
