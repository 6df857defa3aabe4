import { type Child, ChildFailure, type ChildLimits, resultOf, startChild, TaskError } from './child.ts';
import type { ChildPool } from './child-pool.ts';

interface Options {
  /** The module that the child runs. It calls `serveTasks`. */
  module: URL;
  /** Exceeding one ends the child, and with it all its tasks. */
  limits: ChildLimits;
  /** A child that had nothing to do for so long ends, so that its memory is free. */
  idleMs: number;
}

interface Shared {
  child: Child;
  tasks: number;
  timer: NodeJS.Timeout | undefined;
}

/**
 * One child process for many tasks at a time that mostly wait: each process takes time to start, and memory. If one of the tasks exhausts a limit, all of
 * them fail with a `ChildFailure`. Whoever wants to know which one it was runs it again in a child of its own.
 */
export function openSharedChild({ module, limits, idleMs }: Options): ChildPool {
  let current: Shared | null = null;
  let tasks = 0;

  function start(): Shared {
    const shared: Shared = { child: startChild(module, limits), tasks: 0, timer: undefined };
    void shared.child.ended.then(() => forget(shared));
    return shared;
  }
  function forget(shared: Shared): void {
    clearTimeout(shared.timer);
    if (current === shared) current = null;
  }
  async function end(shared: Shared): Promise<void> {
    forget(shared);
    await shared.child.end();
  }

  return {
    async run(task, exchange = {}) {
      exchange.signal?.throwIfAborted();
      current ??= start();
      const shared = current;
      const { child } = shared;
      clearTimeout(shared.timer);
      shared.tasks++;
      child.keep(true);
      const n = ++tasks;
      try {
        return await resultOf(child, { task, n }, exchange);
      } catch (error) {
        if (error instanceof ChildFailure) await end(shared);
        else if (!(error instanceof TaskError)) child.send({ cancel: n });
        throw error;
      } finally {
        shared.tasks--;
        if (shared.tasks === 0) {
          // Neither the child nor its timer keeps this process running.
          child.keep(false);
          shared.timer = setTimeout(() => void end(shared), idleMs).unref();
        }
      }
    },
    close: async () => {
      if (current) await end(current);
    },
  };
}
