import { AppError } from '../shared/errors.ts';

export interface Slots {
  /** Runs the work when a slot is free. Refuses if too many wait already. */
  use<T>(work: () => Promise<T>): Promise<T>;
}

/** Bounds how much work runs at a time, and how much waits for it. `refusal` says what there is too much of. */
export function createSlots({ running: limit, waiting: longest, refusal }: { running: number; waiting: number; refusal: string }): Slots {
  let running = 0;
  const waiting: (() => void)[] = [];

  async function take(): Promise<void> {
    if (running < limit) {
      running++;
      return;
    }
    if (waiting.length >= longest) throw new AppError('unavailable', `${refusal} Retry later.`, { headers: { 'retry-after': '30' } });
    await new Promise<void>((resolve) => waiting.push(resolve));
  }

  /** Passes the slot on to the next in line, if there is one. */
  function release(): void {
    const next = waiting.shift();
    if (next) next();
    else running--;
  }

  return {
    async use(work) {
      await take();
      try {
        return await work();
      } finally {
        release();
      }
    },
  };
}
