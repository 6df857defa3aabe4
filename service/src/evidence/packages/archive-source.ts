import type { Source } from '@rrs/verifier';
import type { BlobRef, BlobStore } from '../../blobs/blobs.ts';

/**
 * Lets the verifier read a stored archive. Sequential reads continue one stream of the blob store, and the result of a read is valid until the next
 * one, so that memory does not grow with the archive.
 */
export function archiveSource(blobs: BlobStore, { sha256, size }: BlobRef): Source & { close(): Promise<void> } {
  let buffer = Buffer.alloc(0);
  let stream: { pieces: AsyncGenerator<Uint8Array>; position: number; rest: Uint8Array } | null = null;
  let previous: Promise<unknown> = Promise.resolve();

  async function openAt(position: number) {
    await stream?.pieces.return(null);
    return { pieces: blobs.pieces(sha256, { start: position, end: size - 1 }), position, rest: new Uint8Array() };
  }

  async function read(offset: number, length: number): Promise<Uint8Array> {
    if (buffer.length < length) buffer = Buffer.allocUnsafeSlow(length);
    const target = buffer.subarray(0, length);
    stream = stream?.position === offset ? stream : await openAt(offset);
    for (let filled = 0; filled < length; ) {
      if (stream.rest.length === 0) {
        const { value, done } = await stream.pieces.next();
        if (done) throw new Error('the archive is shorter than expected');
        stream.rest = value;
      }
      const copied = stream.rest.subarray(0, length - filled);
      target.set(copied, filled);
      stream.rest = stream.rest.subarray(copied.length);
      stream.position += copied.length;
      filled += copied.length;
    }
    return target;
  }

  return {
    size,
    read(offset, length) {
      if (length === 0) return Promise.resolve(new Uint8Array());
      const result = previous.then(() => read(offset, length));
      previous = result.catch(() => {});
      return result;
    },
    async close() {
      await previous;
      await stream?.pieces.return(null);
    },
  };
}
