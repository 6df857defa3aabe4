import {
  canonicalJson,
  type EvidenceDocument,
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
import { includesKey } from '../trust/trust.ts';
import type { CheckContext } from './context.ts';
import { type Bundle, PROOF } from './proof-files.ts';

export interface Signed {
  /** The key that the proof identifies. */
  key: Uint8Array | null;
  statement: Statement | null;
}

/** Checks the DSSE envelope: the signature, and that the statement has the hashes of the files. */
export async function checkSignature(context: CheckContext, bundle: Bundle): Promise<Signed> {
  const { opened, platform, recorder } = context;
  const { payload, payloadType, signatures } = bundle.dsseEnvelope;
  const bytes = fromBase64(payload);
  const copy = opened.files.get(PROOF.statement)?.bytes;
  if (copy && !equalBytes(copy, bytes)) recorder.fail('statement_copy', PROOF.statement, 'The file differs from the signed statement.');
  const statement = await recorder.guard('statement', PROOF.bundle, () => parseStatement(bytes));
  if (statement !== null) checkSubjects(context, statement);
  const key = signingKey(context, bundle);
  if (key === null) {
    recorder.fail('signature', PROOF.bundle, 'No key is available to verify the signature.');
    return { key, statement };
  }
  const signed = { message: preAuthEncoding(payloadType, bytes), signature: fromBase64(signatures[0].sig) };
  if (!(await verifyEcdsa(platform.subtle, { spki: key }, signed)))
    recorder.fail('signature', PROOF.bundle, 'The signature is not a valid signature of this key for this statement.');
  recordSignatureResult(context, key);
  return { key, statement };
}

function recordSignatureResult({ trust, recorder, opened }: CheckContext, key: Uint8Array): void {
  const copy = opened.files.get(PROOF.packageKey)?.bytes;
  if (copy && text(copy) !== pemFromSpki(key)) recorder.fail('key_copy', PROOF.packageKey, 'The file is not the key that the proof identifies.');
  const fingerprint = opensshFingerprint(key);
  if (trust.packageKeys.length === 0) {
    recorder.setLayer('signature', 'not_checked', `valid for the key ${fingerprint}, but you specified no trusted package key`);
  } else if (includesKey(trust.packageKeys, key)) recorder.setLayer('signature', 'pass', `signed with the trusted key ${fingerprint}`);
  else {
    const expected = trust.packageKeys.map(opensshFingerprint).join(' or ');
    recorder.fail('untrusted_key', PROOF.bundle, { detail: 'The signing key is not one of your trusted keys.', expected, actual: fingerprint });
  }
}

/** Finds the key with the ID in the signature: in the log entry, in the key copy or among the trusted keys. */
function signingKey({ opened, trust, recorder }: CheckContext, bundle: Bundle): Uint8Array | null {
  const { keyid } = bundle.dsseEnvelope.signatures[0];
  const { hint } = bundle.verificationMaterial.publicKey;
  const copy = opened.files.get(PROOF.packageKey)?.bytes ?? null;
  const candidates = [keyInLeaf(bundle), copy === null ? null : tryRead(() => spkiFromPem(fromUtf8(copy))), ...trust.packageKeys].filter(
    (key) => key !== null && tryRead(() => opensshFingerprint(key)) !== null,
  );
  const named = candidates.find((key) => key !== null && opensshFingerprint(key) === keyid) ?? null;
  if (named === null) recorder.fail('key_id', PROOF.bundle, { detail: 'No key in the package has the key ID of the signature.', actual: keyid });
  if (hint !== keyid)
    recorder.fail('key_id', PROOF.bundle, { detail: 'The key hint of the bundle differs from the key ID of the signature.', expected: keyid, actual: hint });
  return named ?? candidates[0] ?? null;
}

function keyInLeaf(bundle: Bundle): Uint8Array | null {
  return tryRead(() => {
    const leaf = parseStrictJson(fromUtf8(fromBase64(bundle.verificationMaterial.tlogEntries[0].canonicalizedBody))) as {
      spec: { signatures: [{ verifier: string }] };
    };
    return spkiFromPem(fromUtf8(fromBase64(leaf.spec.signatures[0].verifier)));
  });
}

function tryRead<T>(read: () => T): T | null {
  try {
    return read();
  } catch {
    return null;
  }
}

function text(bytes: Uint8Array): string | null {
  return tryRead(() => fromUtf8(bytes));
}

function checkSubjects({ opened, recorder }: CheckContext, { subject }: Statement): void {
  const required = SUBJECTS.filter((name) => name !== 'data/report.pdf' || opened.files.has(name));
  if (subject.map(({ name }) => name).join('\n') !== required.join('\n')) {
    recorder.fail('subject', PROOF.statement, {
      detail: 'The statement does not list the required files.',
      expected: required.join(', '),
      actual: subject.map(({ name }) => name).join(', '),
    });
  }
  for (const { name, digest } of subject) {
    const actual = opened.files.get(name)?.sha256 ?? 'no such file';
    if (actual !== digest.sha256) recorder.fail('subject', name, { detail: 'The signed hash of this file is different.', expected: digest.sha256, actual });
  }
}

/** Compares what the statement says about the package with evidence.json. */
export function checkPredicate({ recorder }: CheckContext, { predicate }: Statement, document: EvidenceDocument): void {
  const expectedPredicate = predicateOf(document);
  for (const key of Object.keys(expectedPredicate) as (keyof typeof expectedPredicate)[]) {
    const [expected, actual] = [canonicalJson(expectedPredicate[key]), canonicalJson(predicate[key])];
    if (expected !== actual)
      recorder.fail('predicate', PROOF.statement, { detail: `The statement and evidence.json have a different ${key}.`, expected, actual });
  }
}
