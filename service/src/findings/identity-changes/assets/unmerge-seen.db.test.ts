import type { Asset, Observation } from '@rrs/scan-reports';
import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import { type ImportOptions, seen } from '../../../testing/findings/imports.ts';
import { useImportsWithApi } from '../../../testing/findings/imports-with-api.ts';
import { histories, LAW } from '../../../testing/findings/laws.ts';

const service = useImportsWithApi();
const { get, send } = service;
const NEWEST = Math.floor(Date.now() / 86_400_000) - 1;
const dayOf = (day: number): string => new Date((NEWEST - 20 + day) * 86_400_000).toISOString();

type Side = 'one' | 'two';
let count = 0;
let ids: Partial<Record<Side, string>>;
beforeEach(() => {
  count++;
  ids = {};
});
const repository = (side: Side): Asset => ({ type: 'repository', name: `https://git.example.com/seen-${count}/${side}` });
const cve = (n: number): string => `CVE-2026-8${String(count).padStart(3, '0')}${n}`;
const found = (side: Side, n: number, path?: string): Observation =>
  seen({ asset: repository(side), vulnerability_ids: [cve(n)], location: { component: `lib-${n}`, ...(path === undefined ? {} : { path }) } });
const report = (side: Side, day: number, shown: readonly (number | Observation)[], source: ImportOptions['source'] = 'tool_a', track?: string) =>
  service.run([...shown.map((one) => (typeof one === 'number' ? found(side, one) : one)), { run: { asset: repository(side) } }], {
    source,
    scope: { coverage: 'complete', started_at: dayOf(day), ...(track === undefined ? {} : { track }) },
  });

interface Shown {
  id: string;
  status: string;
  vulnerability_ids: string[];
  first_seen: string;
  last_seen: string;
  sightings: { source: { provider: string }; state: string; last_seen: string; seen_by_import_id: string | null }[];
  decisions: { kind: string; state: string }[];
}
const assetOf = async (side: Side): Promise<string> => {
  ids[side] ??= (await get<{ data: { id: string }[] }>(`/assets?name=git.example.com/seen-${count}/${side}`)).data[0]?.id ?? '';
  return ids[side];
};
const findings = async (side: Side): Promise<Shown[]> => {
  const { data } = await get<{ data: { id: string }[] }>(`/findings?asset_id=${await assetOf(side)}&limit=100`);
  const shown = await Promise.all(data.map(({ id }) => get<Shown>(`/findings/${id}`)));
  return shown.toSorted((a, b) => String(a.vulnerability_ids).localeCompare(String(b.vulnerability_ids)));
};
const dayShown = (at: string): number => Math.floor(Date.parse(at) / 86_400_000) - (NEWEST - 20);
/** What each source says about the findings of a repository: `finding status: source state, first to last day`. */
const statements = async (side: Side): Promise<string[]> =>
  (await findings(side)).map(
    ({ vulnerability_ids: [id], status, sightings, first_seen }) =>
      `${id?.at(-1)} ${status} since ${dayShown(first_seen)}: ${sightings.map(({ source, state, last_seen }) => `${source.provider} ${state} ${dayShown(last_seen)}`).join(', ')}`,
  );
const find = async (side: Side, n: number): Promise<Shown> => {
  const one = (await findings(side)).find(({ vulnerability_ids }) => vulnerability_ids.includes(cve(n)));
  if (!one) throw new Error(`${side} has no finding ${n}`);
  return one;
};
const merge = async () => {
  const [into, id] = [await assetOf('one'), await assetOf('two')];
  expect(await send('POST', `/assets/${id}/merge`, { into, reason: 'one repository' })).toMatchObject({ status: 200, body: { id: into } });
};
const unmerge = async () =>
  expect(await send('POST', `/assets/${await assetOf('two')}/unmerge`, { reason: 'two repositories' })).toMatchObject({ status: 200 });

describe('after the merge of two assets is undone', () => {
  it('a finding of both was last seen when reports of its own asset showed it, so an older report of the other time proves nothing', async () => {
    await report('one', 2, [1, 2]);
    await report('two', 3, [1, 3]);
    await merge();
    await report('two', 7, [1, 3]);
    await unmerge();
    expect(await statements('one')).toEqual(['1 open since 2: tool_a present 2', '2 open since 2: tool_a present 2']);
    expect(await statements('two')).toEqual(['1 open since 3: tool_a present 7', '3 open since 3: tool_a present 7']);
    expect(await report('two', 5, [3])).toMatchObject({ closed: 0 });
    expect(await find('two', 1)).toMatchObject({ status: 'open' });
    expect(await report('one', 6, [2])).toMatchObject({ closed: 1 });
    expect(await find('one', 1)).toMatchObject({ status: 'verified' });
    expect(await report('two', 8, [3])).toMatchObject({ closed: 1 });
  });

  it('each asset keeps what its reports showed last, also if a later report of the other one showed it as well', async () => {
    await report('one', 2, [1]);
    await report('two', 3, [1]);
    await merge();
    await report('one', 6, [1]);
    await report('two', 9, [1]);
    await unmerge();
    expect([await statements('one'), await statements('two')]).toEqual([['1 open since 2: tool_a present 6'], ['1 open since 3: tool_a present 9']]);
    expect(await report('one', 5, [])).toMatchObject({ closed: 0 });
    expect(await report('two', 8, [])).toMatchObject({ closed: 0 });
  });

  it.each([
    ['one tool', 'tool_a'],
    ['two tools', 'tool_b'],
  ] as const)('both have what reports of both showed for the first time meanwhile, by %s', async (_, other) => {
    await report('one', 2, [2]);
    await report('two', 3, [3], other);
    await merge();
    await report('one', 4, [2, 9]);
    await report('two', 5, [3, 9], other);
    await unmerge();
    expect(await statements('one')).toEqual(['2 open since 2: tool_a present 4', '9 open since 4: tool_a present 4']);
    expect(await statements('two')).toEqual([`3 open since 3: ${other} present 5`, `9 open since 5: ${other} present 5`]);
    expect(await report('one', 6, [2])).toMatchObject({ closed: 1 });
    expect(await find('two', 9)).toMatchObject({ status: 'open' });
    expect(await report('two', 7, [3, 9], other)).toMatchObject({ created: 0, closed: 0 });
    const { data } = await get<{ data: { action: string; before: object; after: object }[] }>(`/findings/${(await find('two', 9)).id}/history`);
    expect(data.at(-1)).toMatchObject({ action: 'split' });
  });

  it('an asset also has findings of the other one that its own reports showed meanwhile', async () => {
    await report('one', 2, [2]);
    await report('two', 3, [3]);
    await merge();
    await report('one', 4, [2, 3]);
    await report('two', 5, [2, 3]);
    await unmerge();
    expect(await statements('one')).toEqual(['2 open since 2: tool_a present 4', '3 open since 4: tool_a present 4']);
    expect(await statements('two')).toEqual(['2 open since 5: tool_a present 5', '3 open since 3: tool_a present 5']);
  });

  it('a finding of both is reported where only reports of its own asset showed it, also on a track that it did not have before', async () => {
    await report('one', 3, [1, 2], 'tool_a', 'main');
    await report('one', 4, [2], 'tool_a', 'main');
    await report('two', 3, [1, 3], 'tool_a', 'staging');
    await merge();
    await report('one', 5, [1, 2], 'tool_a', 'staging');
    await unmerge();
    expect(await find('one', 1)).toMatchObject({ status: 'open', sightings: [{ state: 'absent' }, { state: 'present' }] });
    expect(await statements('two')).toEqual(['1 open since 3: tool_a present 3', '3 open since 3: tool_a present 3']);
  });

  it.each([
    ['both had it', [1, 3]],
    ['only the first one had it', [3]],
  ] as const)('a finding keeps the severity that reports of its own asset state, and new ones have a deadline: %s', async (_, known) => {
    const rated = (side: Side, severity: 'critical' | 'low') => ({ ...found(side, 1), severity });
    await report('one', 2, [rated('one', 'critical'), 2]);
    await report(
      'two',
      3,
      known.map((n) => (n === 1 ? rated('two', 'low') : n)),
    );
    await merge();
    await report('two', 4, [rated('two', 'low'), 3]);
    await unmerge();
    expect(await find('one', 1)).toMatchObject({ severity: 'critical' });
    expect(await find('two', 1)).toMatchObject({ severity: 'low', due_at: expect.stringMatching(/^20/) });
    await report('one', 5, [rated('one', 'critical'), 2]);
    await report('two', 6, [rated('two', 'low'), 3]);
    expect([await find('one', 1), await find('two', 1)]).toMatchObject([{ severity: 'critical' }, { severity: 'low' }]);
  });

  it.each([
    ['one', 'two'],
    ['two', 'one'],
  ] as const)('an earlier scan of the other one proves nothing about what a late report of %s showed first', async (side, other) => {
    await report('one', 1, [4]);
    await report('two', 1, [4]);
    await report(other, 9, [4], 'tool_b');
    await merge();
    await report(side, 7, [1, 4], 'tool_b');
    await unmerge();
    expect(await find(side, 1)).toMatchObject({ status: 'open' });
  });

  it('only the asset whose reports showed something new has it', async () => {
    await report('one', 2, [2]);
    await report('two', 3, [3]);
    await merge();
    await report('two', 4, [3, 8]);
    await report('one', 5, [2, 7]);
    await unmerge();
    expect((await statements('one')).map((one) => one[0])).toEqual(['2', '7']);
    expect((await statements('two')).map((one) => one[0])).toEqual(['3', '8']);
  });
});

describe('a decision about a finding of one of two assets, after their merge is undone', () => {
  const accepted = () => ({ status: 'risk_accepted', reason: 'for now', owner: 'ada', expires_at: new Date(Date.now() + 86_400_000).toISOString() });
  const decide = async (side: Side, n: number, body: object) =>
    expect(await send('PATCH', `/findings/${(await find(side, n)).id}`, body)).toMatchObject({ status: 200 });
  const falsePositive = { status: 'false_positive', justification: 'code_not_reachable' };

  it.each([
    ['false_positive', falsePositive],
    ['risk_accepted', accepted()],
  ] as const)('holds again if only reports of the other asset had ended it: %s', async (status, body) => {
    await report('one', 2, [1, 2]);
    await report('two', 3, [1, 3]);
    await decide('one', 1, body);
    await merge();
    await report('two', 5, [3]);
    await unmerge();
    expect(await find('one', 1)).toMatchObject({ status, decisions: [{ state: 'active' }] });
    expect(await find('two', 1)).toMatchObject({ status: 'verified', decisions: [] });
  });

  it.each([
    ['false_positive', falsePositive],
    ['risk_accepted', accepted()],
  ] as const)('holds again if only reports of the other asset had shown another place: %s', async (status, body) => {
    await report('one', 2, [found('one', 1, 'a/package-lock.json'), 2]);
    await report('two', 3, [3]);
    await decide('one', 1, body);
    await merge();
    await report('two', 5, [found('two', 1, 'b/package-lock.json'), 3]);
    expect(await find('one', 1)).toMatchObject({ status: 'open' });
    await unmerge();
    expect(await find('two', 1)).toMatchObject({ status: 'open' });
    expect(await find('one', 1)).toMatchObject({ status, decisions: [{ state: 'active' }] });
  });

  it('stays ended if a report of its own asset had ended it', async () => {
    await report('one', 2, [1, 2]);
    await report('two', 3, [1, 3]);
    await decide('one', 1, accepted());
    await merge();
    await report('two', 5, [1, 3]);
    await report('one', 6, [2]);
    await unmerge();
    expect(await find('one', 1)).toMatchObject({ status: 'verified' });
    expect(await find('two', 1)).toMatchObject({ status: 'open', decisions: [] });
  });
});

interface Report {
  side: Side;
  day: number;
  shown: number[];
  source: 'tool_a' | 'tool_b';
}
const history = fc.tuple(
  fc.uniqueArray(
    fc.record<Report>({
      side: fc.constantFrom('one', 'two'),
      day: fc.integer({ min: 2, max: 18 }),
      shown: fc.subarray([1, 2, 3]),
      source: fc.constantFrom('tool_a', 'tool_a', 'tool_b'),
    }),
    { minLength: 4, maxLength: 9, selector: ({ day }) => day },
  ),
  fc.nat(8),
  fc.nat(8),
);

it('two assets that were merged for a while have nothing that is wrongly proven, and hide nothing', LAW, async () => {
  expect(await send('PATCH', '/organization', { policy: { brake: { share: 1, count: 1_000_000 } } })).toMatchObject({ status: 200 });
  await fc.assert(
    fc.asyncProperty(history, async ([reports, a, b]) => {
      const [mergedAt = 0, separatedAt = 0] = [a, b].map((n) => n % reports.length).toSorted();
      const run = async (isMerged: boolean) => {
        count++;
        ids = {};
        for (const side of ['one', 'two'] as const) await report(side, 1, [4]);
        for (const [n, { side, day, shown, source }] of reports.entries()) {
          if (isMerged && n === mergedAt) await merge();
          await report(side, day, [...shown, 4], source);
          if (isMerged && n === separatedAt) await unmerge();
        }
        const of = async (side: Side) =>
          (await findings(side)).map(({ vulnerability_ids: [id], status }) => ({ id: `${side} ${id?.at(-1)}`, isOpen: status === 'open' }));
        return [...(await of('one')), ...(await of('two'))];
      };
      const [apart, merged] = [await run(false), await run(true)];
      const open = (all: typeof apart) => all.flatMap(({ id, isOpen }) => (isOpen ? [id] : []));
      expect(open(merged)).toEqual(expect.arrayContaining(open(apart)));
    }),
    histories(3),
  );
});
