import type { Asset, Observation } from '@rrs/scan-reports';
import { beforeEach, describe, expect, it } from 'vitest';
import { type ImportOptions, seen } from '../../../testing/findings/imports.ts';
import { useImportsWithApi } from '../../../testing/findings/imports-with-api.ts';

const service = useImportsWithApi();
const { get, send, engine } = service;

let count = 0;
let asset: Asset;
/** Ids of one vulnerability, as far as its aliases count. */
let ids: Record<'cve' | 'ghsa' | 'snyk', string>;
beforeEach(() => {
  count++;
  asset = { type: 'repository', name: `acme/apart-${count}` };
  ids = { cve: `CVE-2026-${60_000 + count}`, ghsa: `GHSA-cccc-dddd-${String(count).padStart(4, '0')}`, snyk: `SNYK-JS-APART-${count}` };
});

type Id = keyof typeof ids;
const severities = { cve: 'low', ghsa: 'critical', snyk: 'medium' } as const;
const record = (id: Id, given: Partial<Observation> = {}): Observation =>
  seen({ asset, vulnerability_ids: [ids[id]], title: `about ${id}`, severity: severities[id], location: { component: 'npm:lodashx', version: '1' }, ...given });
const scan = (items: readonly Observation[], day: number, source: ImportOptions['source'] = 'tool_a') => service.scan(asset, items, day, source);
const add = async (alias: Id, vulnerability: Id = 'cve') =>
  expect(await send('POST', '/vulnerability-aliases', { alias: ids[alias], vulnerability: ids[vulnerability], reason: 'the advisory says so' })).toMatchObject({
    status: 201,
  });
const revoke = async (alias: Id) =>
  expect(await send('POST', `/vulnerability-aliases/${ids[alias]}/revoke`, { reason: 'another one' })).toMatchObject({ status: 200 });

interface Row {
  id: string;
  weakness: string;
  status: string;
  severity: number;
  title: string;
  named: string[];
  seen_by: string[];
}
async function rows(): Promise<Row[]> {
  const { rows: found } = await engine.admin().query<Row>(
    `select f.id, f.weakness, f.status, f.severity, f.title, f.vulnerability_ids as named,
       array(select o.provider from sightings s join sources o on o.org_id = s.org_id and o.id = s.source_id where s.org_id = f.org_id and s.finding_id = f.id and s.state = 'present' order by 1) as seen_by
     from findings f join assets a on a.org_id = f.org_id and a.id = f.asset_id where f.org_id = $1 and a.name like $2 and f.merged_into is null`,
    [service.api().ours.id, `%apart-${count}`],
  );
  return found;
}
/** Each finding of the asset: the id it is kept under, its status, all ids it shows, and the tools that see it. */
const findings = async () => {
  const nameOf = new Map(Object.entries(ids).map(([name, id]) => [id, name]));
  return (await rows())
    .map(({ weakness, status, named, seen_by }) => `${nameOf.get(weakness)} ${status} (${named.map((id) => nameOf.get(id)).join(', ')}) ${seen_by.join(', ')}`)
    .sort();
};
const values = async () => (await rows()).map(({ title, severity }) => `${title} ${severity}`).sort();
const open = (...names: Id[]) => names.sort().map((id) => `${id} open (${id}) tool_a`);
const all: readonly Id[] = ['cve', 'ghsa', 'snyk'];
const orders = all.flatMap((one) => all.filter((id) => id !== one).map((two) => [one, two, ...all.filter((id) => id !== one && id !== two)] as [Id, Id, Id]));

describe('a source that reports several ids of an alias that is revoked keeps a finding of each', () => {
  it.each([['cve', 'ghsa'] as const, ['ghsa', 'cve'] as const])('if its findings were merged, the one of %s first', async (first, second) => {
    await scan([record(first)], 1);
    await scan([record(first), record(second)], 2);
    await add('ghsa');
    expect(await findings()).toEqual(['cve open (cve, ghsa) tool_a']);
    await revoke('ghsa');
    expect(await findings()).toEqual(open('cve', 'ghsa'));
    expect(await values()).toEqual(['about cve 2', 'about ghsa 5']);
  });

  it.each([['cve', 'ghsa'] as const, ['ghsa', 'cve'] as const])(
    'if a report has repeated both while they were one, the one of %s first',
    async (first, second) => {
      await scan([record(first)], 1);
      await scan([record(first), record(second)], 1);
      await add('ghsa');
      await scan([record('ghsa'), record('cve')], 2);
      await revoke('ghsa');
      expect(await findings()).toEqual(open('cve', 'ghsa'));
      expect(await values()).toEqual(['about cve 2', 'about ghsa 5']);
      // A report from before the revocation closes nothing, and the next one changes nothing.
      for (const day of [2, 3]) {
        await scan([record('ghsa'), record('cve')], day);
        expect(await findings()).toEqual(open('cve', 'ghsa'));
      }
      expect(await values()).toEqual(['about cve 2', 'about ghsa 5']);
      await scan([record('cve', { location: { component: 'npm:lodashx', version: '2' } })], 4);
      expect((await findings()).map((line) => line.split(' (')[0])).toEqual(['cve open', 'ghsa verified']);
    },
  );

  it('if they were never two, and shows what it says about either of them of both until its next report', async () => {
    await scan([record('cve')], 1, 'tool_b');
    await scan([record('ghsa', { location: { component: 'npm:other' } })], 1, 'tool_b');
    await add('ghsa');
    await scan([record('ghsa', { external_id: 'X-1' }), record('cve', { external_id: 'X-2' })], 2);
    await revoke('ghsa');
    expect((await findings()).filter((line) => line.endsWith('tool_a') || line.includes('tool_a,'))).toEqual([
      'cve open (cve) tool_a, tool_b',
      'ghsa open (ghsa) tool_a',
    ]);
    expect(await values()).toContain('about ghsa 5');
    await scan([record('ghsa', { external_id: 'X-1' }), record('cve', { external_id: 'X-2' })], 3);
    expect((await findings()).filter((line) => line.includes('tool_a'))).toEqual(['cve open (cve) tool_a, tool_b', 'ghsa open (ghsa) tool_a']);
    expect(await values()).toEqual(['about cve 2', 'about ghsa 5', 'about ghsa 5']);
  });

  it('if the report has changed what it says while they were one', async () => {
    await scan([record('cve'), record('ghsa')], 1);
    await add('ghsa');
    await scan([record('cve', { severity: 'high' }), record('ghsa', { severity: 'high', title: 'changed' })], 2);
    await revoke('ghsa');
    expect(await findings()).toEqual(open('cve', 'ghsa'));
    await scan([record('cve', { severity: 'high' }), record('ghsa', { severity: 'high', title: 'changed' })], 3);
    expect(await findings()).toEqual(open('cve', 'ghsa'));
    expect(await values()).toEqual(['about cve 4', 'changed 4']);
  });

  it('but not of an id that each of its records names next to the vulnerability', async () => {
    const both = { vulnerability_ids: [ids.cve, ids.ghsa] };
    const at = (path: string) => record('cve', { ...both, location: { component: 'npm:lodashx', version: '1', path } });
    for (const day of [1, 2]) await scan([at('a/package-lock.json'), at('b/package-lock.json')], day);
    await revoke('ghsa');
    expect(await findings()).toEqual(['cve open (cve, ghsa) tool_a']);
    await scan([at('a/package-lock.json'), at('b/package-lock.json')], 3);
    expect(await findings()).toEqual(['cve open (cve, ghsa) tool_a']);
  });
});

describe.each([true, false])('three ids of which two are aliases, revoked one after the other, with a report in between: %s', (repeated) => {
  it.each(orders)('are three findings, reported in the order %s, %s, %s', async (one, two, three) => {
    const [first, second] = one === 'cve' ? (['ghsa', 'snyk'] as const) : (['snyk', 'ghsa'] as const);
    await scan([record(one)], 1);
    await scan([record(one), record(two)], 2);
    await scan([record(one), record(two), record(three)], 3);
    await add('ghsa');
    await add('snyk');
    expect(await findings()).toEqual(['cve open (cve, ghsa, snyk) tool_a']);
    if (repeated) await scan([record('cve'), record('ghsa'), record('snyk')], 4);
    await revoke(first);
    expect(await findings()).toEqual([`cve open (cve, ${second}) tool_a`, `${first} open (${first}) tool_a`].sort());
    await revoke(second);
    expect(await findings()).toEqual(open('cve', 'ghsa', 'snyk'));
    await scan([record('cve'), record('ghsa'), record('snyk')], 5);
    expect(await findings()).toEqual(open('cve', 'ghsa', 'snyk'));
    expect(await values()).toEqual(['about cve 2', 'about ghsa 5', 'about snyk 3']);
  });
});

describe('an alias of an alias', () => {
  it.each(orders)('goes with the vulnerability for which it counts, reported in the order %s, %s, %s', async (one, two, three) => {
    const by = { cve: 'tool_a', ghsa: 'tool_b', snyk: 'tool_c' } as const;
    for (const id of [one, two, three]) await scan([record(id)], 1, by[id]);
    await add('ghsa');
    await add('snyk');
    await revoke('ghsa');
    expect(await findings()).toEqual(['cve open (cve, snyk) tool_a, tool_c', 'ghsa open (ghsa) tool_b']);
    for (const id of all) await scan([record(id)], 2, by[id]);
    expect(await findings()).toEqual(['cve open (cve, snyk) tool_a, tool_c', 'ghsa open (ghsa) tool_b']);
    await revoke('snyk');
    expect(await findings()).toEqual(['cve open (cve) tool_a', 'ghsa open (ghsa) tool_b', 'snyk open (snyk) tool_c']);
  });
});

describe('two tools that report both ids', () => {
  it.each([true, false])('keep both findings, with a report in between: %s', async (repeated) => {
    for (const tool of ['tool_a', 'tool_b'] as const) await scan([record('ghsa'), record('cve')], 1, tool);
    await add('ghsa');
    if (repeated) for (const tool of ['tool_b', 'tool_a'] as const) await scan([record('cve'), record('ghsa')], 2, tool);
    await revoke('ghsa');
    expect(await findings()).toEqual(['cve open (cve) tool_a, tool_b', 'ghsa open (ghsa) tool_a, tool_b']);
  });
});

describe('a decision about the joint finding', () => {
  it.each([
    [['cve', 'ghsa'] as const, true],
    [['ghsa', 'cve'] as const, true],
    [['cve', 'ghsa'] as const, false],
    [['ghsa', 'cve'] as const, false],
  ])('stays with the one it was made on and leaves the other one open, first reported as %s, repeated: %s', async ([first, second], repeated) => {
    await scan([record(first)], 1);
    await scan([record(first), record(second)], 1);
    await add('ghsa');
    if (repeated) await scan([record('ghsa'), record('cve')], 2);
    const [joint] = await rows();
    await send('PATCH', `/findings/${joint?.id}`, { status: 'false_positive', justification: 'inaccurate_finding', reason: 'not our code' });
    await revoke('ghsa');
    const statuses = async () => (await rows()).map(({ id, status }) => [id === joint?.id, status]).sort();
    const expected = [
      [false, 'open'],
      [true, 'false_positive'],
    ];
    expect(await statuses()).toEqual(expected);
    await scan([record('ghsa'), record('cve')], 3);
    expect(await statuses()).toEqual(expected);
    expect(await get(`/findings/${joint?.id}`)).toMatchObject({ decisions: [{ state: 'active' }] });
  });

  it('leaves the one open that was never a finding of its own', async () => {
    await scan([record('ghsa', { location: { component: 'npm:other' } })], 1);
    await scan([record('cve')], 1, 'tool_b');
    await add('ghsa');
    await scan([record('ghsa'), record('cve')], 2);
    const joint = (await rows()).find(({ seen_by }) => seen_by.length === 2);
    await send('PATCH', `/findings/${joint?.id}`, { status: 'false_positive', justification: 'inaccurate_finding', reason: 'not our code' });
    await revoke('ghsa');
    expect((await findings()).filter((line) => line.includes('tool_a'))).toEqual(['cve false_positive (cve) tool_a, tool_b', 'ghsa open (ghsa) tool_a']);
  });
});
