import { messageOf } from '../../shared/errors.ts';
import type { ChildAnswer, ChildCancel, ChildMessage, ChildTask } from './child.ts';

type Ask = (question: unknown) => Promise<unknown>;
/** The signal aborts when a task that shares its child is cancelled. */
type Work = (input: unknown, ask: Ask, signal: AbortSignal) => Promise<unknown>;

interface Waiting {
  of: number;
  resolve(answer: unknown): void;
  reject(reason: unknown): void;
}

let asked = 0;
const waiting = new Map<number, Waiting>();
const running = new Map<number, AbortController>();

/** Runs the tasks of a child process that `startChild` started, and sends their results back. */
export function serveTasks(work: Work): void {
  process.on('message', (message: ChildAnswer | ChildTask | ChildCancel) => {
    if ('task' in message) return void serve(work, message);
    if ('cancel' in message) return cancel(message.cancel);
    waiting.get(message.ask)?.resolve(message.answer);
    waiting.delete(message.ask);
  });
  // Signals to the whole group, such as Ctrl-C in a terminal, are for the parent. It may still need the result.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {});
  process.on('disconnect', () => process.exit());
}

async function serve(work: Work, { task, n: of }: ChildTask): Promise<void> {
  const cancelling = new AbortController();
  const { signal } = cancelling;
  running.set(of, cancelling);
  const ask: Ask = (question) => {
    const answer = new Promise<unknown>((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason);
      waiting.set(++asked, { of, resolve, reject });
      send({ of, ask: asked, question });
    });
    // A task may not wait for every answer. A rejection that nobody handles would end the child, and with it the tasks of others.
    answer.catch(() => {});
    return answer;
  };
  try {
    send({ of, result: await work(task, ask, signal) });
  } catch (error) {
    send({ of, error: messageOf(error) });
  } finally {
    running.delete(of);
  }
}

/** A message that cannot be sent is one to a parent that has ended. */
function send(message: ChildMessage): void {
  process.send?.(message, undefined, undefined, () => {});
}

/** Nobody answers the questions of a cancelled task any more. */
function cancel(of: number): void {
  running.get(of)?.abort(new Error('the task was cancelled'));
  for (const [id, question] of waiting) {
    if (question.of !== of) continue;
    waiting.delete(id);
    question.reject(new Error('the task was cancelled'));
  }
}
