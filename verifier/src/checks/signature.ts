import {
  canonicalJson,
  type Evidence,
  equalBytes,
  fromBase64,
  fromUtf8,
  opensshFingerprint,
  parseStatement,
  parseStrictJson,
  pemFromSpki,
  preAuthEncoding,
  predicateOf,
  type Statement,
  SUBJECTS,
  spkiFromPem,
} from '@rrs/evidence-format';
import { verifyEcdsa } from '../crypto/signatures.ts';
import { holdsKey } from '../trust/trust.ts';
import type { Checked } from './context.ts';
import { type Bundle, PROOF } from './proof-files.ts';

/** The DSSE envelope: who signed, what, and that it is about these files and this evidence.json. Answers the key that the proof names. */
export async function checkSignature(checked: Checked, bundle: Bundle, evidence: Evidence | null): Promise<Uint8Array | null> {
  const { opened, platform, findings } = checked;
  const { payload, payloadType, signatures } = bundle.dsseEnvelope;
  const bytes = fromBase64(payload);
  const copy = opened.files.get(PROOF.statement)?.bytes;
  if (copy && !equalBytes(copy, bytes)) findings.fail('statement_copy', PROOF.statement, 'It is not what was signed.');
  const statement = await findings.guard('statement', PROOF.bundle, () => parseStatement(bytes));
  if (statement !== null) {
    checkSubjects(checked, statement);
    if (evidence !== null) checkPredicate(checked, statement, evidence);
  }
  const key = signingKey(checked, bundle);
  if (key === null) {
    findings.fail('signature', PROOF.bundle, 'There is no key to check the signature with.');
    return null;
  }
  const signed = { message: preAuthEncoding(payloadType, bytes), signature: fromBase64(signatures[0].sig) };
  if (!(await verifyEcdsa(platform.subtle, { spki: key }, signed)))
    findings.fail('signature', PROOF.bundle, 'The signature is not by this key over this statement.');
  settleTrust(checked, key);
  if (evidence !== null) checkPeriod(checked, key, evidence.generated_at);
  return key;
}

function settleTrust({ trust, findings, opened }: Checked, key: Uint8Array): void {
  const copy = opened.files.get(PROOF.packageKey)?.bytes;
  if (copy && text(copy) !== pemFromSpki(key)) findings.fail('key_copy', PROOF.packageKey, 'It is not the key that the proof names.');
  const fingerprint = opensshFingerprint(key);
  if (trust.packageKeys.length === 0) {
    findings.settle('signature', 'not_checked', `right for the key ${fingerprint}; name the key that you trust with --key or --keys to prove whose it is`);
  } else if (holdsKey(trust.packageKeys, key)) findings.settle('signature', 'pass', `by the trusted key ${fingerprint}`);
  else {
    const expected = trust.packageKeys.map(opensshFingerprint).join(' or ');
    findings.fail('untrusted_key', PROOF.bundle, { detail: 'The signing key is not among those you trust.', expected, actual: fingerprint });
  }
}

/** A package is signed some time after the moment that it is of. */
const GRACE_MS = 3_600_000;

/** A key that is no longer in use may be in other hands by now. */
function checkPeriod({ trust, findings }: Checked, key: Uint8Array, generatedAt: string): void {
  const time = Date.parse(generatedAt);
  const periods = trust.periods.filter((period) => equalBytes(period.key, key));
  if (periods.length === 0 || periods.some(({ from, to }) => time >= from - GRACE_MS && time <= to + GRACE_MS)) return;
  const shown = (moment: number, otherwise: string): string => (Number.isFinite(moment) ? new Date(moment).toISOString() : otherwise);
  findings.fail('key_period', PROOF.bundle, {
    detail: 'The package says that it was made when its key was not in use.',
    expected: periods.map(({ from, to }) => `${shown(from, 'ever')} to ${shown(to, 'now')}`).join(' or '),
    actual: generatedAt,
  });
}

/** The key with the name that the signature gives: in the leaf of the log, in the copy, or among the trusted ones. */
function signingKey({ opened, trust, findings }: Checked, bundle: Bundle): Uint8Array | null {
  const { keyid } = bundle.dsseEnvelope.signatures[0];
  const { hint } = bundle.verificationMaterial.publicKey;
  const copy = opened.files.get(PROOF.packageKey)?.bytes ?? null;
  const candidates = [keyInLeaf(bundle), copy === null ? null : readable(() => spkiFromPem(fromUtf8(copy))), ...trust.packageKeys].filter(
    (key) => key !== null && readable(() => opensshFingerprint(key)) !== null,
  );
  const named = candidates.find((key) => key !== null && opensshFingerprint(key) === keyid) ?? null;
  if (named === null) findings.fail('key_id', PROOF.bundle, { detail: 'No key in the package has the name that the signature gives.', actual: keyid });
  if (hint !== keyid) findings.fail('key_id', PROOF.bundle, { detail: 'The bundle names another key than the signature.', expected: keyid, actual: hint });
  return named ?? candidates[0] ?? null;
}

function keyInLeaf(bundle: Bundle): Uint8Array | null {
  return readable(() => {
    const leaf = parseStrictJson(fromUtf8(fromBase64(bundle.verificationMaterial.tlogEntries[0].canonicalizedBody))) as {
      spec: { signatures: [{ verifier: string }] };
    };
    return spkiFromPem(fromUtf8(fromBase64(leaf.spec.signatures[0].verifier)));
  });
}

function readable<T>(read: () => T): T | null {
  try {
    return read();
  } catch {
    return null;
  }
}

function text(bytes: Uint8Array): string | null {
  return readable(() => fromUtf8(bytes));
}

function checkSubjects({ opened, findings }: Checked, { subject }: Statement): void {
  const wanted = SUBJECTS.filter((name) => name !== 'data/report.pdf' || opened.files.has(name));
  if (subject.map(({ name }) => name).join('\n') !== wanted.join('\n')) {
    findings.fail('subject', PROOF.statement, {
      detail: 'It is not about the files that it must be about.',
      expected: wanted.join(', '),
      actual: subject.map(({ name }) => name).join(', '),
    });
  }
  for (const { name, digest } of subject) {
    const actual = opened.files.get(name)?.sha256 ?? 'no such file';
    if (actual !== digest.sha256)
      findings.fail('subject', name, { detail: 'The signature is over another version of this file.', expected: digest.sha256, actual });
  }
}

function checkPredicate({ findings }: Checked, { predicate }: Statement, evidence: Evidence): void {
  const wanted = predicateOf(evidence);
  for (const key of Object.keys(wanted) as (keyof typeof wanted)[]) {
    const [expected, actual] = [canonicalJson(wanted[key]), canonicalJson(predicate[key])];
    if (expected !== actual)
      findings.fail('predicate', PROOF.statement, { detail: `It says something else than evidence.json about ${key}.`, expected, actual });
  }
}
