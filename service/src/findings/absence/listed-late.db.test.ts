import type { Asset } from '@rrs/scan-reports';
import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import { newId } from '../../shared/ids.ts';
import { seen, useImports } from '../../testing/findings/imports.ts';
import { histories, LAW } from '../../testing/findings/laws.ts';
import { someOrders } from '../../testing/findings/orders.ts';

/** What follows from the assets that runs list, whatever the order in which they arrive. */
const engine = useImports();
let org: string;
beforeEach(async () => {
  org = await engine.organization();
});

const DAY = (day: number): string => new Date(Date.UTC(2026, 0, day, 12)).toISOString();
const hostOf = (name: string): Asset => ({ type: 'host', name: `${name}.example.com` });
const on = (name: string) => seen({ asset: hostOf(name), vulnerability_ids: ['CVE-2024-0001'] });

/** On a day, a run with a finding on each asset of `found`, and none on those of `clean`. */
interface Run {
  day: number;
  found: readonly string[];
  clean?: readonly string[];
  partial?: boolean;
}

const scopeOf = ({ day, partial }: Run) => ({ ...(partial ? {} : { coverage: 'complete' as const }), started_at: DAY(day) });
const sync = (organization: string, connection: string, run: Run) =>
  engine.collect(organization, connection, { items: run.found.map(on), covers: [...run.found, ...(run.clean ?? [])].map(hostOf), scope: scopeOf(run) });
const upload = (organization: string, run: Run) => engine.run(organization, run.found.map(on), { scope: scopeOf(run) });

const statusByAsset = async (organization = org) =>
  Object.fromEntries((await engine.findings(organization)).map(({ asset, status }) => [asset.split('.')[0], status]));
const retired = async (organization = org) =>
  (await engine.admin().query<{ name: string }>('select name from assets where org_id = $1 and retired_at is not null order by 1', [organization])).rows.map(
    ({ name }) => name.split('.')[0],
  );
const stateOf = async (organization: string) => ({ ...(await engine.stateOf(organization, { lawful: true })), retired: await retired(organization) });

describe('an asset that runs of a connection leave out', () => {
  it.each<[string, Run[], Record<string, string>, string[]]>([
    [
      'stays if it was listed in between',
      [
        { day: 1, found: ['web', 'db'] },
        { day: 2, found: ['web'] },
        { day: 3, found: ['web', 'db'] },
        { day: 4, found: ['web'] },
      ],
      { web: 'open', db: 'open' },
      [],
    ],
    [
      'is gone if the last two left it out',
      [
        { day: 1, found: ['web', 'db'] },
        { day: 2, found: ['web'] },
        { day: 3, found: ['web'] },
      ],
      { web: 'open', db: 'withdrawn' },
      ['db'],
    ],
    [
      'is back, and open, if a run of a part of it lists it last',
      [
        { day: 1, found: ['web', 'db'] },
        { day: 2, found: ['web'] },
        { day: 3, found: ['web'] },
        { day: 4, found: [], clean: ['db'], partial: true },
      ],
      { web: 'open', db: 'open' },
      [],
    ],
    [
      'is back, and its finding gone, if a complete run lists it last',
      [
        { day: 1, found: ['web', 'db'] },
        { day: 2, found: ['web'] },
        { day: 3, found: ['web'] },
        { day: 4, found: ['web'], clean: ['db'] },
      ],
      { web: 'open', db: 'verified' },
      [],
    ],
    [
      'had its finding fixed before it was left out',
      [
        { day: 1, found: ['web', 'db'] },
        { day: 2, found: ['web'], clean: ['db'] },
        { day: 3, found: ['web'] },
        { day: 4, found: ['web'] },
      ],
      { web: 'open', db: 'verified' },
      ['db'],
    ],
  ])('%s', LAW, async (_name, runs, statuses, unused) => {
    for (const order of someOrders(runs)) {
      const [organization, connection] = [await engine.organization(), newId()];
      for (const run of order) await sync(organization, connection, run);
      const days = order.map(({ day }) => day).join(', ');
      expect({ days, statuses: await statusByAsset(organization), retired: await retired(organization) }).toEqual({ days, statuses, retired: unused });
    }
  });

  it('is the same for any order of runs', LAW, async () => {
    const names = ['web', 'db', 'mail'];
    const run = fc.record({ found: fc.subarray(names), clean: fc.subarray(names), partial: fc.boolean() });
    await fc.assert(
      fc.asyncProperty(fc.array(run, { minLength: 5, maxLength: 5 }), fc.shuffledSubarray([0, 1, 2, 3, 4], { minLength: 5 }), async (all, order) => {
        const [forward, shuffled] = [await engine.organization(), await engine.organization()];
        const days = all.map(({ found, clean, partial }, index) => ({ day: index + 1, found, clean: clean.filter((name) => !found.includes(name)), partial }));
        const connection = newId();
        for (const day of days) await sync(forward, connection, day);
        for (const index of order) await sync(shuffled, connection, days[index] as Run);
        expect(await stateOf(shuffled)).toEqual(await stateOf(forward));
      }),
      histories(4),
    );
  });

  it('is in use again when a late run of any source lists it after that source had left it out', async () => {
    const [one, other] = [newId(), newId()];
    for (const day of [1, 2, 3]) await sync(org, one, { day, found: day === 1 ? ['web', 'db'] : ['web'] });
    for (const day of [1, 2, 5]) await sync(org, other, { day, found: day === 1 ? ['web', 'db'] : ['web'] });
    expect(await retired()).toEqual(['db']);
    await sync(org, one, { day: 4, found: ['web', 'db'] });
    expect(await retired()).toEqual([]);
    expect(await statusByAsset()).toEqual({ web: 'open', db: 'open' });
  });

  it('is in use if the last run that left it out comes before one that lists it, however late they arrive', async () => {
    const connection = newId();
    for (const [day, ...found] of [
      [1, 'web', 'db'],
      [2, 'web'],
      [6, 'web'],
      [4, 'web'],
      [5, 'web', 'db'],
    ] as const)
      await sync(org, connection, { day, found });
    expect(await retired()).toEqual([]);
    expect(await statusByAsset()).toEqual({ web: 'open', db: 'open' });
  });

  it.each([true, false])('is in use if another source has it that looked earlier (partial: %s)', async (partial) => {
    const [one, other] = [newId(), newId()];
    for (const day of [1, 2, 5]) await sync(org, one, { day, found: day === 1 ? ['web', 'db'] : ['web'] });
    expect(await retired()).toEqual(['db']);
    await sync(org, other, { day: 4, found: ['web', 'db'], partial });
    expect(await retired()).toEqual([]);
  });

  it('stays in use after a person has put it back', async () => {
    const connection = newId();
    for (const day of [1, 2, 4]) await sync(org, connection, { day, found: day === 1 ? ['web', 'db'] : ['web'] });
    await engine.admin().query('update assets set retired_at = null where org_id = $1', [org]);
    await sync(org, connection, { day: 3, found: ['web'] });
    expect(await retired()).toEqual([]);
  });
});

describe('an asset that reports of mostly the same assets leave out', () => {
  it.each<[string, Run[], Record<string, string>]>([
    [
      'stays if it was listed in between',
      [
        { day: 1, found: ['web', 'mail', 'db'] },
        { day: 2, found: ['web', 'mail'] },
        { day: 3, found: ['web', 'mail', 'db'] },
        { day: 4, found: ['web', 'mail'] },
      ],
      { web: 'open', mail: 'open', db: 'open' },
    ],
    [
      'is gone if the last two left it out',
      [
        { day: 1, found: ['web', 'mail', 'db'] },
        { day: 2, found: ['web', 'mail'] },
        { day: 3, found: ['web', 'mail'] },
      ],
      { web: 'open', mail: 'open', db: 'withdrawn' },
    ],
    [
      'stays if the others are of another part of the network',
      [
        { day: 1, found: ['web', 'mail', 'db'] },
        { day: 2, found: ['a', 'b'] },
        { day: 3, found: ['a', 'b'] },
        { day: 4, found: ['a', 'db'] },
      ],
      { web: 'open', mail: 'open', db: 'open', a: 'open', b: 'open' },
    ],
  ])('%s', LAW, async (_name, runs, statuses) => {
    for (const order of someOrders(runs)) {
      const organization = await engine.organization();
      for (const run of order) await upload(organization, run);
      const days = order.map(({ day }) => day).join(', ');
      expect({ days, statuses: await statusByAsset(organization) }).toEqual({ days, statuses });
    }
  });

  it('is the same for any order of reports', LAW, async () => {
    const run = fc.record({ found: fc.subarray(['web', 'db', 'mail', 'proxy']), partial: fc.boolean() });
    await fc.assert(
      fc.asyncProperty(fc.array(run, { minLength: 5, maxLength: 5 }), fc.shuffledSubarray([0, 1, 2, 3, 4], { minLength: 5 }), async (all, order) => {
        const [forward, shuffled] = [await engine.organization(), await engine.organization()];
        for (const [index, one] of all.entries()) await upload(forward, { ...one, day: index + 1 });
        for (const index of order) await upload(shuffled, { ...(all[index] as Omit<Run, 'day'>), day: index + 1 });
        expect(await stateOf(shuffled)).toEqual(await stateOf(forward));
      }),
      histories(4),
    );
  });
});
