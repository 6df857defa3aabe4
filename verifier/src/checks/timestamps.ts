import { type Evidence, equalBytes, fromBase64, parseTimestampResponse } from '@rrs/evidence-format';
import { leadsToTrusted } from '../crypto/chain.ts';
import { checkImprint, verifyToken } from '../crypto/cms.ts';
import type { Certificate } from '../crypto/x509.ts';
import type { PackageSummary } from '../report.ts';
import type { Checked } from './context.ts';
import { hasGap } from './evidence-rules.ts';
import { type Bundle, PROOF, stamps, timestampPath } from './proof-files.ts';

type Stamp = PackageSummary['timestamps'][number];

const A_DAY = 86_400_000;

/** The RFC 3161 timestamps over the signature. Each must hold; one from an authority that the caller trusts is what proves the time. */
export async function checkTime(checked: Checked, bundle: Bundle, evidence: Evidence | null): Promise<Stamp[]> {
  const { opened, findings, trust } = checked;
  const tokens = stamps(bundle).map(({ signedTimestamp }) => fromBase64(signedTimestamp));
  if (tokens.length === 0) {
    if (evidence !== null && !hasGap(evidence, 'no_timestamp'))
      findings.fail('gap_missing', 'data/evidence.json', 'There is no timestamp, and the gap no_timestamp is not named.');
    findings.settle('time', 'not_present', 'no authority stamped the package; only its sender says when it was made');
    return [];
  }
  const results: Stamp[] = [];
  for (const [index, token] of tokens.entries()) {
    const path = timestampPath(index);
    const copy = opened.files.get(path)?.bytes;
    if (copy && !equalBytes(copy, token)) findings.fail('timestamp_copy', path, `It is not the timestamp in ${PROOF.bundle}.`);
    const stamp = await findings.guard('timestamp', path, () => checkStamp(checked, bundle, token));
    if (stamp !== null) results.push(stamp);
  }
  const trusted = results.filter((stamp) => stamp.trusted);
  if (trust.timestampRoots.length > 0 && trusted.length === 0 && results.length > 0) {
    findings.fail('untrusted_timestamp', timestampPath(0), {
      detail: 'No timestamp leads to a certificate that you trust and that was valid at that time.',
      actual: results.map(({ authority }) => authority).join(', '),
    });
  }
  settleTime(checked, results, trusted);
  for (const { time } of results) {
    const apart = evidence === null ? 0 : Math.abs(Date.parse(time) - Date.parse(evidence.generated_at));
    if (apart > A_DAY) findings.note(`The timestamp ${time} is more than a day away from the time at which the package says it was generated.`);
  }
  return results;
}

function settleTime({ findings, trust }: Checked, results: Stamp[], trusted: Stamp[]): void {
  const said = (stamps: Stamp[]) => stamps.map(({ time, authority }) => `${time} by ${authority}`).join(', ');
  if (findings.failed('time')) return;
  if (trust.timestampRoots.length === 0)
    findings.settle('time', 'not_checked', `stamped ${said(results)}; name the certificate of the authority with --tsa-root to prove it`);
  else if (trusted.length > 0) findings.settle('time', 'pass', `signed before ${said(trusted)}`);
  const rest = results.length - trusted.length;
  if (trusted.length > 0 && rest > 0) findings.note(`${rest} of ${results.length} timestamps are by authorities that are not among those you trust.`);
}

async function checkStamp({ platform: { subtle }, trust }: Checked, bundle: Bundle, der: Uint8Array): Promise<Stamp> {
  const { status, token } = parseTimestampResponse(der);
  if (token === null) throw new Error(`The authority refused to stamp (status ${status}).`);
  checkImprint(token, fromBase64(bundle.dsseEnvelope.signatures[0].sig));
  const { signer, others } = await verifyToken(subtle, token);
  const at = token.tstInfo.genTime;
  if (!wasValid(signer, at)) throw new Error('The certificate of the authority was not valid at the time stamped.');
  const trusted = await leadsToTrusted(subtle, { leaf: signer, others, trusted: trust.timestampRoots, at });
  return { time: at.toISOString(), authority: signer.subjectText, trusted };
}

function wasValid({ notBefore, notAfter }: Certificate, at: Date): boolean {
  return notBefore <= at && at <= notAfter;
}
