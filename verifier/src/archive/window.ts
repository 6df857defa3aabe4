import type { Source } from './source.ts';

const CHUNK = 1 << 20;

/** Reads a source from front to back in large pieces, the next one already on its way while the last one is worked on. */
export interface Window {
  /** A few bytes; they stay valid. */
  take(offset: number, length: number): Promise<Uint8Array>;
  /** Pieces of a range, each valid until the next is asked for. */
  pieces(offset: number, length: number): AsyncGenerator<Uint8Array>;
}

export function windowOver(source: Source): Window {
  let start = 0;
  let current: Uint8Array = new Uint8Array(0);
  let ahead: { start: number; bytes: Promise<Uint8Array> } | null = null;

  async function load(offset: number): Promise<void> {
    const waiting = ahead?.start === offset ? ahead.bytes : readExactly(source, offset, Math.min(CHUNK, source.size - offset));
    ahead = null;
    current = await waiting;
    start = offset;
    const next = offset + current.length;
    if (next >= source.size) return;
    const bytes = readExactly(source, next, Math.min(CHUNK, source.size - next));
    // Whoever needs it sees the error; nobody may, when the reading ends here.
    bytes.catch(() => {});
    ahead = { start: next, bytes };
  }

  async function* pieces(offset: number, length: number): AsyncGenerator<Uint8Array> {
    if (offset < 0 || length < 0 || offset + length > source.size) throw new Error(`the package ends before byte ${offset + length}`);
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
  if (bytes.length !== length) throw new Error(`the package could not be read: ${length} bytes at ${offset} were asked for and ${bytes.length} came`);
  return bytes;
}
