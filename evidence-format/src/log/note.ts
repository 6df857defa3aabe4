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

/** A log and its epoch. A log that was restored from a backup continues in a new epoch, which is a new tree. */
export interface LogEpochName {
  /** `<host>/orgs/<organization id>`. */
  name: string;
  epoch: number;
}

/** The origin of an epoch in C2SP checkpoints. Each epoch needs its own, because a log must not sign two trees under one origin. */
export function logOrigin({ name, epoch }: LogEpochName): string {
  return epoch === 1 ? name : `${name}/epoch-${decimal(epoch)}`;
}

/** The origin in Rekor's form: the name of the log and the number of its tree. The name alone signs it, so that trusted roots stay valid. */
export function rekorOrigin(origin: string): string {
  const { name, epoch } = parseOrigin(origin);
  return `${name} - ${epoch}`;
}

/** Reads both forms of an origin. */
export function parseOrigin(origin: string): LogEpochName {
  const [, name = origin, epoch = '1'] = /^(.+?)(?:\/epoch-| - )([1-9]\d{0,8})$/.exec(origin) ?? [];
  return { name, epoch: Number(epoch) };
}

/** The name that signs a checkpoint with this origin. */
export function signerOf(origin: string): string {
  return origin.replace(/ - [1-9]\d{0,8}$/, '');
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
