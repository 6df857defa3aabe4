import type { Slots } from '../slots.ts';
import { type Child, type ChildLimits, type Exchange, resultOf, startChild, TaskError } from './child.ts';

export interface ChildPool {
  run<Question>(task: unknown, exchange?: Exchange<Question>): Promise<unknown>;
  close(): Promise<void>;
}

interface Options {
  /** The module that the children run. It calls `serveTasks`. */
  module: URL;
  limits: ChildLimits;
  /** Bounds how many tasks run at a time. Each has a child. */
  slots: Slots;
  /** A child that had nothing to do for so long ends, so that its memory is free. */
  idleMs: number;
}

interface Idle {
  child: Child;
  timer: NodeJS.Timeout;
}

/**
 * Child processes that stay for the next task, because starting one and loading its code takes longer than most tasks. They start when they are needed. One
 * whose task broke off, for example because it exceeded a limit, is ended.
 */
export function openChildPool({ module, limits, slots, idleMs }: Options): ChildPool {
  const idle: Idle[] = [];
  let tasks = 0;

  function take(): Child {
    const last = idle.pop();
    if (last) {
      clearTimeout(last.timer);
      return last.child;
    }
    const child = startChild(module, limits);
    void child.ended.then(() => forget(child));
    return child;
  }
  function giveBack(child: Child): void {
    // Neither the child nor its timer keeps this process running.
    child.keep(false);
    idle.push({ child, timer: setTimeout(() => void end(child), idleMs).unref() });
  }
  function forget(child: Child): void {
    const at = idle.findIndex((one) => one.child === child);
    if (at >= 0) for (const { timer } of idle.splice(at, 1)) clearTimeout(timer);
  }
  /** A child that is being ended takes no more tasks. */
  async function end(child: Child): Promise<void> {
    forget(child);
    await child.end();
  }

  return {
    run: (task, exchange = {}) =>
      slots.use(async () => {
        exchange.signal?.throwIfAborted();
        const child = take();
        child.keep(true);
        try {
          const result = await resultOf(child, { task, n: ++tasks }, exchange);
          giveBack(child);
          return result;
        } catch (error) {
          if (error instanceof TaskError) giveBack(child);
          else await end(child);
          throw error;
        }
      }),
    close: async () => {
      await Promise.all([...idle].map(({ child }) => end(child)));
    },
  };
}
