import type { Observation, Rejection, ReportFormat, ReportInput, RunFacts } from '../contract.ts';

export async function readAll(format: ReportFormat, input: ReportInput): Promise<{ observations: Observation[]; rejections: Rejection[]; runs: RunFacts[] }> {
  const observations: Observation[] = [];
  const rejections: Rejection[] = [];
  const runs: RunFacts[] = [];
  for await (const item of format.read(input)) {
    if ('observation' in item) observations.push(item.observation);
    else if ('rejection' in item) rejections.push(item.rejection);
    else runs.push(item.run);
  }
  return { observations, rejections, runs };
}

/** Returns an input that delivers the bytes in chunks, split at the given offsets. */
export function inChunks(bytes: Uint8Array, splits: readonly number[], filename: string | null = null): ReportInput {
  const offsets = [0, ...splits.map((split) => Math.min(split, bytes.length)), bytes.length].sort((a, b) => a - b);
  return {
    filename,
    async *open() {
      for (const [index, offset] of offsets.entries()) if (index > 0) yield bytes.subarray(offsets[index - 1], offset);
    },
  };
}

export async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}
