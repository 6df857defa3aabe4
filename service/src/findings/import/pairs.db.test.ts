import type { Asset } from '@rrs/scan-reports';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { withClient } from '../../db/connection/with-client.ts';
import { newId } from '../../shared/ids.ts';
import { type Item, inLib, seen, useImports } from '../../testing/findings/imports.ts';

const HOSTS = 250;
/** Comparing each host with each other one takes 62,500 rows. */
const MOST_ROWS = 12_500;

interface Plan {
  'Node Type': string;
  'Subplan Name'?: string;
  Alias?: string;
  'Join Filter'?: string;
  'Actual Rows': number;
  'Actual Loops': number;
  'Rows Removed by Filter'?: number;
  'Rows Removed by Join Filter'?: number;
  Plans?: Plan[];
}

const emit = vi.spyOn(pg.Client.prototype, 'emit');
afterAll(() => emit.mockRestore());

type Engine = ReturnType<typeof useImports>;

async function changeSettings(engine: Engine, settings: Record<string, string>): Promise<void> {
  const { rows } = await engine.admin().query('select quote_ident(current_database()) as name');
  for (const [name, value] of Object.entries(settings)) await engine.admin().query(`alter database ${rows[0].name} set ${name} = '${value}'`);
}

/** The server tells every connection how each of its statements ran. */
const EXPLAINED = {
  session_preload_libraries: 'auto_explain',
  'auto_explain.log_min_duration': '0',
  'auto_explain.log_analyze': 'on',
  'auto_explain.log_timing': 'off',
  'auto_explain.log_level': 'notice',
  'auto_explain.log_format': 'json',
  'auto_explain.log_parameter_max_length': '0',
};

interface Step {
  rows: number;
  step: string;
}

/** The step of a plan that looked at more rows than the others. */
function busiestStep({ Plans = [], ...own }: Plan): Step {
  const each = own['Actual Rows'] + (own['Rows Removed by Filter'] ?? 0) + (own['Rows Removed by Join Filter'] ?? 0);
  const { 'Node Type': kind, 'Subplan Name': part = '', Alias: alias = '', 'Join Filter': filter = '' } = own;
  const steps = [{ rows: each * own['Actual Loops'], step: [kind, part, alias, filter].join(' ') }, ...Plans.map(busiestStep)];
  return steps.reduce((most, one) => (one.rows > most.rows ? one : most));
}

function busiestSteps(): (Step & { statement: string })[] {
  // The server has other notices, too.
  const plans = emit.mock.calls.flatMap(([event, notice]) => (event === 'notice' ? (/plan:\s+(\{.*\})/s.exec(notice.message)?.[1] ?? []) : []));
  return plans.map((text) => {
    const { 'Query Text': statement, Plan: plan } = JSON.parse(text);
    return { ...busiestStep(plan), statement: statement.replace(/\s+/g, ' ').trim() };
  });
}

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

function expectNoPairs(): void {
  const busiest = busiestSteps().sort((one, other) => other.rows - one.rows);
  expect(busiest.length).toBeGreaterThan(500);
  expect(busiest.filter(({ rows }) => rows > MOST_ROWS)).toEqual([]);
}

/** Statistics are gathered once a minute at best, and of all organizations together, so the planner may expect few rows where there are many. */
describe('with statistics of small organizations', () => {
  const engine = useImports();
  beforeAll(() => changeSettings(engine, EXPLAINED));

  it('no statement of an import compares each asset or finding with each other one', { timeout: 120_000 }, async () => {
    // Autovacuum may lock a table at the moment when an import gathers its statistics: see below.
    for (const table of STAGING) await engine.admin().query(`alter table ${table} set (autovacuum_enabled = off)`);
    for (let n = 0; n < 12; n++) await engine.run(await engine.organization(), on(all.slice(0, 20)), { scope: { coverage: 'complete' } });
    emit.mockClear();
    await importMany(engine);
    expectNoPairs();
  });
});

/** While autovacuum or another import has the staging tables locked, an import goes on without statistics of its own rows. */
describe('without statistics of what is imported', () => {
  const engine = useImports();
  // In small tables, reading all rows is no worse than looking one up by an index. In large ones, the planner uses the index.
  beforeAll(() => changeSettings(engine, { ...EXPLAINED, enable_seqscan: 'off' }));

  it('no statement of an import compares each asset or finding with each other one', { timeout: 120_000 }, async () => {
    await withClient(engine.url(), async (other) => {
      await other.query('begin');
      for (const table of STAGING) await other.query(`lock table rrs.${table} in share update exclusive mode`);
      emit.mockClear();
      await importMany(engine);
    });
    expectNoPairs();
  });
});
