import {
  type Checkpoint,
  type Cosignature,
  ed25519RawFromSpki,
  equalBytes,
  FormatError,
  fromUtf8,
  type NoteSignature,
  noteKeyIdEcdsa,
  noteKeyIdEd25519,
  parseCheckpoint,
  parseConsistencyAnswer,
  parseCosignature,
  parseNote,
  parseOrigin,
  parsePackageStatus,
  pemFromSpki,
  signerOf,
  utf8,
  vkey,
} from '@rrs/evidence-format';
import { verifyEcdsa, verifyEd25519 } from '../crypto/signatures.ts';
import { LIMITS } from '../limits.ts';
import type { Subtle } from '../platform.ts';
import { type NoteKey, noteKey, parseTrust, type Trust } from '../trust/trust.ts';
import type { CheckContext } from './context.ts';
import { PROOF } from './proof-files.ts';

export interface SignedCheckpoint {
  checkpoint: Checkpoint;
  text: string;
  signature: NoteSignature;
}

export interface CosignedCheckpoint extends SignedCheckpoint {
  cosignatures: Cosignature[];
}

/** Parses a checkpoint that must have exactly one signature, made under the name of the log. */
export function readCheckpoint(note: string): SignedCheckpoint {
  const { cosignatures, ...signed } = readCosigned(note);
  if (cosignatures.length > 0) throw new FormatError('a checkpoint must have exactly one signature');
  return signed;
}

/** Parses a checkpoint with the signature of the log and then those of witnesses. */
export function readCosigned(note: string): CosignedCheckpoint {
  const { text, signatures } = parseNote(note);
  const checkpoint = parseCheckpoint(text);
  const [signature, ...rest] = signatures;
  if (signature === undefined) throw new FormatError('a checkpoint must have a signature');
  if (signature.name !== signerOf(checkpoint.origin)) throw new FormatError('the name of the signer differs from the origin of the checkpoint');
  if (rest.length > LIMITS.cosignatures) throw new FormatError(`a checkpoint must have at most ${LIMITS.cosignatures} signatures of witnesses`);
  if (new Set(rest.map(({ name }) => name)).size < rest.length) throw new FormatError('a witness signed the checkpoint twice');
  if (rest.some(({ name }) => name === signature.name)) throw new FormatError('a checkpoint must have one signature of its log');
  return { checkpoint, text, signature, cosignatures: rest.map(parseCosignature) };
}

export interface CheckpointKey {
  spki: Uint8Array;
  kind: 'p256' | 'ed25519';
}

export async function verifyNote(subtle: Subtle, { text, signature }: SignedCheckpoint, { spki, kind }: CheckpointKey): Promise<boolean> {
  const keyId = kind === 'p256' ? noteKeyIdEcdsa(spki) : noteKeyIdEd25519(signature.name, ed25519RawFromSpki(spki));
  if (!equalBytes(signature.keyId, keyId)) return false;
  const signed = { message: utf8(text), signature: signature.signature };
  return kind === 'p256' ? verifyEcdsa(subtle, { spki }, signed) : verifyEd25519(subtle, spki, signed);
}

/** Checks the signature of the Ed25519 checkpoint and that the key copies are those of its key. Returns that key. */
export async function checkNoteKeys({ opened, trust, recorder, platform }: CheckContext, signed: SignedCheckpoint): Promise<Uint8Array | null> {
  const texts = [PROOF.noteKey, PROOF.noteVkey].map((path) => ({ path, text: textOf(opened.files.get(path)?.bytes ?? null) }));
  const copies = texts.flatMap(({ text }) => readNoteKey(text));
  const candidates = [...copies, ...trust.noteKeys].filter(({ name }) => name === null || isNameOf(name, signed.signature.name));
  let signer: Uint8Array | null = null;
  for (const { spki } of candidates) if (signer === null && (await verifyNote(platform.subtle, signed, { spki, kind: 'ed25519' }))) signer = spki;
  if (signer === null) {
    recorder.fail('checkpoint_signature', PROOF.tlogProof, 'The checkpoint is not signed with a key in the package or with one of your trusted keys.');
    return null;
  }
  const expected = [pemFromSpki(signer), `${vkey(signed.checkpoint.origin, ed25519RawFromSpki(signer))}\n`];
  for (const [index, { path, text }] of texts.entries()) {
    if (opened.files.has(path) && text !== expected[index]) recorder.fail('key_copy', path, 'The file is not the key that signed the checkpoint.');
  }
  return signer;
}

/** Throws if a checkpoint, consistency proof or status statement of the caller cannot be read, or if a checkpoint is not signed with one of the caller's keys. */
export async function requireReadable(given: Trust, subtle: Subtle): Promise<void> {
  const trust = parseTrust(given);
  const keys: CheckpointKey[] = [
    ...trust.logKeys.map((spki) => ({ spki, kind: 'p256' as const })),
    ...trust.noteKeys.map(({ spki }) => ({ spki, kind: 'ed25519' as const })),
  ];
  for (const [index, note] of trust.checkpoints.entries()) {
    const signed = readOrExplain(`checkpoint ${index + 1}`, () => readCosigned(note));
    const results = await Promise.all(keys.map((key) => verifyNote(subtle, signed, key)));
    if (keys.length > 0 && !results.includes(true)) throw new Error(`checkpoint ${index + 1} is not signed with one of your trusted log keys`);
  }
  const { status } = trust;
  if (status !== null) readOrExplain('the status statement', () => parsePackageStatus(status));
  for (const [index, text] of trust.consistencies.entries()) readOrExplain(`consistency proof ${index + 1}`, () => parseConsistencyAnswer(text));
}

function readOrExplain<T>(what: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw new Error(`${what} cannot be read: ${error instanceof Error ? error.message : error}`);
  }
}

/** A key for the name of a log is valid for all epochs of the log. */
export function isNameOf(name: string, origin: string): boolean {
  return name === origin || name === parseOrigin(origin).name;
}

function textOf(bytes: Uint8Array | null): string | null {
  try {
    return bytes === null ? null : fromUtf8(bytes);
  } catch {
    return null;
  }
}

function readNoteKey(text: string | null): NoteKey[] {
  try {
    return text === null ? [] : [noteKey(text)];
  } catch {
    return [];
  }
}
