import type { Worker } from 'node:worker_threads';
import type { Slots } from './slots.ts';
import { resultOf, startThread, TaskError, type ThreadLimits, type ThreadTask } from './thread.ts';

export interface ThreadPool {
  run<Question>(task: unknown, exchange?: { answer?: (question: Question) => Promise<unknown>; signal?: AbortSignal }): Promise<unknown>;
  close(): Promise<void>;
}

interface Options {
  /** The module that the threads run. It calls `serveTasks`. */
  module: URL;
  /** What every task needs, such as where the database is. */
  input?: unknown;
  limits: ThreadLimits;
  /** Bounds how many tasks run at a time. Each has a thread. */
  slots: Slots;
  /** A thread that had nothing to do for so long ends, so that its memory is free. */
  idleMs: number;
}

interface Idle {
  thread: Worker;
  timer: NodeJS.Timeout;
}

/**
 * Threads that stay for the next task, because starting one and loading its code takes longer than most tasks. They start when they are needed. One whose
 * task broke off, for example because it exceeded a limit, is ended.
 */
export function openThreadPool({ module, input, limits, slots, idleMs }: Options): ThreadPool {
  const idle: Idle[] = [];
  let tasks = 0;

  function take(): Worker {
    const last = idle.pop();
    if (last) {
      clearTimeout(last.timer);
      return last.thread;
    }
    const thread = startThread(module, input, limits);
    // A thread can also die between two tasks. Without a listener, the error event would end the process.
    thread.on('error', () => {});
    thread.on('exit', () => forget(thread));
    return thread;
  }
  function giveBack(thread: Worker): void {
    // Neither the thread nor its timer keeps the process running.
    thread.unref();
    idle.push({ thread, timer: setTimeout(() => void end(thread), idleMs).unref() });
  }
  function forget(thread: Worker): void {
    const at = idle.findIndex((one) => one.thread === thread);
    if (at >= 0) for (const { timer } of idle.splice(at, 1)) clearTimeout(timer);
  }
  /** A thread that is being ended takes no more tasks. */
  async function end(thread: Worker): Promise<void> {
    forget(thread);
    await thread.terminate();
  }

  return {
    run: (task, exchange = {}) =>
      slots.use(async () => {
        exchange.signal?.throwIfAborted();
        const thread = take();
        const n = ++tasks;
        thread.ref();
        thread.postMessage({ task, n } satisfies ThreadTask);
        try {
          const result = await resultOf(thread, limits, { ...exchange, of: n });
          giveBack(thread);
          return result;
        } catch (error) {
          if (error instanceof TaskError) giveBack(thread);
          else await end(thread);
          throw error;
        }
      }),
    close: async () => {
      await Promise.all([...idle].map(({ thread }) => end(thread)));
    },
  };
}
