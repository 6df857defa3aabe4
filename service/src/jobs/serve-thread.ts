import { parentPort, workerData } from 'node:worker_threads';
import { messageOf } from '../shared/errors.ts';
import type { ThreadAnswer, ThreadMessage, ThreadTask } from './thread.ts';

type Ask = (question: unknown) => Promise<unknown>;
type Work = (input: unknown, ask: Ask) => Promise<unknown>;

/** Runs the work of a thread that `runInThread` started, and sends its result back. */
export async function serveThread(work: Work): Promise<void> {
  const { ask } = listen(() => {});
  await sendResult(() => work(workerData, ask));
}

/** Runs the tasks of a thread that `openStandingThread` started, one after the other. */
export function serveTasks(work: Work): void {
  const { ask } = listen((task) => void sendResult(() => work(task, ask)));
}

function send(message: ThreadMessage): void {
  parentPort?.postMessage(message);
}

async function sendResult(work: () => Promise<unknown>): Promise<void> {
  try {
    send({ result: await work() });
  } catch (error) {
    send({ error: messageOf(error) });
  }
}

function listen(onTask: (task: unknown) => void): { ask: Ask } {
  const waiting = new Map<number, { resolve(answer: unknown): void; reject(error: Error): void }>();
  let asked = 0;
  parentPort?.on('message', (message: ThreadAnswer | ThreadTask) => {
    if ('task' in message) return onTask(message.task);
    const question = waiting.get(message.ask);
    waiting.delete(message.ask);
    if ('error' in message) question?.reject(new Error(message.error));
    else question?.resolve(message.answer);
  });
  return {
    ask: (question) =>
      new Promise((resolve, reject) => {
        waiting.set(++asked, { resolve, reject });
        send({ ask: asked, question });
      }),
  };
}
