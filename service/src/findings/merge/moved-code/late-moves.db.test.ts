import type { Asset } from '@rrs/scan-reports';
import { expect, it } from 'vitest';
import { seen, useImports } from '../../../testing/findings/imports.ts';
import { LAW } from '../../../testing/findings/laws.ts';
import { someOrders } from '../../../testing/findings/orders.ts';

const engine = useImports();
const repository: Asset = { type: 'repository', name: 'https://git.example.com/shop', ref: 'main' };
type Spot = [line: number, snippet?: string];

/** Imports complete reports of one file, each a day after the one before, in the given order. */
async function sendAll(reports: readonly Spot[][], order: readonly number[]): Promise<string> {
  const org = await engine.organization();
  for (const day of order) {
    const spots = (reports[day] ?? []).map(([line, snippet]) =>
      seen({ asset: repository, rule: 'eval', location: { path: 'src/a.ts', line, ...(snippet ? { snippet } : {}) } }),
    );
    const scope = { coverage: 'complete', started_at: new Date(Date.UTC(2026, 0, 1 + day)).toISOString() } as const;
    expect(await engine.run(org, [...spots, { run: { asset: repository } }], { scope })).toMatchObject({ status: 'succeeded' });
  }
  return org;
}

it.each<[string, Spot[][]]>([
  ['two, of which one is fixed', [[[10], [20]], [[13], [23]], [[13]]]],
  ['one that gets another above it, which is fixed', [[[20]], [[10], [22]], [[12], [24]], [[24]]]],
  [
    'the same with the code itself',
    [
      [[20, 'a']],
      [
        [10, 'b'],
        [22, 'a'],
      ],
      [
        [12, 'b'],
        [24, 'a'],
      ],
      [[26, 'a']],
    ],
  ],
])('code that moved before it was fixed is one finding in every order of the reports: %s', LAW, async (_name, reports) => {
  const days = [...reports.keys()];
  const expected = await engine.stateOf(await sendAll(reports, days), { lawful: true });
  expect(expected.findings).toHaveLength(2);
  for (const order of someOrders(days)) expect(await engine.stateOf(await sendAll(reports, order), { lawful: true }), JSON.stringify(order)).toEqual(expected);
});

it('what only a partial report has found is not what an older complete one found elsewhere in the file, in any order', async () => {
  const reports: { line: number; day: number; coverage: 'complete' | 'partial' }[] = [
    { line: 200, day: 3, coverage: 'complete' },
    { line: 40, day: 12, coverage: 'partial' },
  ];
  for (const order of [reports, reports.toReversed()]) {
    const org = await engine.organization();
    for (const { line, day, coverage } of order) {
      const found = seen({ asset: repository, rule: 'eval', location: { path: 'src/a.ts', line } });
      await engine.run(org, [found, { run: { asset: repository } }], { scope: { coverage, started_at: new Date(Date.UTC(2026, 0, day)).toISOString() } });
    }
    const { rows } = await engine.admin().query("select location->'line' as line, status from findings where org_id = $1 order by 1", [org]);
    expect(rows).toEqual([
      { line: 40, status: 'open' },
      { line: 200, status: 'open' },
    ]);
  }
});
