import { readFileSync } from 'node:fs';

export interface TimeLimits {
  /** How long the process may work, without the time in which it waits for answers. */
  timeMs: number;
  /** How long it may work without asking a question. */
  stepMs?: number;
}

/** On a machine that is busy with other things, a child may take so many times as long. */
const PATIENCE = 20;

/**
 * The child may ask several questions at once. It works at the latest when all of them are answered. Time in which it got no processor does not count: a
 * report must not fail because the machine is busy.
 */
export function watchTime(pid: number | undefined, { timeMs, stepMs = timeMs }: TimeLimits, onExceeded: (limit: string) => void) {
  let left = timeMs;
  const processorTime = processorClock(pid);
  let worked = workClock(processorTime);
  let timer: NodeJS.Timeout | undefined;
  let isOver = false;
  const pause = (): void => {
    clearTimeout(timer);
    left -= worked().ms;
  };
  const resume = (): void => {
    if (isOver) return;
    worked = workClock(processorTime);
    const [limit, exceeded] = stepMs < left ? [stepMs, `${stepMs / 1000} s for one step`] : [left, `${timeMs / 1000} s`];
    const check = (): void => {
      const { ms, elapsed } = worked();
      if (ms >= limit || elapsed >= limit * PATIENCE) onExceeded(exceeded);
      else timer = setTimeout(check, Math.max(limit - ms, 1));
    };
    timer = setTimeout(check, limit);
  };
  resume();
  return {
    pause,
    resume,
    stop: (): void => {
      isOver = true;
      clearTimeout(timer);
    },
  };
}

/** Measures from now on. `ms` is at most the processor time of the child, where the system tells it. */
function workClock(processorTime: () => number): () => { ms: number; elapsed: number } {
  const [since, before] = [performance.now(), processorTime()];
  return () => {
    const elapsed = performance.now() - since;
    const used = processorTime() - before;
    return { ms: Number.isNaN(used) ? elapsed : Math.min(elapsed, used), elapsed };
  };
}

/** A child may ask a thousand questions per second, and this process does nothing else while it reads the time that the child has used. */
const LOOK_AGAIN_MS = 50;

function processorClock(pid: number | undefined): () => number {
  let [lookedAt, ms] = [Number.NEGATIVE_INFINITY, Number.NaN];
  return () => {
    const now = performance.now();
    if (now - lookedAt >= LOOK_AGAIN_MS) [lookedAt, ms] = [now, processorMs(pid)];
    return ms;
  };
}

/** Linux counts in hundredths of a second. */
const MS_PER_TICK = 10;

/** NaN where there is no such file. */
function processorMs(pid: number | undefined): number {
  try {
    // The name of the program, in parentheses, may contain spaces. The times are the 14th and 15th fields.
    const [, fields = ''] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ');
    const [user, system] = fields.split(' ').slice(11, 13);
    return (Number(user) + Number(system)) * MS_PER_TICK;
  } catch {
    return Number.NaN;
  }
}
