import type { Worker } from 'node:worker_threads';
import type { Slots } from './slots.ts';
import { resultOf, startThread, ThreadFailure, type ThreadLimits, type ThreadTask, type ThreadWork } from './thread.ts';

export interface StandingThread {
  run<Question>(task: unknown, answer?: ThreadWork<Question>['answer']): Promise<unknown>;
  close(): Promise<void>;
}

interface Options {
  /** The module that the thread runs. It calls `serveTasks`. */
  module: URL;
  /** What every task needs, such as where the database is. */
  input: unknown;
  limits: ThreadLimits;
  /** Runs one task at a time. */
  slots: Slots;
  /** A thread that had nothing to do for so long ends, so that its memory is free. */
  idleMs: number;
}

/** A thread that stays for the next task, because starting one and loading its code takes longer than most tasks. It starts with the first task. */
export function openStandingThread({ module, input, limits, slots, idleMs }: Options): StandingThread {
  let thread: Worker | null = null;
  let idle: NodeJS.Timeout | undefined;

  async function end(): Promise<void> {
    clearTimeout(idle);
    const ended = thread;
    thread = null;
    await ended?.terminate();
  }

  function started(): Worker {
    clearTimeout(idle);
    if (thread !== null) return thread;
    const next = startThread(module, input, limits);
    next.unref();
    // A thread can also die between two tasks. Without a listener, the error event would end the process.
    next.on('error', () => {});
    next.on('exit', () => {
      if (thread === next) thread = null;
    });
    thread = next;
    return next;
  }

  return {
    run: (task, answer) =>
      slots.use(async () => {
        const running = started();
        running.postMessage({ task } satisfies ThreadTask);
        try {
          return await resultOf(running, limits, answer);
        } catch (error) {
          if (error instanceof ThreadFailure) await end();
          throw error;
        } finally {
          idle = setTimeout(() => void end(), idleMs).unref();
        }
      }),
    close: end,
  };
}
