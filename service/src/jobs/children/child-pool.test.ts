import { afterEach, expect, it } from 'vitest';
import { createSlots } from '../slots.ts';
import { ChildFailure, type ChildLimits } from './child.ts';
import { type ChildPool, openChildPool } from './child-pool.ts';

const module = new URL('../../testing/programs/careless-child.ts', import.meta.url);
const pools: ChildPool[] = [];
afterEach(async () => {
  for (const pool of pools.splice(0)) await pool.close();
});
function open(limits: Partial<ChildLimits> = {}, idleMs = 60_000): ChildPool {
  const slots = createSlots({ running: 1, waiting: 10, refusal: 'Too many.' });
  const pool = openChildPool({ module, limits: { heapMb: 64, timeMs: 30_000, ...limits }, slots, idleMs });
  pools.push(pool);
  return pool;
}
const answer = async (question: number) => question + 1;

it('runs one task after the other in one child, and answers its questions', async () => {
  const pool = open();
  expect(await Promise.all([1, 2, 3].map((task) => pool.run(task, { answer })))).toEqual([
    [2, 2],
    [3, 3],
    [4, 4],
  ]);
  await expect(pool.run('throw')).rejects.toThrow('no such luck');
  expect(await pool.run('served')).toBe(5);
});

it('ends a child that uses too much memory or time, or dies, and starts another one', async () => {
  const reasonOf = (task: string, limits: Partial<ChildLimits> = {}) =>
    open(limits)
      .run(task)
      .catch((error) => (error instanceof ChildFailure ? `${error.reason}: ${error.message}` : error));
  expect(await Promise.all([reasonOf('memory'), reasonOf('time', { timeMs: 2_000 }), reasonOf('time', { stepMs: 1_000 }), reasonOf('exit')])).toEqual([
    'memory: needed more than 64 MB of memory',
    'time: took longer than 2 s',
    'time: took longer than 1 s for one step',
    'crash: ended early with code 7',
  ]);
  const pool = open();
  await expect(pool.run('exit')).rejects.toThrow('ended early with code 7');
  expect(await pool.run('served')).toBe(1);
});

it('does not count the time in which the child waits for an answer', async () => {
  const pool = open({ timeMs: 1_000 });
  await pool.run('served');
  const slowly = (question: number) => new Promise<number>((resolve) => setTimeout(resolve, 1_100, question));
  expect(await pool.run(1, { answer: slowly })).toEqual([1, 1]);
});

it('fails with the error of the process if a question cannot be answered, and starts another child', async () => {
  const pool = open();
  const lost = new Error('the database is gone');
  await expect(pool.run(1, { answer: () => Promise.reject(lost) })).rejects.toBe(lost);
  expect(await pool.run('served')).toBe(1);
});

it('ends a child whose task is cancelled', async () => {
  const pool = open();
  const cancelled = new AbortController();
  const running = pool.run('time', { signal: cancelled.signal });
  cancelled.abort(new Error('the worker stops'));
  await expect(running).rejects.toThrow('the worker stops');
  await expect(pool.run('served', { signal: cancelled.signal })).rejects.toThrow('the worker stops');
  expect(await pool.run('served')).toBe(1);
});

it('does not answer what a failed task left behind', async () => {
  const pool = open();
  await expect(pool.run('left behind', { answer })).rejects.toThrow('no such luck');
  const asked: unknown[] = [];
  await pool.run(1, { answer: async (question) => asked.push(question) });
  expect(asked).toEqual([1, 1]);
});

it('ends children that have nothing to do', async () => {
  const pool = open({}, 20);
  expect(await pool.run('served')).toBe(1);
  // A new child has served nothing yet.
  await expect.poll(() => pool.run('served'), { interval: 200 }).toBe(1);
});
