import { parentPort, type TransferListItem, workerData } from 'node:worker_threads';
import { messageOf } from '../shared/errors.ts';
import type { ThreadAnswer, ThreadMessage, ThreadTask } from './thread.ts';

/** `moved` is memory that the question gives away instead of copying it. */
type Ask = (question: unknown, moved?: readonly TransferListItem[]) => Promise<unknown>;
type Work = (input: unknown, ask: Ask) => Promise<unknown>;

/** Runs the work of a thread that `runInThread` started, and sends its result back. */
export async function serveThread(work: Work): Promise<void> {
  await serve(
    work,
    workerData,
    0,
    listen(() => {}),
  );
}

/** Runs the tasks of a thread that `openThreadPool` started, one after the other. */
export function serveTasks(work: Work): void {
  const waiting = listen(({ task, n }) => void serve(work, task, n, waiting));
}

type Waiting = Map<number, (answer: unknown) => void>;
let asked = 0;

async function serve(work: Work, input: unknown, of: number, waiting: Waiting): Promise<void> {
  const ask: Ask = (question, moved) =>
    new Promise((resolve) => {
      waiting.set(++asked, resolve);
      send({ of, ask: asked, question }, moved);
    });
  try {
    send({ of, result: await work(input, ask) });
  } catch (error) {
    send({ of, error: messageOf(error) });
  }
}

function send(message: ThreadMessage, moved: readonly TransferListItem[] = []): void {
  parentPort?.postMessage(message, moved);
}

function listen(onTask: (task: ThreadTask) => void): Waiting {
  const waiting: Waiting = new Map();
  parentPort?.on('message', (message: ThreadAnswer | ThreadTask) => {
    if ('task' in message) return onTask(message);
    waiting.get(message.ask)?.(message.answer);
    waiting.delete(message.ask);
  });
  return waiting;
}
