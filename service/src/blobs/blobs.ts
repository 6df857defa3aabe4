import type { Readable } from 'node:stream';
import { AppError } from '../shared/errors.ts';

export interface BlobRef {
  /** 64 lower-case hexadecimal digits */
  sha256: string;
  size: number;
}

export interface PutLimits {
  maxBytes?: number;
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
  put(content: BlobContent, limits?: PutLimits): Promise<BlobRef>;
  /** The caller reads the stream to its end or destroys it; missing or changed bytes are an error on it. */
  get(sha256: string): Promise<Readable | null>;
  /** Some of the bytes: they cannot be held against the name, only counted. */
  getRange(sha256: string, range: ByteRange): Promise<Readable | null>;
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

export function tooLarge(maxBytes: number): AppError {
  return new AppError('payload_too_large', `The content is larger than the ${maxBytes.toLocaleString('en')} bytes allowed here. Send a smaller one.`);
}
