import { expect } from 'vitest';

/** Retries the assertion until it holds, for at most ten seconds. */
export function eventually<T>(value: () => T) {
  return expect.poll(value, { timeout: 10_000, interval: 20 });
}
