import { type Bytes, concat, fromBase64, toBase64 } from '../bytes/bytes.ts';
import { decimal, parseDecimal } from '../bytes/decimal.ts';
import { assertFormat } from '../bytes/errors.ts';

export interface Checkpoint {
  origin: string;
  size: number;
  root: Uint8Array;
}

export interface NoteSignature {
  name: string;
  /** Four bytes. */
  keyId: Uint8Array;
  signature: Uint8Array;
}

/** C2SP signed-note. The signed text ends with a line feed. */
export interface Note {
  text: string;
  signatures: NoteSignature[];
}

/** The first line of a checkpoint in the form of Rekor: the name of the log, and the number of its tree. The name alone signs it. */
export function rekorOrigin(logName: string): string {
  return `${logName} - 1`;
}

/** The name that signs a checkpoint with this origin. */
export function signerOf(origin: string): string {
  return origin.replace(/ - 1$/, '');
}

/** C2SP tlog-checkpoint, without extension lines. */
export function checkpointText({ origin, size, root }: Checkpoint): string {
  assertFormat(isLine(origin), 'an origin must be one line');
  return `${origin}\n${decimal(size)}\n${hashText(root)}\n`;
}

export function parseCheckpoint(text: string): Checkpoint {
  const [origin, size, root, ...rest] = text.split('\n');
  assertFormat(origin !== undefined && size !== undefined && root !== undefined && rest.length === 1 && rest[0] === '', 'a checkpoint must have three lines');
  assertFormat(isLine(origin), 'a checkpoint must start with its origin');
  return { origin, size: parseDecimal(size), root: parseHash(root) };
}

export function noteWith(text: string, signatures: readonly NoteSignature[]): string {
  assertFormat(text.endsWith('\n') && !text.endsWith('\n\n'), 'the text of a note must end with exactly one line feed');
  return `${text}\n${signatures.map(signatureLine).join('')}`;
}

function signatureLine({ name, keyId, signature }: NoteSignature): string {
  assertFormat(isName(name) && keyId.length === 4 && signature.length > 0, 'not a valid note signature');
  return `— ${name} ${toBase64(concat(keyId, signature))}\n`;
}

export function parseNote(note: string): Note {
  const end = note.lastIndexOf('\n\n');
  assertFormat(end > 0 && note.endsWith('\n'), 'not a signed note');
  const text = note.slice(0, end + 1);
  const signatures = note
    .slice(end + 2, -1)
    .split('\n')
    .map(parseSignature);
  assertFormat(noteWith(text, signatures) === note, 'not a signed note');
  return { text, signatures };
}

function parseSignature(line: string): NoteSignature {
  const [, name, body] = /^— (\S+) ([A-Za-z0-9+/=]+)$/.exec(line) ?? [];
  assertFormat(name !== undefined && body !== undefined, 'not a signature line');
  const bytes = fromBase64(body);
  assertFormat(bytes.length > 4, 'the signature line has no signature');
  return { name, keyId: bytes.slice(0, 4), signature: bytes.slice(4) };
}

function isName(text: string): boolean {
  return isLine(text) && /^[^\s+]+$/.test(text);
}

function isLine(text: string): boolean {
  return text.isWellFormed() && /^[^\p{Cc}\p{Zl}\p{Zp}]+$/u.test(text) && text.trim() === text;
}

export function hashText(hash: Uint8Array): string {
  assertFormat(hash.length === 32, 'not a SHA-256 hash');
  return toBase64(hash);
}

export function parseHash(text: string): Bytes {
  const hash = fromBase64(text);
  assertFormat(hash.length === 32, 'not a SHA-256 hash');
  return hash;
}
