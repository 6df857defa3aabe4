import type { Asset } from '@rrs/scan-reports';
import { beforeAll, describe, it } from 'vitest';
import { withClient } from '../../db/connection/with-client.ts';
import { newId } from '../../shared/ids.ts';
import { watchSteps } from '../../testing/findings/busiest-steps.ts';
import { type Engine, type Item, inLib, seen, useImports } from '../../testing/findings/imports.ts';

const HOSTS = 250;
/** Comparing each host with each other one takes 62,500 rows. */
const MOST_ROWS = 12_500;

const watch = watchSteps();

const host = (n: number): Asset => ({ type: 'host', name: `host${n}.example.com` });
const all = Array.from({ length: HOSTS }, (_, n) => host(n));
const on = (assets: readonly Asset[], given: Parameters<typeof seen>[0] = {}): Item[] => assets.map((asset) => seen({ asset, ...given }));
const twice = (path: string, other: string): Item[] => [path, other].flatMap((one) => on(all, { location: { component: 'lib', path: one } }));
/** Machines that may share a name, because nothing but their addresses tells them apart. */
const atAddresses = (net: number): Asset[] => all.map((asset, n) => ({ ...asset, identifiers: [{ kind: 'ip', value: `10.0.${net}.${n % 250}` }] }));
const manyOfOne = all.map((_, n) => inLib(`lib${n}`));
const STAGING = ['import_assets', 'import_rows', 'import_seen', 'import_groups', 'import_closures'];
const OTHER = ['CVE-2024-0002'];

/** One import after the other, each of hundreds of assets or findings. */
async function importMany(engine: Engine): Promise<void> {
  const org = await engine.organization();
  let day = 1;
  const scope = () => ({ coverage: 'complete', started_at: new Date(Date.UTC(2026, 0, day++)).toISOString() }) as const;
  const run = (items: Item[], source: 'tool_a' | 'tool_b' = 'tool_a') => engine.run(org, items, { scope: scope(), source });
  await run(on(all));
  await run(on(all));
  await run(on(all, { severity: 'critical' }));
  await run(on(all), 'tool_b');
  await engine.run(org, on(all, { severity: 'low' }), { scope: { coverage: 'complete', started_at: '2025-01-01T00:00:00Z' } });
  await run([...on(all), ...on(all, { vulnerability_ids: OTHER })]);
  await run(on(all, { vulnerability_ids: OTHER }));
  await run(on(all.slice(50), { vulnerability_ids: OTHER }));
  await run(on(all.slice(50), { vulnerability_ids: OTHER }));
  await run(twice('a', 'b'));
  await run(twice('b', 'c'));
  for (const from of [0, 0, 50]) await run(manyOfOne.slice(from));
  for (const [net, from] of [0, 1, 0, 1].map((third, n) => [third, n < 2 ? 0 : 50] as const)) await run(on(atAddresses(net).slice(from)));
  const connection = newId();
  for (const listed of [all, all, all.slice(50), all.slice(50)]) await engine.collect(org, connection, { items: on(listed), covers: listed, scope: scope() });
}

const expectNoPairs = (): void => watch.expectAtMost({ rows: MOST_ROWS, statements: 500 });

/** Statistics are gathered once a minute at best, and of all organizations together, so the planner may expect few rows where there are many. */
describe('with statistics of small organizations', () => {
  const engine = useImports();
  beforeAll(() => watch.explain(engine));

  it('no statement of an import compares each asset or finding with each other one', { timeout: 120_000 }, async () => {
    // Autovacuum may lock a table at the moment when an import gathers its statistics: see below.
    for (const table of STAGING) await engine.admin().query(`alter table ${table} set (autovacuum_enabled = off)`);
    for (let n = 0; n < 12; n++) await engine.run(await engine.organization(), on(all.slice(0, 20)), { scope: { coverage: 'complete' } });
    watch.forget();
    await importMany(engine);
    expectNoPairs();
  });
});

/** While autovacuum or another import has the staging tables locked, an import goes on without statistics of its own rows. */
describe('without statistics of what is imported', () => {
  const engine = useImports();
  // In small tables, reading all rows is no worse than looking one up by an index. In large ones, the planner uses the index.
  beforeAll(() => watch.explain(engine, { enable_seqscan: 'off' }));

  it('no statement of an import compares each asset or finding with each other one', { timeout: 120_000 }, async () => {
    await withClient(engine.url(), async (other) => {
      await other.query('begin');
      for (const table of STAGING) await other.query(`lock table rrs.${table} in share update exclusive mode`);
      watch.forget();
      await importMany(engine);
    });
    expectNoPairs();
  });
});
