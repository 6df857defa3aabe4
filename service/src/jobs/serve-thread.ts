import { parentPort, workerData } from 'node:worker_threads';
import { messageOf } from '../shared/errors.ts';
import type { ThreadAnswer, ThreadMessage } from './thread.ts';

export type Ask = (question: unknown) => Promise<unknown>;

/** Runs the work of a thread that `runInThread` started, and sends its result back. */
export async function serveThread(work: (input: unknown, ask: Ask) => Promise<unknown>): Promise<void> {
  const waiting = new Map<number, { resolve(answer: unknown): void; reject(error: Error): void }>();
  const send = (message: ThreadMessage): void => parentPort?.postMessage(message);
  let asked = 0;
  parentPort?.on('message', (reply: ThreadAnswer) => {
    const question = waiting.get(reply.ask);
    waiting.delete(reply.ask);
    if ('error' in reply) question?.reject(new Error(reply.error));
    else question?.resolve(reply.answer);
  });
  const ask: Ask = (question) =>
    new Promise((resolve, reject) => {
      waiting.set(++asked, { resolve, reject });
      send({ ask: asked, question });
    });
  try {
    send({ result: await work(workerData, ask) });
  } catch (error) {
    send({ error: messageOf(error) });
  }
}
