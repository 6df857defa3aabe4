import { type Trust, verifyPackage } from '@rrs/verifier';
import { nodePlatform } from '@rrs/verifier/node';
import { serveThread } from '../../jobs/serve-thread.ts';

export interface VerifyInput {
  size: number;
  trust: Trust;
  /** Where the answers to questions are put. Sending them as messages would leave behind as much garbage as the package is large. */
  shared: SharedArrayBuffer;
}

/** At most as long as the shared memory. */
export interface ReadQuestion {
  offset: number;
  length: number;
}

/** One more than the verifier uses at a time: the buffer it works on and the one it requested next. */
const BUFFERS = 3;

/** Started by verify-in-thread.ts, which reads the package for it. */
await serveThread((input, ask) => {
  const { size, trust, shared } = input as VerifyInput;
  const answer = new Uint8Array(shared);
  const buffers: Uint8Array[] = [];
  let reads = 0;
  let previous: Promise<unknown> = Promise.resolve();

  function bufferFor(length: number): Uint8Array {
    const next = reads++ % BUFFERS;
    const last = buffers[next];
    const buffer = last && last.length >= length ? last : new Uint8Array(length);
    buffers[next] = buffer;
    return buffer.subarray(0, length);
  }

  async function readNow(offset: number, length: number): Promise<Uint8Array> {
    const target = bufferFor(length);
    for (let filled = 0; filled < length; ) {
      const question: ReadQuestion = { offset: offset + filled, length: Math.min(length - filled, answer.length) };
      await ask(question);
      target.set(answer.subarray(0, question.length), filled);
      filled += question.length;
    }
    return target;
  }

  /** One read at a time, because all use the same shared memory. */
  function read(offset: number, length: number): Promise<Uint8Array> {
    const result = previous.then(() => readNow(offset, length));
    previous = result.catch(() => {});
    return result;
  }

  return verifyPackage({ size, read }, trust, nodePlatform());
});
