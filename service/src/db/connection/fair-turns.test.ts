import { expect, it } from 'vitest';
import { createFairTurns } from './fair-turns.ts';

/** Takes turns, and notes in which order they are granted. */
function takerOf(limit: number) {
  const turns = createFairTurns(limit);
  const served: string[] = [];
  const held: { key: string; end: () => void }[] = [];
  const take = async (key: string): Promise<void> => {
    const end = await turns.take(key, 0);
    served.push(key);
    held.push({ key, end });
  };
  const endOne = async (key: string): Promise<void> => {
    const at = held.findIndex((one) => one.key === key);
    held.splice(at, 1)[0]?.end();
    await settled();
  };
  return { turns, served, take, endOne };
}

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

it('somebody who asks many times does not keep others waiting', async () => {
  const { served, take, endOne } = takerOf(4);
  for (let n = 0; n < 20; n++) void take('noisy');
  await settled();
  expect(served).toEqual(['noisy', 'noisy', 'noisy', 'noisy']);
  void take('quiet');
  void take('calm');
  await endOne('noisy');
  expect(served.slice(4)).toEqual(['quiet']);
  await endOne('noisy');
  expect(served.slice(5)).toEqual(['calm']);
  // A third of the turns, rounded up, and no more, while others have one.
  await endOne('noisy');
  expect(served.slice(6)).toEqual(['noisy']);
  await endOne('calm');
  expect(served).toHaveLength(7);
  await endOne('quiet');
  expect(served.slice(7)).toEqual(['noisy', 'noisy']);
});

it('however many ask, the turns are bounded, and nobody waits for the further turns of the others', async () => {
  const [limit, keys, each] = [6, 50, 10];
  const { served, take, endOne } = takerOf(limit);
  const busy = Array.from({ length: keys }, (_, n) => `busy ${n}`);
  for (const key of busy) for (let n = 0; n < each; n++) void take(key);
  await settled();
  void take('quiet');
  for (let ended = 0; ended < keys * each; ended++) {
    expect(served).toHaveLength(Math.min(limit + ended, keys * each + 1));
    const key = served[ended] ?? '';
    // Those who were served ask again.
    if (ended < keys) void take(key);
    await endOne(key);
    if (served.includes('quiet')) break;
  }
  expect(served.indexOf('quiet')).toBeLessThanOrEqual(keys + limit);
  for (const key of busy) expect(served).toContain(key);
});

it('no turn is lost', async () => {
  const { turns, served, take, endOne } = takerOf(3);
  const asked = Array.from({ length: 60 }, (_, n) => ['a', 'b', 'c'][n % 3] ?? '');
  for (const key of asked) void take(key);
  for (let n = 0; n < 60; n++) {
    await settled();
    expect(served).toHaveLength(Math.min(60, n + 3));
    await endOne(served[n] ?? '');
  }
  expect(turns.waiting()).toBe(0);
  expect(served.toSorted()).toEqual(asked.toSorted());
});

it('whoever waits too long fails as with a pool, and leaves the turn to others', async () => {
  const turns = createFairTurns(1);
  const end = await turns.take('a', 0);
  await expect(turns.take('b', 1)).rejects.toThrow('timeout exceeded when trying to connect');
  expect(turns.waiting()).toBe(0);
  end();
  (await turns.take('c', 1))();
});

it('very many who wait for the same key are not compared with each other', async () => {
  const turns = createFairTurns(2);
  const ends = [await turns.take('busy', 0), await turns.take('busy', 0)];
  let served = 0;
  const waiting = Array.from({ length: 30_000 }, async () => {
    const end = await turns.take('busy', 0);
    served++;
    end();
  });
  for (const end of ends) end();
  await Promise.all(waiting);
  expect(served).toBe(30_000);
});
