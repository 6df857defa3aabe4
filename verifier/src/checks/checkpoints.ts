import {
  type Checkpoint,
  ed25519RawFromSpki,
  equalBytes,
  fromUtf8,
  type NoteSignature,
  noteKeyIdEcdsa,
  noteKeyIdEd25519,
  parseCheckpoint,
  parseNote,
  pemFromSpki,
  utf8,
  vkey,
} from '@rrs/evidence-format';
import { verifyEcdsa, verifyEd25519 } from '../crypto/signatures.ts';
import type { Subtle } from '../platform.ts';
import { type NoteKey, noteKey } from '../trust/trust.ts';
import type { Checked } from './context.ts';
import { PROOF } from './proof-files.ts';

export interface SignedCheckpoint {
  checkpoint: Checkpoint;
  text: string;
  signature: NoteSignature;
}

/** A checkpoint with exactly one signature, whose signer has the name of the log. */
export function readCheckpoint(note: string): SignedCheckpoint {
  const { text, signatures } = parseNote(note);
  const checkpoint = parseCheckpoint(text);
  const [signature, ...rest] = signatures;
  if (signature === undefined || rest.length > 0) throw new Error('A checkpoint has one signature.');
  if (signature.name !== checkpoint.origin) throw new Error('The checkpoint is signed under another name than that of its log.');
  return { checkpoint, text, signature };
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

/** Checks the signature of the Ed25519 checkpoint, and that the copies of its key are of the key that it names. Answers that key. */
export async function checkNoteKeys({ opened, trust, findings, platform }: Checked, signed: SignedCheckpoint): Promise<Uint8Array | null> {
  const texts = [PROOF.noteKey, PROOF.noteVkey].map((path) => ({ path, text: textOf(opened.files.get(path)?.bytes ?? null) }));
  const copies = texts.flatMap(({ text }) => readNoteKey(text));
  const candidates = [...copies, ...trust.noteKeys].filter(({ name }) => name === null || name === signed.signature.name);
  let named: Uint8Array | null = null;
  for (const { spki } of candidates) if (named === null && (await verifyNote(platform.subtle, signed, { spki, kind: 'ed25519' }))) named = spki;
  if (named === null) {
    findings.fail('checkpoint_signature', PROOF.tlogProof, 'The checkpoint is not signed by a key in the package, nor by one you trust.');
    return null;
  }
  const expected = [pemFromSpki(named), `${vkey(signed.checkpoint.origin, ed25519RawFromSpki(named))}\n`];
  for (const [index, { path, text }] of texts.entries()) {
    if (opened.files.has(path) && text !== expected[index]) findings.fail('key_copy', path, 'It is not the key that signed the checkpoint.');
  }
  return named;
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
