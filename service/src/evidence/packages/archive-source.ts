import type { Source } from '@rrs/verifier';
import type { BlobRef, BlobStore } from '../../blobs/blobs.ts';

/** The verifier holds two at a time: what it works on, and what it has asked for next. */
const BUFFERS = 3;

/**
 * A stored archive as the verifier reads it, front to back: one reading of the store goes on where the last one ended. What is read lies in a few
 * buffers that are used again, so that an archive of any size passes through the same memory.
 */
export function archiveSource(blobs: BlobStore, { sha256, size }: BlobRef): Source & { close(): Promise<void> } {
  const buffers: Buffer[] = [];
  let reads = 0;
  let reading: { pieces: AsyncGenerator<Uint8Array>; position: number; rest: Uint8Array } | null = null;
  let turn: Promise<unknown> = Promise.resolve();

  async function openAt(position: number) {
    await reading?.pieces.return(null);
    return { pieces: blobs.pieces(sha256, { start: position, end: size - 1 }), position, rest: new Uint8Array() };
  }

  async function read(offset: number, length: number): Promise<Uint8Array> {
    const target = bufferFor(length);
    reading = reading?.position === offset ? reading : await openAt(offset);
    for (let filled = 0; filled < length; ) {
      if (reading.rest.length === 0) {
        const { value, done } = await reading.pieces.next();
        if (done) throw new Error('the archive ends too early');
        reading.rest = value;
      }
      const copied = reading.rest.subarray(0, length - filled);
      target.set(copied, filled);
      reading.rest = reading.rest.subarray(copied.length);
      reading.position += copied.length;
      filled += copied.length;
    }
    return target;
  }

  function bufferFor(length: number): Buffer {
    const next = reads++ % BUFFERS;
    const last = buffers[next];
    const buffer = last && last.length >= length ? last : Buffer.allocUnsafeSlow(length);
    buffers[next] = buffer;
    return buffer.subarray(0, length);
  }

  return {
    size,
    read(offset, length) {
      if (length === 0) return Promise.resolve(new Uint8Array());
      const result = turn.then(() => read(offset, length));
      turn = result.catch(() => {});
      return result;
    },
    async close() {
      await turn;
      await reading?.pieces.return(null);
    },
  };
}
