export interface Stopwatch {
  /** Adds the time that the work takes to that of its part. */
  time<T>(part: string, work: () => Promise<T>): Promise<T>;
  /** What each part took, divided by `count`, the longest first. */
  textPer(count: number): string;
}

export function startStopwatch(): Stopwatch {
  const sums = new Map<string, number>();
  return {
    async time(part, work) {
      const began = performance.now();
      try {
        return await work();
      } finally {
        sums.set(part, (sums.get(part) ?? 0) + performance.now() - began);
      }
    },
    textPer: (count) =>
      [...sums]
        .toSorted(([, a], [, b]) => b - a)
        .map(([part, ms]) => `${part} ${Math.round(ms / count)} ms`)
        .join(', '),
  };
}
