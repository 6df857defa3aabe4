import type { Readable } from 'node:stream';
import { AppError } from '../shared/errors.ts';

export interface BlobRef {
  /** 64 lower-case hexadecimal digits. */
  sha256: string;
  size: number;
}

export interface StoredBlob extends BlobRef {
  /** When the content was last stored. Storing equal content again renews it. */
  storedAt: Date;
}

export interface PutOptions {
  maxBytes?: number;
  /** Called when the hash is known, before the blob becomes visible. If it throws, the blob is not stored. */
  onNamed?: (ref: BlobRef) => Promise<void>;
}

/** Both ends are inclusive and inside the blob. */
export interface ByteRange {
  start: number;
  end: number;
}

export type BlobContent = Readable | AsyncIterable<Uint8Array>;

/** A content-addressed store. A blob is named by the SHA-256 of its bytes, and `get` fails if the bytes do not match. */
export interface BlobStore {
  /** The folder with the blobs, if they are files: other processes of this machine can open it as well. */
  readonly folder: string | null;
  /**
   * Resolves when the blob is durable. Until then the blob is not visible. Equal content is stored once.
   * A Readable that exceeds the limit is not destroyed: destroying an HTTP request would close the connection before the 413 is sent.
   */
  put(content: BlobContent, options?: PutOptions): Promise<BlobRef>;
  /** The caller must read the stream to its end or destroy it. Missing or changed bytes are an error of the stream. */
  get(sha256: string): Promise<Readable | null>;
  /** Returns a range of the bytes. Only its length is verified, not its hash. */
  getRange(sha256: string, range: ByteRange): Promise<Readable | null>;
  /**
   * Like `getRange`, but each piece may reuse the buffer of the previous one, so that any amount of data needs constant memory.
   * The caller must finish with a piece before requesting the next. A missing blob is an error.
   */
  pieces(sha256: string, range: ByteRange): AsyncGenerator<Uint8Array>;
  stat(sha256: string): Promise<StoredBlob | null>;
  /** Does nothing if the blob does not exist. */
  delete(sha256: string): Promise<void>;
  /** Lists all blobs in any order. */
  list(): AsyncIterable<StoredBlob>;
  /** Throws if the store is not usable. */
  check(): Promise<void>;
}

const SHA256 = /^[0-9a-f]{64}$/;

export function isSha256(value: string): boolean {
  return SHA256.test(value);
}

/** Threat: path traversal. The name becomes part of a path or an object key, so only a digest is accepted. */
export function assertSha256(value: string): void {
  if (!isSha256(value)) throw new TypeError('The name of a blob must be 64 lower-case hexadecimal digits.');
}

export function absent(sha256: string): AppError {
  return new AppError('internal_error', `The content ${sha256} is not in the store. Report this to the operator of the service.`);
}

export function incomplete(what: string): AppError {
  return new AppError('internal_error', `The stored content ${what} is incomplete or corrupt. Report this to the operator of the service.`);
}

export function tooLarge(maxBytes: number): AppError {
  return new AppError('payload_too_large', `The content exceeds the limit of ${maxBytes.toLocaleString('en')} bytes.`);
}
