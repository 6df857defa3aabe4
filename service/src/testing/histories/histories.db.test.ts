import { describe, expect, it } from 'vitest';
import { usePackages } from '../evidence/packages.ts';
import { behindProxy } from '../people.ts';
import { randomOf } from '../truth/random.ts';
import { startCase } from '../whitewashing/case.ts';
import { cve, daysAgo, grype } from '../whitewashing/reports.ts';
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

  it.for([
    [20, 21],
    [21, 20],
  ] as const)('after a decision applies again that was made before findings became one: about %i, and not about %i', async ([accepted, other]) => {
    const one = await startCase(world);
    const scan = (day: number, ...shown: number[]) => {
      const report = JSON.parse(grype({ weaknesses: [20, 21], at: daysAgo(day), build: day }));
      const matches = report.matches.filter(({ vulnerability }: { vulnerability: { id: string } }) => [...shown, 90].map(cve).includes(vulnerability.id));
      for (const { artifact, vulnerability } of matches)
        Object.assign(artifact, { type: 'java-archive', purl: `pkg:maven/${vulnerability.id}/a@1`, locations: [{ path: `/${vulnerability.id}/a.jar` }] });
      return one.upload(JSON.stringify({ ...report, matches }));
    };
    await scan(9, 20, 21);
    const item = await one.item(20, 21);
    const [decided, open] = [await one.oneFinding(accepted), await one.oneFinding(other)];
    const acceptance = {
      status: 'risk_accepted',
      owner: 'Ada',
      expires_at: daysAgo(-20).toISOString(),
      reason: 'until the release',
      compensating_control: 'a proxy',
    };
    await one.call('owner', 'PATCH', `/findings/${decided.id}`, acceptance);
    await one.call('lead', 'POST', `/findings/${open.id}/merge`, { into: decided.id, reason: 'one weakness' });
    const states: string[] = [];
    const check = async () => {
      states.push((await one.findings(20, 21)).map(({ status }) => status).join());
      expect(await one.refusals(item), states.join(' ')).toEqual([]);
    };
    await check();
    await scan(7, accepted);
    await check();
    await scan(5);
    await check();
    await scan(3, accepted);
    await check();
    await scan(1, 20, 21);
    await check();
    expect(states).toEqual(['open', 'risk_accepted', 'verified', 'risk_accepted', 'open']);
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
