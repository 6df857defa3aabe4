import { afterEach, expect, it } from 'vitest';
import { openSharedThread } from './shared-thread.ts';
import { ThreadFailure } from './thread.ts';
import type { ThreadPool } from './thread-pool.ts';

const module = new URL('../testing/programs/careless-pool-thread.ts', import.meta.url);
let shared: ThreadPool;
afterEach(() => shared.close());
const open = (): ThreadPool => {
  shared = openSharedThread({ module, limits: { heapMb: 64, timeMs: 30_000 }, idleMs: 60_000 });
  return shared;
};
const answer = async (question: number) => question + 1;

it('runs several tasks at a time in one thread, and answers the questions of each', async () => {
  const thread = open();
  const tasks = [1, 2, 3].map((task) => thread.run(task, { answer: async (question: number) => question + 10 * task }));
  expect(await Promise.all(tasks)).toEqual([
    [11, 11],
    [22, 22],
    [33, 33],
  ]);
  expect(await thread.run('served')).toBe(4);
});

it('goes on with the others if a task fails, is cancelled or cannot be answered', async () => {
  const thread = open();
  const cancelling = new AbortController();
  const never = new Promise<never>(() => {});
  const cancelled = thread.run(1, { answer: () => never, signal: cancelling.signal });
  const unanswered = thread.run(2, { answer: () => Promise.reject(new Error('no answer')) });
  const other = thread.run(3, { answer });
  await expect(thread.run('throw')).rejects.toThrow('no such luck');
  await expect(unanswered).rejects.toThrow('no answer');
  cancelling.abort(new Error('cancelled'));
  await expect(cancelled).rejects.toThrow('cancelled');
  expect(await other).toEqual([4, 4]);
  expect(await thread.run('served')).toBe(5);
});

it('fails all tasks if one of them ends the thread, and starts another thread for the next', async () => {
  const thread = open();
  const waiting = thread.run(1, { answer: () => new Promise<never>(() => {}) });
  await Promise.all([expect(thread.run('exit')).rejects.toThrow(ThreadFailure), expect(waiting).rejects.toThrow(ThreadFailure)]);
  expect(await thread.run('served')).toBe(1);
});
