import type { Readable } from 'node:stream';
import { AppError } from '../shared/errors.ts';

export interface BlobRef {
  /** 64 lower-case hexadecimal digits */
  sha256: string;
  size: number;
}

export interface PutOptions {
  maxBytes?: number;
  /** When the bytes are known and before anybody can see them; nobody will, if it fails. */
  onNamed?: (ref: BlobRef) => Promise<void>;
}

/** Both ends belong to it and lie inside of the blob. */
export interface ByteRange {
  start: number;
  end: number;
}

export type BlobContent = Readable | AsyncIterable<Uint8Array>;

/** Content-addressed: a blob is named by the SHA-256 of its bytes, and `get` never ends well with other bytes. */
export interface BlobStore {
  /**
   * Resolves when the blob is durable; until then nobody sees any of it. The same content twice is stored once.
   * A refused Readable is left undestroyed: destroying an HTTP request would cut the connection before its 413 is sent.
   */
  put(content: BlobContent, options?: PutOptions): Promise<BlobRef>;
  /** The caller reads the stream to its end or destroys it; missing or changed bytes are an error on it. */
  get(sha256: string): Promise<Readable | null>;
  /** Some of the bytes: they cannot be held against the name, only counted. */
  getRange(sha256: string, range: ByteRange): Promise<Readable | null>;
  /**
   * The same for who is done with a piece before asking for the next: then it is written over, so that any amount passes through the same memory.
   * What is missing is an error.
   */
  pieces(sha256: string, range: ByteRange): AsyncGenerator<Uint8Array>;
  stat(sha256: string): Promise<BlobRef | null>;
  /** Absent is fine. */
  delete(sha256: string): Promise<void>;
  /** In any order. */
  list(): AsyncIterable<BlobRef>;
  /** Throws when the store cannot be used. */
  check(): Promise<void>;
}

const SHA256 = /^[0-9a-f]{64}$/;

export function isSha256(value: string): boolean {
  return SHA256.test(value);
}

/** Threat: a name from outside becomes a path or an object key, so nothing but a digest gets that far. */
export function assertSha256(value: string): void {
  if (!isSha256(value)) throw new TypeError('A blob is named by 64 lower-case hexadecimal digits.');
}

export function absent(sha256: string): AppError {
  return new AppError('internal_error', `The content ${sha256} is not in the store.`);
}

export function incomplete(what: string): AppError {
  return new AppError('internal_error', `The stored content ${what} is incomplete or was changed.`);
}

export function tooLarge(maxBytes: number): AppError {
  return new AppError('payload_too_large', `The content is larger than the ${maxBytes.toLocaleString('en')} bytes allowed here. Send a smaller one.`);
}
