import type { Worker } from 'node:worker_threads';
import { resultOf, startThread, TaskError, type ThreadCancel, ThreadFailure, type ThreadLimits, type ThreadTask } from './thread.ts';
import type { ThreadPool } from './thread-pool.ts';

interface Options {
  /** The module that the thread runs. It calls `serveTasks`. */
  module: URL;
  /** Exceeding one ends the thread, and with it all its tasks. */
  limits: ThreadLimits;
  /** A thread that had nothing to do for so long ends, so that its memory is free. */
  idleMs: number;
}

interface Shared {
  thread: Worker;
  tasks: number;
  timer: NodeJS.Timeout | undefined;
}

/**
 * One thread for many tasks at a time that mostly wait: a thread for each would need a second to start, and 40 MB. If one of them exhausts a limit,
 * all of them fail with a `ThreadFailure`. Whoever wants to know which one it was runs it again in a thread of its own.
 */
export function openSharedThread({ module, limits, idleMs }: Options): ThreadPool {
  let current: Shared | null = null;
  let tasks = 0;

  function start(): Shared {
    const shared: Shared = { thread: startThread(module, null, limits), tasks: 0, timer: undefined };
    // Each task listens. Without a listener of its own, an error between two tasks would end the process.
    shared.thread.setMaxListeners(0);
    shared.thread.on('error', () => {});
    shared.thread.on('exit', () => forget(shared));
    return shared;
  }
  function forget(shared: Shared): void {
    clearTimeout(shared.timer);
    if (current === shared) current = null;
  }
  async function end(shared: Shared): Promise<void> {
    forget(shared);
    await shared.thread.terminate();
  }

  return {
    async run(task, exchange = {}) {
      exchange.signal?.throwIfAborted();
      current ??= start();
      const shared = current;
      const { thread } = shared;
      clearTimeout(shared.timer);
      shared.tasks++;
      thread.ref();
      const n = ++tasks;
      thread.postMessage({ task, n } satisfies ThreadTask);
      try {
        return await resultOf(thread, limits, { ...exchange, of: n });
      } catch (error) {
        if (error instanceof ThreadFailure) await end(shared);
        else if (!(error instanceof TaskError)) thread.postMessage({ cancel: n } satisfies ThreadCancel);
        throw error;
      } finally {
        shared.tasks--;
        if (shared.tasks === 0) {
          // Neither the thread nor its timer keeps the process running.
          thread.unref();
          shared.timer = setTimeout(() => void end(shared), idleMs).unref();
        }
      }
    },
    close: async () => {
      if (current) await end(current);
    },
  };
}
