import { describe, expect, it } from 'vitest';
import { usePackages } from '../evidence/packages.ts';
import { behindProxy } from '../people.ts';
import { randomOf } from '../truth/random.ts';
import { startCase } from '../whitewashing/case.ts';
import { daysAgo } from '../whitewashing/reports.ts';
import { ACTS, type Life, WEAKNESSES } from './acts.ts';

const world = usePackages({ idle: true, config: behindProxy });
const HISTORIES = 6;
const EVERY = 10;
const UUID = /[0-9a-f]{8}-[0-9a-f-]{27}/g;
/** What people did in one of the histories, so that none of it is only refused. */
const done = new Set<string>();

async function begin(seed: number): Promise<Life> {
  const one = await startCase(world);
  const attempt: typeof one.attempt = async (by, method, path, body) => {
    const answer = await one.attempt(by, method, path, body);
    if (answer.status < 300) done.add(`${method} ${path.replace(/\?.*/, '').replaceAll(UUID, '…')}`);
    return answer;
  };
  await one.scan({ weaknesses: WEAKNESSES, at: daysAgo(50) });
  return { one: { ...one, attempt }, random: randomOf(seed), item: await one.item(...WEAKNESSES), day: 49, keys: [] };
}

describe('the verifier accepts what the service seals', { timeout: 300_000 }, () => {
  it.for(Array.from({ length: HISTORIES }, (_, n) => n + 1))('whatever people did before: history %i', async (seed) => {
    const life = await begin(seed);
    for (const [n, act] of life.random.shuffled(ACTS).entries()) {
      await act(life);
      if (n % EVERY === EVERY - 1) expect(await life.one.refusals(life.item), `after act ${n}`).toEqual([]);
    }
    expect(await life.one.refusals(life.item)).toEqual([]);
  });

  it('of everything that changes who, what and where findings are', () => {
    expect([...done]).toEqual(
      expect.arrayContaining([
        'POST /findings/…/merge',
        'POST /findings/…/split',
        'POST /assets/…/merge',
        'POST /assets/…/unmerge',
        'PATCH /assets/…',
        'POST /sources/…/retire',
        'POST /vulnerability-aliases',
        'POST /vulnerability-aliases/GHSA-2222-3333-4444/revoke',
        'PATCH /members/…',
        'DELETE /members/…',
        'POST /api-keys',
      ]),
    );
  });
});
