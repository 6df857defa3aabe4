import type { Asset, Observation } from '@rrs/scan-reports';
import { describe, expect, it } from 'vitest';
import { seen, useImports } from '../../testing/findings/imports.ts';

const engine = useImports();
const repository: Asset = { type: 'repository', name: 'https://git.example.com/shop' };
const on = (ref: string): Asset => ({ ...repository, ref });
const inLine = (asset: Asset, n: number, rule = 'eval') => seen({ asset, rule, location: { path: `src/file${n}.ts`, line: n } });

/** Rows of the organization in each table that has any. */
async function rowsIn(org: string): Promise<Record<string, number>> {
  const tables = await engine
    .admin()
    .query<{ name: string }>(
      `select c.table_name as name from information_schema.columns c join information_schema.tables t using (table_schema, table_name) where c.table_schema = 'rrs' and c.column_name = 'org_id' and t.table_type = 'BASE TABLE'`,
    );
  const counts = tables.rows.map(({ name }) => `select '${name}' as name, count(*)::int as count from "${name}" where org_id = $1`);
  const { rows } = await engine.admin().query<{ name: string; count: number }>(counts.join(' union all '), [org]);
  return Object.fromEntries(rows.filter(({ count }) => count > 0).map(({ name, count }) => [name, count]));
}

/** The rows that pull requests add to a repository of which the main branch has `size` findings. Each fixes one, and has one of its own. */
async function addedBy(requests: number, size: number): Promise<Record<string, number>> {
  const org = await engine.organization();
  const scan = async (asset: Asset, own: readonly number[], hour: number) => {
    const first = own.length === 0 ? 0 : 1;
    const known = Array.from({ length: size - first }, (_, n) => inLine(asset, n + first));
    const scope = { coverage: 'complete', started_at: new Date(Date.UTC(2026, 0, 1, hour)).toISOString() } as const;
    const row = await engine.run(org, [...known, ...own.map((n) => inLine(asset, n, `own-${n}`)), { run: { asset } }], { scope });
    expect(row).toMatchObject({ status: 'succeeded', closed: 0 });
  };
  await scan(on('main'), [], 0);
  const before = await rowsIn(org);
  for (let n = 1; n <= requests; n++) await scan(on(`refs/pull/${n}/merge`), [n], n);
  const after = await rowsIn(org);
  return Object.fromEntries(Object.entries(after).flatMap(([name, count]) => (count === before[name] ? [] : [[name, count - (before[name] ?? 0)]])));
}

// The promise is about 50 pull requests of a repository with 2,000 findings. What they add does not depend on how many it has.
it('pull requests add only what they have themselves, however many findings the repository has', async () => {
  const added = await addedBy(5, 20);
  expect(added).toMatchObject({ findings: 5, sightings: 5, asset_tracks: 5, run_assets: 5, source_coverage: 5, imports: 5 });
  expect(added).not.toHaveProperty('occurrences');
  expect(added).not.toHaveProperty('finding_history');
  expect(await addedBy(5, 400)).toEqual(added);
});

it('what a pull request says of a finding does not matter once the main branch has it, in either order', async () => {
  const scans = [
    [on('refs/pull/1/merge'), 'critical', 10],
    [on('main'), 'low', 12],
  ] as const;
  const outcomes = [];
  for (const order of [scans, scans.toReversed()]) {
    const org = await engine.organization();
    for (const [asset, severity, day] of order) {
      const scope = { coverage: 'complete', started_at: new Date(Date.UTC(2026, 0, day)).toISOString() } as const;
      await engine.run(org, [{ ...inLine(asset, 1), severity }, { run: { asset } }], { scope });
    }
    const { rows } = await engine
      .admin()
      .query('select listed, severity, source_severity, severity_disputed, first_seen, due_at, risk_score from findings where org_id = $1', [org]);
    outcomes.push(rows);
  }
  expect(outcomes[0]).toMatchObject([{ listed: true, severity: 2, source_severity: 2, severity_disputed: false }]);
  expect(outcomes[1]).toEqual(outcomes[0]);
});

describe('who saw a finding, and when, follows from the tracks that count', () => {
  const request = on('refs/pull/1/merge');
  const main = on('main');
  const scan = (asset: Asset, source: 'tool_a' | 'tool_b', day: number, given: Partial<Observation> = {}) => ({ asset, source, day, given });
  type Scan = ReturnType<typeof scan>;

  async function stateAfter(scans: readonly Scan[]): Promise<unknown> {
    const org = await engine.organization();
    for (const { asset, source, day, given } of scans) {
      const scope = { coverage: 'complete', started_at: new Date(Date.UTC(2026, 0, day)).toISOString() } as const;
      await engine.run(org, [{ ...inLine(asset, 1), ...given }, { run: { asset } }], { source, scope });
    }
    const { rows } = await engine.admin().query(
      `select f.listed, f.first_seen, f.last_seen, f.clock_from, f.due_at, f.title, f.severity, f.cwes, f.search::text,
         (select array_agg(o.provider order by o.provider) from sources o where o.org_id = f.org_id and o.id = any(f.source_ids)) as sources
       from findings f where f.org_id = $1`,
      [org],
    );
    return rows;
  }

  it.each<[string, Scan[], object]>([
    [
      'if a pull request was scanned later, by another tool',
      [scan(request, 'tool_b', 14, { severity: 'critical', cwes: [20] }), scan(main, 'tool_a', 12)],
      { last_seen: new Date('2026-01-12'), first_seen: new Date('2026-01-12'), sources: ['tool_a'], cwes: [] },
    ],
    [
      'if the report states when the tool first saw it',
      [scan(request, 'tool_b', 10, { first_seen: new Date('2026-01-01') }), scan(main, 'tool_a', 12, { first_seen: new Date('2026-01-08') })],
      { last_seen: new Date('2026-01-12'), first_seen: new Date('2026-01-08'), sources: ['tool_a'] },
    ],
    [
      'if two tools see it on the main branch',
      [scan(request, 'tool_b', 14), scan(main, 'tool_a', 11), scan(main, 'tool_b', 12, { severity: 'low' })],
      { last_seen: new Date('2026-01-12'), first_seen: new Date('2026-01-11'), sources: ['tool_a', 'tool_b'] },
    ],
    [
      'if the main branch no longer has it',
      [scan(request, 'tool_b', 14, { severity: 'critical', title: 'Worse' }), scan(main, 'tool_a', 11), scan(main, 'tool_a', 12, { rule: 'other' })],
      { last_seen: new Date('2026-01-11'), sources: ['tool_a'], severity: 4, title: 'A weakness' },
    ],
  ])('%s, in any order', async (_name, scans, expected) => {
    const [request, ...main] = scans as [Scan, ...Scan[]];
    const [first, ...others] = await Promise.all([
      stateAfter([...main, request]),
      stateAfter([request, ...main]),
      stateAfter([...main.slice(0, 1), request, ...main.slice(1)]),
    ]);
    expect(first).toContainEqual(expect.objectContaining({ listed: true, ...expected }));
    for (const other of others) expect(other).toEqual(first);
  });
});
