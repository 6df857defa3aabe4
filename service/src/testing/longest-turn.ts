const SAMPLE_MS = 5;

/**
 * Runs the work and returns the most processor time, in milliseconds, that this thread used without a pause in which it could have served somebody else.
 * Unlike the delay of the event loop, it does not depend on what else the machine does.
 */
export async function longestTurn<T>(work: () => Promise<T>): Promise<{ result: T; ms: number }> {
  let longest = 0;
  let last = process.threadCpuUsage();
  const sample = (): void => {
    const now = process.threadCpuUsage();
    longest = Math.max(longest, now.user + now.system - last.user - last.system);
    last = now;
  };
  const sampling = setInterval(sample, SAMPLE_MS);
  try {
    const result = await work();
    sample();
    return { result, ms: longest / 1000 };
  } finally {
    clearInterval(sampling);
  }
}
