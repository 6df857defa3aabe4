import type { Asset, RunFacts } from '@rrs/scan-reports';
import { expect, it } from 'vitest';
import { seen, useImports } from '../../testing/findings/imports.ts';
import { thinOldRuns } from './thin-old-runs.ts';

const engine = useImports();
const asset: Asset = { type: 'repository', name: 'https://git.example.com/shop' };
const weakness = (n: number) => seen({ asset, vulnerability_ids: [`CVE-2024-${1000 + n}`], location: { component: `lib${n}`, version: '1.0' } });
const DAYS = 24;

/** Until the 8th, the finding 2 is there, and from the 16th on, finding 3. */
const itemsOf = (day: number) => [weakness(1), ...(day < 8 ? [weakness(2)] : []), ...(day >= 16 ? [weakness(3)] : [])];
const at = (day: number, hour = 12): string => new Date(Date.UTC(2026, 0, day, hour)).toISOString();

async function organizationWith(days: number, facts: (day: number) => RunFacts = () => ({})): Promise<string> {
  const org = await engine.organization();
  for (let day = 1; day <= days; day++) {
    await engine.run(org, [...itemsOf(day), { run: facts(day) }], { scope: { asset, coverage: 'complete', started_at: at(day) } });
  }
  return org;
}

const thin = (org: string): Promise<number> => engine.db().withTenant({ orgId: org }, (tx) => thinOldRuns(tx, org, { days: 30, limit: 1_000 }));
const daysOf = async (org: string): Promise<number[]> => {
  const { rows } = await engine.admin().query<{ started_at: Date }>('select started_at from run_assets where org_id = $1 order by 1', [org]);
  return rows.map(({ started_at }) => started_at.getUTCDate());
};

it('forgets old scans that saw what the scans before and after them saw, and keeps those that changed something', async () => {
  const org = await organizationWith(DAYS);
  const before = await engine.stateOf(org);
  expect(await thin(org)).toBeGreaterThan(10);
  expect(await engine.stateOf(org)).toEqual(before);
  const kept = await daysOf(org);
  expect(kept).toEqual(expect.arrayContaining([1, 8, 16, DAYS]));
  expect(kept.length).toBeLessThan(10);
  expect(await thin(org)).toBe(0);
});

it.each([2, 10, 20])('a report of the %i. that arrives afterwards leads to the same findings', async (day) => {
  const [thinned, whole] = [await organizationWith(DAYS), await organizationWith(DAYS)];
  expect(await thin(thinned)).toBeGreaterThan(10);
  const late = [...itemsOf(day), weakness(4)];
  for (const org of [thinned, whole]) await engine.run(org, late, { scope: { asset, coverage: 'complete', started_at: at(day, 18) } });
  expect(await engine.stateOf(thinned, { lawful: true })).toEqual(await engine.stateOf(whole, { lawful: true }));
  expect((await engine.findings(thinned)).map(({ status }) => status)).toEqual(['open', 'verified', 'open', 'verified']);
});

it('keeps scans that differ in what they looked at, and young ones', async () => {
  const different = await organizationWith(6, (day) => ({ checks: day % 2 === 0 ? ['a'] : ['a', 'b'] }));
  expect(await thin(different)).toBe(0);
  const young = await organizationWith(6);
  expect(await engine.db().withTenant({ orgId: young }, (tx) => thinOldRuns(tx, young, { days: 3_650, limit: 1_000 }))).toBe(0);
});

it('deletes what a forgotten scan listed', async () => {
  const org = await organizationWith(7, () => ({ checks: ['a', 'b'] }));
  const lists = async () => (await engine.admin().query('select import_id from run_lists where org_id = $1', [org])).rows.length;
  expect(await lists()).toBe(7);
  const deleted = await thin(org);
  expect(deleted).toBeGreaterThan(0);
  expect(await lists()).toBe(7 - deleted);
});
