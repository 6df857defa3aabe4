import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { ChildFailure, runInChild } from './child.ts';

const module = new URL('../../testing/programs/careless-child.ts', import.meta.url);
const limits = { heapMb: 64, timeMs: 30_000 };

it('returns the result of the child and answers its questions', async () => {
  const answer = async (question: number) => question + 1;
  expect(await runInChild(module, 41, { limits, answer })).toEqual([42, 42]);
  const bytes = new Uint8Array(100_000).fill(7);
  expect(await runInChild(module, 41, { limits, answer: async () => bytes })).toEqual([bytes, bytes]);
  const refuse = () => Promise.reject(new Error('the disk is gone'));
  await expect(runInChild(module, 41, { limits, answer: refuse })).rejects.toThrow('the disk is gone');
});

it('survives a child that uses too much memory or time, or dies', async () => {
  const reasonOf = (task: string, changed: Partial<typeof limits> = {}) =>
    runInChild(module, task, { limits: { ...limits, ...changed } }).catch((error) => (error instanceof ChildFailure ? error.reason : error.message));
  expect(await Promise.all([reasonOf('memory'), reasonOf('time', { timeMs: 500 }), reasonOf('exit'), reasonOf('reject'), reasonOf('throw')])).toEqual([
    'memory',
    'time',
    'crash',
    'crash',
    'no such luck',
  ]);
});

it('leaves this process free to do other things', async () => {
  let turns = 0;
  const timer = setInterval(() => turns++, 10);
  await expect(runInChild(module, 'time', { limits: { ...limits, timeMs: 1000 } })).rejects.toThrow('took longer than 1 s');
  clearInterval(timer);
  expect(turns).toBeGreaterThan(5);
});

// Whether a child that computes ends as well depends on the system.
it.each(['waiting', ...(spawnSync('setpriv', ['--pdeathsig', 'KILL', 'true']).status === 0 ? ['computing'] : [])])(
  'ends with the process that started it while it is %s, but not at Ctrl-C',
  async (does) => {
    const parent = spawn(process.execPath, [fileURLToPath(new URL('../../testing/programs/parent.ts', import.meta.url)), does], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [pid] = await once(parent.stdout, 'data');
    process.kill(Number(pid), 'SIGINT');
    parent.kill('SIGKILL');
    // The child has the other end of the pipe as well.
    await once(parent.stdout, 'close');
  },
);
