import {
  type Bytes,
  type EvidenceDocument,
  ed25519RawFromSpki,
  equalBytes,
  fromBase64,
  fromUtf8,
  leafEntry,
  leafHash,
  logId,
  logOrigin,
  opensshFingerprint,
  parseOrigin,
  parseStrictJson,
  parseTlogProof,
  pemFromSpki,
  promiseBytes,
  rekorOrigin,
  signerOf,
  spkiFromPem,
  toBase64,
  toHex,
  utf8,
  verifyInclusion,
  vkey,
} from '@rrs/evidence-format';
import { verifyEcdsa } from '../crypto/signatures.ts';
import { includesKey } from '../trust/trust.ts';
import { type CosignedCheckpoint, checkNoteKeys, isNameOf, readCheckpoint, readCosigned, type SignedCheckpoint, verifyNote } from './checkpoints.ts';
import type { CheckContext } from './context.ts';
import { type Bundle, PROOF } from './proof-files.ts';

export interface LogState {
  /** Origin of the C2SP checkpoint. */
  origin: string;
  index: number;
  size: number;
  root: Bytes;
  logKey: Uint8Array | null;
  noteKey: Uint8Array | null;
  /** The C2SP checkpoint with the signatures of witnesses. */
  checkpoint: CosignedCheckpoint | null;
}

/** Checks the entry in the organization's log: its leaf, its inclusion in the tree and both signed checkpoints. */
export async function checkLog(context: CheckContext, bundle: Bundle, about: { document: EvidenceDocument | null; key: Uint8Array | null }): Promise<LogState> {
  const { recorder } = context;
  const [entry] = bundle.verificationMaterial.tlogEntries;
  const [index, size] = [safeNumber(entry.logIndex), safeNumber(entry.inclusionProof.treeSize)];
  const root = fromBase64(entry.inclusionProof.rootHash);
  const leaf = fromBase64(entry.canonicalizedBody);
  checkLeaf(context, bundle, { leaf, key: about.key });
  checkInclusion(context, bundle, { index, size, root, leaf });
  const logKey = findLogKey(context, fromBase64(entry.logId.keyId));
  if (!(await hasValidPromise(context, bundle, logKey)))
    recorder.fail('promise', PROOF.bundle, 'The signed entry timestamp is not a valid signature of the log key for this entry.');
  const rekor = await checkRekorCheckpoint(context, bundle, { size, root, logKey });
  const c2sp = await checkTlogProof(context, bundle, { index });
  const origin = c2sp?.checkpoint.origin ?? (rekor === null ? '' : logOrigin(parseOrigin(rekor.checkpoint.origin)));
  checkOrigins(context, { rekor, c2sp, organization: about.document?.organization.id ?? null });
  const noteKey = c2sp === null ? null : await recorder.guard('checkpoint_signature', PROOF.tlogProof, () => checkNoteKeys(context, c2sp));
  recordLogResult(context, { logKey, noteKey, origin, where: `index ${index} of ${size} entries in ${origin}` });
  recorder.note(`The log states that it added the entry at ${new Date(safeNumber(entry.integratedTime) * 1000).toISOString()}.`);
  return { origin, index, size, root, logKey, noteKey, checkpoint: c2sp };
}

function safeNumber(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new Error('The log proof contains a number that is too large.');
  return value;
}

function checkLeaf({ recorder }: CheckContext, { dsseEnvelope }: Bundle, { leaf, key }: { leaf: Uint8Array; key: Uint8Array | null }): void {
  if (key !== null && equalBytes(leaf, utf8(leafEntry(dsseEnvelope, pemFromSpki(key))))) return;
  const wellFormed = isLeaf(leaf);
  if (wellFormed) recorder.fail('leaf_mismatch', PROOF.bundle, 'The log entry does not match this statement, signature and key.');
  else recorder.fail('leaf', PROOF.bundle, 'The log entry is not a valid dsse entry.');
}

function isLeaf(leaf: Uint8Array): boolean {
  try {
    const value = parseStrictJson(fromUtf8(leaf)) as Record<string, unknown> | null;
    return value?.kind === 'dsse' && value.apiVersion === '0.0.1' && Object.keys(value).length === 3;
  } catch {
    return false;
  }
}

interface Inclusion {
  index: number;
  size: number;
  root: Bytes;
  leaf: Uint8Array;
}

function checkInclusion({ recorder }: CheckContext, bundle: Bundle, { index, size, root, leaf }: Inclusion): void {
  const { inclusionProof: proof } = bundle.verificationMaterial.tlogEntries[0];
  if (safeNumber(proof.logIndex) !== index)
    recorder.fail('inclusion', PROOF.bundle, { detail: 'The inclusion proof is for a different index.', expected: String(index), actual: proof.logIndex });
  if (index === 0) recorder.fail('inclusion', PROOF.bundle, 'The first entry of a log is a statement about the log and cannot be a package.');
  if (size !== index + 1) {
    recorder.fail('inclusion', PROOF.bundle, { detail: 'The tree size must be the index plus one.', expected: String(index + 1), actual: String(size) });
  }
  if (!verifyInclusion({ index, size, leafHash: leafHash(leaf), proof: proof.hashes.map(fromBase64), root })) {
    recorder.fail('inclusion', PROOF.bundle, 'The hashes do not connect the entry with the root of the tree.');
  }
}

function findLogKey({ opened, trust, recorder }: CheckContext, id: Uint8Array): Uint8Array | null {
  const bytes = opened.files.get(PROOF.logKey)?.bytes ?? null;
  const copy = bytes === null ? null : readCopy(bytes);
  const named = [...(copy === null ? [] : [copy]), ...trust.logKeys].find((spki) => equalBytes(logId(spki), id)) ?? null;
  if (bytes !== null && (copy === null || named !== copy))
    recorder.fail('key_copy', PROOF.logKey, { detail: 'The file is not the log key that the proof identifies.', expected: toBase64(id) });
  return named;
}

function readCopy(bytes: Uint8Array): Uint8Array | null {
  try {
    const pem = fromUtf8(bytes);
    const spki = spkiFromPem(pem);
    return pemFromSpki(spki) === pem ? spki : null;
  } catch {
    return null;
  }
}

/** Whether the log key signed this entry with this time. */
export async function hasValidPromise({ platform }: CheckContext, bundle: Bundle, logKey: Uint8Array | null): Promise<boolean> {
  const [entry] = bundle.verificationMaterial.tlogEntries;
  const message = promiseBytes({
    body: entry.canonicalizedBody,
    integratedTime: safeNumber(entry.integratedTime),
    logId: toHex(fromBase64(entry.logId.keyId)),
    logIndex: safeNumber(entry.logIndex),
  });
  const signature = fromBase64(entry.inclusionPromise.signedEntryTimestamp);
  return logKey !== null && verifyEcdsa(platform.subtle, { spki: logKey }, { message, signature });
}

async function checkRekorCheckpoint(
  context: CheckContext,
  bundle: Bundle,
  { size, root, logKey }: { size: number; root: Bytes; logKey: Uint8Array | null },
): Promise<SignedCheckpoint | null> {
  const { recorder } = context;
  const note = bundle.verificationMaterial.tlogEntries[0].inclusionProof.checkpoint.envelope;
  const signed = await recorder.guard('checkpoint', PROOF.bundle, () => readCheckpoint(note));
  if (signed === null) return null;
  const { checkpoint } = signed;
  if (checkpoint.size !== size || !equalBytes(checkpoint.root, root)) {
    recorder.fail('checkpoint', PROOF.bundle, {
      detail: 'The checkpoint does not match the inclusion proof.',
      expected: `size ${size}, root ${toBase64(root)}`,
      actual: `size ${checkpoint.size}, root ${toBase64(checkpoint.root)}`,
    });
  }
  if (logKey === null || !(await verifyNote(context.platform.subtle, signed, { spki: logKey, kind: 'p256' }))) {
    recorder.fail('checkpoint_signature', PROOF.bundle, 'The checkpoint in the bundle is not signed with the log key.');
  }
  return signed;
}

async function checkTlogProof({ opened, recorder }: CheckContext, bundle: Bundle, { index }: { index: number }): Promise<CosignedCheckpoint | null> {
  const bytes = opened.files.get(PROOF.tlogProof)?.bytes;
  const proof = bytes ? await recorder.guard('tlog_proof', PROOF.tlogProof, () => parseTlogProof(fromUtf8(bytes))) : null;
  if (proof === null) return null;
  const { hashes } = bundle.verificationMaterial.tlogEntries[0].inclusionProof;
  if (proof.index !== index || proof.hashes.map(toBase64).join() !== hashes.join())
    recorder.fail('tlog_proof', PROOF.tlogProof, 'The proof differs from the inclusion proof in the bundle.');
  return recorder.guard('checkpoint', PROOF.tlogProof, () => readCosigned(proof.checkpoint));
}

interface Origins {
  rekor: SignedCheckpoint | null;
  c2sp: SignedCheckpoint | null;
  organization: string | null;
}

function checkOrigins({ recorder }: CheckContext, { rekor, c2sp, organization }: Origins): void {
  if (rekor !== null && signerOf(rekor.checkpoint.origin) === rekor.checkpoint.origin)
    recorder.fail('checkpoint', PROOF.bundle, 'The origin of the checkpoint does not end in the number of its epoch, such as " - 1".');
  if (rekor !== null && c2sp !== null) {
    const same = rekor.checkpoint.size === c2sp.checkpoint.size && equalBytes(rekor.checkpoint.root, c2sp.checkpoint.root);
    if (!same) recorder.fail('log_disagrees', PROOF.tlogProof, 'The checkpoint differs in size or root from the one in the bundle.');
    if (rekor.checkpoint.origin !== rekorOrigin(c2sp.checkpoint.origin))
      recorder.fail('log_disagrees', PROOF.tlogProof, 'The checkpoint differs in origin from the one in the bundle.');
  }
  const origin = c2sp?.checkpoint.origin;
  if (origin === undefined || organization === null) return;
  const { name } = parseOrigin(origin);
  if (logOrigin(parseOrigin(origin)) !== origin || !/^[^\s/+]+\/orgs\/[^\s/+]+$/.test(name) || !name.endsWith(`/orgs/${organization}`)) {
    recorder.fail('checkpoint', PROOF.tlogProof, {
      detail: 'The checkpoint does not belong to the log of this organization.',
      expected: `<host>/orgs/${organization}`,
      actual: origin,
    });
  }
}

function recordLogResult({ trust, recorder }: CheckContext, { logKey, noteKey, origin, where }: LogIdentity): void {
  if (logKey === null || noteKey === null) return;
  if (trust.logKeys.length > 0 && !includesKey(trust.logKeys, logKey)) {
    recorder.fail('untrusted_log_key', PROOF.bundle, { detail: 'The log key is not one of your trusted keys.', actual: opensshFingerprint(logKey) });
  }
  const allowed = trust.noteKeys.filter(({ name }) => name === null || isNameOf(name, origin)).map(({ spki }) => spki);
  if (trust.noteKeys.length > 0 && !includesKey(allowed, noteKey)) {
    const actual = vkey(origin, ed25519RawFromSpki(noteKey));
    recorder.fail('untrusted_log_key', PROOF.tlogProof, { detail: 'The checkpoint key is not one of your trusted keys for this log.', actual });
  }
  if (trust.logKeys.length > 0 && trust.noteKeys.length > 0) recorder.setLayer('log', 'pass', where);
  else recorder.setLayer('log', 'not_checked', `${where}, but you did not specify a trusted log key and checkpoint key`);
}

interface LogIdentity {
  logKey: Uint8Array | null;
  noteKey: Uint8Array | null;
  origin: string;
  where: string;
}
