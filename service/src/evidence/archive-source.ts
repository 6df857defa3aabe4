import type { Readable } from 'node:stream';
import type { Source } from '@rrs/verifier';
import type { BlobRef, BlobStore } from '../blobs/blobs.ts';

/** The verifier holds two at a time: what it works on, and what it has asked for next. */
const BUFFERS = 3;

/**
 * A stored archive as the verifier reads it, front to back: one stream of the store goes on where the last read ended. What is read lies in a few
 * buffers that are used again, so that an archive of any size passes through the same memory.
 */
export function archiveSource(blobs: BlobStore, { sha256, size }: BlobRef): Source & { close(): Promise<void> } {
  const buffers: Buffer[] = [];
  let reads = 0;
  let stream: { content: Readable; chunks: AsyncIterator<Buffer>; position: number; rest: Buffer } | null = null;
  let turn: Promise<unknown> = Promise.resolve();

  async function openAt(position: number) {
    stream?.content.destroy();
    stream = null;
    const content = await blobs.getRange(sha256, { start: position, end: size - 1 });
    if (!content) throw new Error('the archive is not in the store any more');
    return { content, chunks: content[Symbol.asyncIterator]() as AsyncIterator<Buffer>, position, rest: Buffer.alloc(0) };
  }

  async function read(offset: number, length: number): Promise<Uint8Array> {
    const target = bufferFor(length);
    stream = stream?.position === offset ? stream : await openAt(offset);
    for (let filled = 0; filled < length; ) {
      if (stream.rest.length === 0) {
        const { value, done } = await stream.chunks.next();
        if (done) throw new Error('the archive ends too early');
        stream.rest = value;
      }
      const copied = stream.rest.copy(target, filled);
      stream.rest = stream.rest.subarray(copied);
      stream.position += copied;
      filled += copied;
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
      stream?.content.destroy();
    },
  };
}
