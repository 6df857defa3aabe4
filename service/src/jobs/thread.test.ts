import { expect, it } from 'vitest';
import { runInThread, ThreadFailure } from './thread.ts';

const module = new URL('../testing/programs/careless-thread.ts', import.meta.url);
const limits = { heapMb: 64, timeMs: 30_000 };

it('returns the result of the thread and answers its questions', async () => {
  const answer = async (question: number) => question + 1;
  expect(await runInThread({ module, input: 41, limits, answer })).toBe(42);
  const refuse = () => Promise.reject(new Error('the disk is gone'));
  await expect(runInThread({ module, input: 41, limits, answer: refuse })).rejects.toThrow('the disk is gone');
});

it('ends a thread that uses too much memory or time, or dies', async () => {
  const reasonOf = (input: string, timeMs = limits.timeMs) =>
    runInThread({ module, input, limits: { ...limits, timeMs } }).catch((error) => (error instanceof ThreadFailure ? error.reason : error.message));
  expect(await Promise.all([reasonOf('memory'), reasonOf('time', 500), reasonOf('exit'), reasonOf('throw')])).toEqual([
    'memory',
    'time',
    'crash',
    'no such luck',
  ]);
});

it('leaves this process free to do other things', async () => {
  let turns = 0;
  const timer = setInterval(() => turns++, 10);
  await expect(runInThread({ module, input: 'time', limits: { ...limits, timeMs: 1000 } })).rejects.toThrow('took longer than 1 s');
  clearInterval(timer);
  expect(turns).toBeGreaterThan(5);
});
