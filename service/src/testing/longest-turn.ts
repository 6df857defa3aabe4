import { PerformanceObserver, performance } from 'node:perf_hooks';

const SAMPLE_MS = 5;

interface Turn {
  from: number;
  to: number;
  cpuMs: number;
}

/**
 * Runs the work and returns the most processor time, in milliseconds, that this thread used without a pause in which it could have served somebody else.
 * Unlike the delay of the event loop, it does not depend on what else the machine does. Garbage collection does not count: how long it takes depends on
 * what else this process holds.
 */
export async function longestTurn<T>(work: () => Promise<T>): Promise<{ result: T; ms: number }> {
  const turns: Turn[] = [];
  const collections: { startTime: number; duration: number }[] = [];
  const observer = new PerformanceObserver((list) => collections.push(...list.getEntries()));
  observer.observe({ entryTypes: ['gc'] });
  let last = { at: performance.now(), cpu: process.threadCpuUsage() };
  const sample = (): void => {
    const now = { at: performance.now(), cpu: process.threadCpuUsage() };
    turns.push({ from: last.at, to: now.at, cpuMs: (now.cpu.user + now.cpu.system - last.cpu.user - last.cpu.system) / 1000 });
    last = now;
  };
  const sampling = setInterval(sample, SAMPLE_MS);
  try {
    const result = await work();
    sample();
    // Collections are reported in a later turn.
    await new Promise((resolve) => setImmediate(resolve));
    collections.push(...observer.takeRecords());
    const collecting = ({ from, to }: Turn): number =>
      collections.filter(({ startTime }) => startTime >= from && startTime < to).reduce((sum, { duration }) => sum + duration, 0);
    return { result, ms: Math.max(...turns.map((turn) => turn.cpuMs - collecting(turn))) };
  } finally {
    clearInterval(sampling);
    observer.disconnect();
  }
}
