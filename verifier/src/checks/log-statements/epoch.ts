import {
  type EvidenceDocument,
  equalBytes,
  fromBase64,
  fromUtf8,
  type LogEpoch,
  leafEntry,
  leafHash,
  opensshFingerprint,
  parseBundle,
  parseEpochStatement,
  parseOrigin,
  parseStrictJson,
  pemFromSpki,
  preAuthEncoding,
  spkiFromPem,
  utf8,
  verifyInclusion,
} from '@rrs/evidence-format';
import { verifyEcdsa } from '../../crypto/signatures.ts';
import type { CheckContext } from '../context.ts';
import { hasValidPromise, type LogState } from '../log.ts';
import { type Bundle, PROOF } from '../proof-files.ts';

interface About {
  log: LogState;
  bundle: Bundle;
  document: EvidenceDocument | null;
}

/** Checks the statement that the log starts with. Its key can be older than the package key, so the log vouches for it, not the caller's package keys. */
export async function checkEpoch(context: CheckContext, { log, bundle, document }: About): Promise<LogEpoch | null> {
  const { opened, recorder } = context;
  const bytes = opened.files.get(PROOF.epoch)?.bytes;
  if (!bytes) return null;
  const own = parseBundle(fromUtf8(bytes));
  const epoch = parseEpochStatement(fromBase64(own.dsseEnvelope.payload));
  const fail = (detail: string, more: { expected?: string; actual?: string } = {}): void => recorder.fail('epoch', PROOF.epoch, { detail, ...more });
  if (!(await isSignedLeaf(context, own))) fail('The statement about the log is not validly signed, or it is not the entry that it claims to be.');
  if (!(await hasValidPromise(context, own, log.logKey))) fail('The log key did not sign this entry with this time.');
  if (!isFirstEntry(own, bundle, log)) fail('The statement is not the first entry of the log in the package.');
  if (epoch.origin !== log.origin) fail('The statement is about another log.', { expected: log.origin, actual: epoch.origin });
  if (epoch.epoch !== parseOrigin(log.origin).epoch) fail('The statement is about another epoch.', { expected: log.origin, actual: String(epoch.epoch) });
  if (document !== null) checkAgainstDocument(context, epoch, document);
  return epoch;
}

async function isSignedLeaf({ platform }: CheckContext, { dsseEnvelope, verificationMaterial }: Bundle): Promise<boolean> {
  const [entry] = verificationMaterial.tlogEntries;
  const leaf = fromBase64(entry.canonicalizedBody);
  const { spec } = parseStrictJson(fromUtf8(leaf)) as { spec: { signatures: [{ verifier: string }] } };
  const spki = spkiFromPem(fromUtf8(fromBase64(spec.signatures[0].verifier)));
  const [signature] = dsseEnvelope.signatures;
  const isNamed = signature.keyid === opensshFingerprint(spki) && verificationMaterial.publicKey.hint === signature.keyid;
  const signed = { message: preAuthEncoding(dsseEnvelope.payloadType, fromBase64(dsseEnvelope.payload)), signature: fromBase64(signature.sig) };
  return isNamed && equalBytes(leaf, utf8(leafEntry(dsseEnvelope, pemFromSpki(spki)))) && verifyEcdsa(platform.subtle, { spki }, signed);
}

/** The statement must be in the very tree of the package, so it has the same checkpoint. */
function isFirstEntry({ verificationMaterial }: Bundle, bundle: Bundle, { size, root }: LogState): boolean {
  const [entry] = verificationMaterial.tlogEntries;
  const [packageEntry] = bundle.verificationMaterial.tlogEntries;
  const { inclusionProof: proof } = entry;
  const claim = { index: 0, size, leafHash: leafHash(fromBase64(entry.canonicalizedBody)), proof: proof.hashes.map(fromBase64), root };
  return (
    entry.logIndex === '0' &&
    proof.logIndex === '0' &&
    proof.treeSize === String(size) &&
    equalBytes(fromBase64(proof.rootHash), root) &&
    proof.checkpoint.envelope === packageEntry.inclusionProof.checkpoint.envelope &&
    entry.logId.keyId === packageEntry.logId.keyId &&
    verificationMaterial.timestampVerificationData.rfc3161Timestamps.length === 0 &&
    verifyInclusion(claim)
  );
}

function checkAgainstDocument({ recorder }: CheckContext, epoch: LogEpoch, { organization }: EvidenceDocument): void {
  if (epoch.organization_id !== organization.id)
    recorder.fail('epoch', PROOF.epoch, {
      detail: 'The statement is about the log of another organization.',
      expected: organization.id,
      actual: epoch.organization_id,
    });
  if (epoch.previous !== null) recorder.note(`The log was restarted at ${epoch.at} (${epoch.reason}). ${lostEntries(epoch)}`);
}

function lostEntries({ previous, lost }: LogEpoch): string {
  const kept = `The earlier log, ${previous?.origin}, was kept up to ${previous?.kept.size} entries`;
  if (lost === null) return `${kept}. It is not known whether it had more.`;
  return lost === 0 ? `${kept}.` : `${kept}, and ${lost} more ${lost === 1 ? 'is' : 'are'} lost.`;
}
