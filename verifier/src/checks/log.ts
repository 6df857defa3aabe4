import {
  type Bytes,
  type Evidence,
  ed25519RawFromSpki,
  equalBytes,
  fromBase64,
  fromUtf8,
  leafEntry,
  leafHash,
  logId,
  opensshFingerprint,
  parseStrictJson,
  parseTlogProof,
  pemFromSpki,
  promiseBytes,
  spkiFromPem,
  toBase64,
  toHex,
  utf8,
  verifyInclusion,
  vkey,
} from '@rrs/evidence-format';
import { verifyEcdsa } from '../crypto/signatures.ts';
import { holdsKey } from '../trust/trust.ts';
import { checkNoteKeys, readCheckpoint, type SignedCheckpoint, verifyNote } from './checkpoints.ts';
import type { Checked } from './context.ts';
import { type Bundle, PROOF } from './proof-files.ts';

export interface LogState {
  /** Without the suffix that Rekor's form has. */
  origin: string;
  index: number;
  size: number;
  root: Bytes;
  logKey: Uint8Array | null;
  noteKey: Uint8Array | null;
}

/** The entry in the log of the organization: its leaf, its place in the tree, and both signed states of the tree. */
export async function checkLog(checked: Checked, bundle: Bundle, about: { evidence: Evidence | null; key: Uint8Array | null }): Promise<LogState> {
  const { findings } = checked;
  const [entry] = bundle.verificationMaterial.tlogEntries;
  const [index, size] = [safeNumber(entry.logIndex), safeNumber(entry.inclusionProof.treeSize)];
  const root = fromBase64(entry.inclusionProof.rootHash);
  const leaf = fromBase64(entry.canonicalizedBody);
  checkLeaf(checked, bundle, { leaf, key: about.key });
  checkInclusion(checked, bundle, { index, size, root, leaf });
  const logKey = keyOfLog(checked, fromBase64(entry.logId.keyId));
  await checkPromise(checked, bundle, logKey);
  const rekor = await checkRekorCheckpoint(checked, bundle, { size, root, logKey });
  const c2sp = await checkTlogProof(checked, bundle, { index });
  const origin = c2sp?.checkpoint.origin ?? rekor?.checkpoint.origin.replace(/ - 1$/, '') ?? '';
  checkOrigins(checked, { rekor, c2sp, organization: about.evidence?.organization.id ?? null });
  const noteKey = c2sp === null ? null : await findings.guard('checkpoint_signature', PROOF.tlogProof, () => checkNoteKeys(checked, c2sp));
  settleLog(checked, { logKey, noteKey, origin, where: `index ${index} of the ${size} entries of ${origin}` });
  findings.note(`The log says that it took the entry at ${new Date(safeNumber(entry.integratedTime) * 1000).toISOString()}.`);
  return { origin, index, size, root, logKey, noteKey };
}

function safeNumber(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new Error('a number that is too large');
  return value;
}

function checkLeaf({ findings }: Checked, { dsseEnvelope }: Bundle, { leaf, key }: { leaf: Uint8Array; key: Uint8Array | null }): void {
  if (key !== null && equalBytes(leaf, utf8(leafEntry(dsseEnvelope, pemFromSpki(key))))) return;
  const wellFormed = isLeaf(leaf);
  if (wellFormed) findings.fail('leaf_mismatch', PROOF.bundle, 'The entry of the log is not about this statement, signature and key.');
  else findings.fail('leaf', PROOF.bundle, 'The entry of the log is not one of kind dsse.');
}

function isLeaf(leaf: Uint8Array): boolean {
  try {
    const value = parseStrictJson(fromUtf8(leaf)) as Record<string, unknown> | null;
    return value?.kind === 'dsse' && value.apiVersion === '0.0.1' && Object.keys(value).length === 3;
  } catch {
    return false;
  }
}

interface Place {
  index: number;
  size: number;
  root: Bytes;
  leaf: Uint8Array;
}

function checkInclusion({ findings }: Checked, bundle: Bundle, { index, size, root, leaf }: Place): void {
  const { inclusionProof: proof } = bundle.verificationMaterial.tlogEntries[0];
  if (safeNumber(proof.logIndex) !== index)
    findings.fail('inclusion', PROOF.bundle, { detail: 'The proof is about another entry.', expected: String(index), actual: proof.logIndex });
  if (size !== index + 1) {
    findings.fail('inclusion', PROOF.bundle, { detail: 'The tree is not the one right after the entry.', expected: String(index + 1), actual: String(size) });
  }
  if (!verifyInclusion({ index, size, leafHash: leafHash(leaf), proof: proof.hashes.map(fromBase64), root })) {
    findings.fail('inclusion', PROOF.bundle, 'The hashes do not lead from the entry to the root of the tree.');
  }
}

function keyOfLog({ opened, trust, findings }: Checked, id: Uint8Array): Uint8Array | null {
  const bytes = opened.files.get(PROOF.logKey)?.bytes ?? null;
  const copy = bytes === null ? null : readCopy(bytes);
  const named = [...(copy === null ? [] : [copy]), ...trust.logKeys].find((spki) => equalBytes(logId(spki), id)) ?? null;
  if (bytes !== null && (copy === null || named !== copy))
    findings.fail('key_copy', PROOF.logKey, { detail: 'It is not the key of the log that the proof names.', expected: toBase64(id) });
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

async function checkPromise({ findings, platform }: Checked, bundle: Bundle, logKey: Uint8Array | null): Promise<void> {
  const [entry] = bundle.verificationMaterial.tlogEntries;
  const message = promiseBytes({
    body: entry.canonicalizedBody,
    integratedTime: safeNumber(entry.integratedTime),
    logId: toHex(fromBase64(entry.logId.keyId)),
    logIndex: safeNumber(entry.logIndex),
  });
  const signature = fromBase64(entry.inclusionPromise.signedEntryTimestamp);
  const holds = logKey !== null && (await verifyEcdsa(platform.subtle, { spki: logKey }, { message, signature }));
  if (!holds) findings.fail('promise', PROOF.bundle, 'The signed entry timestamp is not by the key of the log over this entry.');
}

async function checkRekorCheckpoint(
  checked: Checked,
  bundle: Bundle,
  { size, root, logKey }: { size: number; root: Bytes; logKey: Uint8Array | null },
): Promise<SignedCheckpoint | null> {
  const { findings } = checked;
  const note = bundle.verificationMaterial.tlogEntries[0].inclusionProof.checkpoint.envelope;
  const signed = await findings.guard('checkpoint', PROOF.bundle, () => readCheckpoint(note));
  if (signed === null) return null;
  const { checkpoint } = signed;
  if (checkpoint.size !== size || !equalBytes(checkpoint.root, root)) {
    findings.fail('checkpoint', PROOF.bundle, {
      detail: 'The signed state of the log is not that of the proof.',
      expected: `size ${size}, root ${toBase64(root)}`,
      actual: `size ${checkpoint.size}, root ${toBase64(checkpoint.root)}`,
    });
  }
  if (logKey === null || !(await verifyNote(checked.platform.subtle, signed, { spki: logKey, kind: 'p256' }))) {
    findings.fail('checkpoint_signature', PROOF.bundle, 'The checkpoint in the bundle is not signed by the key of the log.');
  }
  return signed;
}

async function checkTlogProof({ opened, findings }: Checked, bundle: Bundle, { index }: { index: number }): Promise<SignedCheckpoint | null> {
  const bytes = opened.files.get(PROOF.tlogProof)?.bytes;
  const proof = bytes ? await findings.guard('tlog_proof', PROOF.tlogProof, () => parseTlogProof(fromUtf8(bytes))) : null;
  if (proof === null) return null;
  const { hashes } = bundle.verificationMaterial.tlogEntries[0].inclusionProof;
  if (proof.index !== index || proof.hashes.map(toBase64).join() !== hashes.join())
    findings.fail('tlog_proof', PROOF.tlogProof, 'It is not the proof that the bundle has.');
  return findings.guard('checkpoint', PROOF.tlogProof, () => readCheckpoint(proof.checkpoint));
}

interface Origins {
  rekor: SignedCheckpoint | null;
  c2sp: SignedCheckpoint | null;
  organization: string | null;
}

function checkOrigins({ findings }: Checked, { rekor, c2sp, organization }: Origins): void {
  if (rekor !== null && !rekor.checkpoint.origin.endsWith(' - 1'))
    findings.fail('checkpoint', PROOF.bundle, 'The origin of the checkpoint does not end in " - 1".');
  if (rekor !== null && c2sp !== null) {
    const same = rekor.checkpoint.size === c2sp.checkpoint.size && equalBytes(rekor.checkpoint.root, c2sp.checkpoint.root);
    if (!same) findings.fail('log_disagrees', PROOF.tlogProof, 'Its checkpoint and that of the bundle have different sizes or roots.');
    if (rekor.checkpoint.origin !== `${c2sp.checkpoint.origin} - 1`)
      findings.fail('log_disagrees', PROOF.tlogProof, 'Its checkpoint and that of the bundle have different origins.');
  }
  const origin = c2sp?.checkpoint.origin;
  if (origin === undefined || organization === null) return;
  if (!/^[^\s/+]+\/orgs\/[^\s/+]+$/.test(origin) || !origin.endsWith(`/orgs/${organization}`)) {
    findings.fail('checkpoint', PROOF.tlogProof, {
      detail: 'It is not the log of this organization.',
      expected: `<host>/orgs/${organization}`,
      actual: origin,
    });
  }
}

function settleLog({ trust, findings }: Checked, { logKey, noteKey, origin, where }: Keyed): void {
  if (logKey === null || noteKey === null) return;
  if (trust.logKeys.length > 0 && !holdsKey(trust.logKeys, logKey)) {
    findings.fail('untrusted_log_key', PROOF.bundle, { detail: 'The key of the log is not among those you trust.', actual: opensshFingerprint(logKey) });
  }
  const mayName = trust.noteKeys.filter(({ name }) => name === null || name === origin).map(({ spki }) => spki);
  if (trust.noteKeys.length > 0 && !holdsKey(mayName, noteKey)) {
    const actual = vkey(origin, ed25519RawFromSpki(noteKey));
    findings.fail('untrusted_log_key', PROOF.tlogProof, { detail: 'The key of the checkpoint is not among those you trust for this log.', actual });
  }
  if (trust.logKeys.length > 0 && trust.noteKeys.length > 0) findings.settle('log', 'pass', where);
  else findings.settle('log', 'not_checked', `${where}; name its keys with --log-key and --note-key, or --keys, to prove whose log it is`);
}

interface Keyed {
  logKey: Uint8Array | null;
  noteKey: Uint8Array | null;
  origin: string;
  where: string;
}
