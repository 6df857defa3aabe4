import { afterEach, expect, it } from 'vitest';
import { ChildFailure } from './child.ts';
import type { ChildPool } from './child-pool.ts';
import { openSharedChild } from './shared-child.ts';

const module = new URL('../../testing/programs/careless-child.ts', import.meta.url);
let shared: ChildPool;
afterEach(() => shared.close());
const open = (): ChildPool => {
  shared = openSharedChild({ module, limits: { heapMb: 64, timeMs: 30_000 }, idleMs: 60_000 });
  return shared;
};
const answer = async (question: number) => question + 1;

it('runs several tasks at a time in one child, and answers the questions of each', async () => {
  const child = open();
  const tasks = [1, 2, 3].map((task) => child.run(task, { answer: async (question: number) => question + 10 * task }));
  expect(await Promise.all(tasks)).toEqual([
    [11, 11],
    [22, 22],
    [33, 33],
  ]);
  expect(await child.run('served')).toBe(4);
});

it('goes on with the others if a task fails, is cancelled or cannot be answered', async () => {
  const child = open();
  const cancelling = new AbortController();
  const never = new Promise<never>(() => {});
  const cancelled = child.run(1, { answer: () => never, signal: cancelling.signal });
  const unanswered = child.run(2, { answer: () => Promise.reject(new Error('no answer')) });
  const other = child.run(3, { answer });
  await expect(child.run('throw')).rejects.toThrow('no such luck');
  await expect(unanswered).rejects.toThrow('no answer');
  cancelling.abort(new Error('cancelled'));
  await expect(cancelled).rejects.toThrow('cancelled');
  expect(await other).toEqual([4, 4]);
  expect(await child.run('served')).toBe(5);
});

it('fails all tasks if one of them ends the child, and starts another child for the next', async () => {
  const child = open();
  const waiting = child.run(1, { answer: () => new Promise<never>(() => {}) });
  await Promise.all([expect(child.run('exit')).rejects.toThrow(ChildFailure), expect(waiting).rejects.toThrow(ChildFailure)]);
  expect(await child.run('served')).toBe(1);
});
