import { parentPort, type TransferListItem, workerData } from 'node:worker_threads';
import { messageOf } from '../shared/errors.ts';
import type { ThreadAnswer, ThreadCancel, ThreadMessage, ThreadTask } from './thread.ts';

/** `moved` is memory that the question gives away instead of copying it. */
type Ask = (question: unknown, moved?: readonly TransferListItem[]) => Promise<unknown>;
/** The signal aborts when a task that shares its thread is cancelled. */
type Work = (input: unknown, ask: Ask, signal: AbortSignal) => Promise<unknown>;

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

type Waiting = Map<number, { of: number; resolve(answer: unknown): void; reject(reason: unknown): void }>;
let asked = 0;
const running = new Map<number, AbortController>();

async function serve(work: Work, input: unknown, of: number, waiting: Waiting): Promise<void> {
  const cancelling = new AbortController();
  const { signal } = cancelling;
  running.set(of, cancelling);
  const ask: Ask = (question, moved) => {
    const answer = new Promise<unknown>((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason);
      waiting.set(++asked, { of, resolve, reject });
      send({ of, ask: asked, question }, moved);
    });
    // A task may not wait for every answer. A rejection that nobody handles would end the thread, and with it the tasks of others.
    answer.catch(() => {});
    return answer;
  };
  try {
    send({ of, result: await work(input, ask, signal) });
  } catch (error) {
    send({ of, error: messageOf(error) });
  } finally {
    running.delete(of);
  }
}

function send(message: ThreadMessage, moved: readonly TransferListItem[] = []): void {
  parentPort?.postMessage(message, moved);
}

function listen(onTask: (task: ThreadTask) => void): Waiting {
  const waiting: Waiting = new Map();
  parentPort?.on('message', (message: ThreadAnswer | ThreadTask | ThreadCancel) => {
    if ('task' in message) return onTask(message);
    if ('cancel' in message) return cancel(message.cancel, waiting);
    waiting.get(message.ask)?.resolve(message.answer);
    waiting.delete(message.ask);
  });
  return waiting;
}

/** Nobody answers the questions of a cancelled task any more. */
function cancel(of: number, waiting: Waiting): void {
  running.get(of)?.abort(new Error('the task was cancelled'));
  for (const [id, question] of waiting) {
    if (question.of !== of) continue;
    waiting.delete(id);
    question.reject(new Error('the task was cancelled'));
  }
}
