import type { Source } from './source.ts';

const CHUNK = 1 << 20;

/** Reads a source sequentially in large chunks and prefetches the next chunk while the caller processes the current one. */
export interface Window {
  /** Returns a copy of a short range. */
  take(offset: number, length: number): Promise<Uint8Array>;
  /** Yields a range in pieces. Each piece is valid until the next one is requested. */
  pieces(offset: number, length: number): AsyncGenerator<Uint8Array>;
}

export function windowOver(source: Source): Window {
  let start = 0;
  let current: Uint8Array = new Uint8Array(0);
  let ahead: { start: number; bytes: Promise<Uint8Array> } | null = null;

  async function load(offset: number): Promise<void> {
    const pending = ahead?.start === offset ? ahead.bytes : readExactly(source, offset, Math.min(CHUNK, source.size - offset));
    ahead = null;
    current = await pending;
    start = offset;
    const next = offset + current.length;
    if (next >= source.size) return;
    const bytes = readExactly(source, next, Math.min(CHUNK, source.size - next));
    // The error surfaces when the chunk is used. Without this, a chunk that is never used would raise an unhandled rejection.
    bytes.catch(() => {});
    ahead = { start: next, bytes };
  }

  async function* pieces(offset: number, length: number): AsyncGenerator<Uint8Array> {
    if (offset < 0 || length < 0 || offset + length > source.size) throw new Error(`The package ends before byte ${offset + length}.`);
    const end = offset + length;
    for (let position = offset; position < end; ) {
      if (position < start || position >= start + current.length) await load(position);
      const piece = current.subarray(position - start, Math.min(end - start, current.length));
      yield piece;
      position += piece.length;
    }
  }

  return {
    pieces,
    async take(offset, length) {
      const bytes = new Uint8Array(length);
      let filled = 0;
      for await (const piece of pieces(offset, length)) {
        bytes.set(piece, filled);
        filled += piece.length;
      }
      return bytes;
    },
  };
}

export async function readExactly(source: Source, offset: number, length: number): Promise<Uint8Array> {
  const bytes = await source.read(offset, length);
  if (bytes.length !== length) throw new Error(`The package could not be read: got ${bytes.length} of ${length} bytes at offset ${offset}.`);
  return bytes;
}
