import { expect } from 'vitest';

/** Asks again until it is so, or ten seconds have passed. */
export function eventually<T>(value: () => T) {
  return expect.poll(value, { timeout: 10_000, interval: 20 });
}
