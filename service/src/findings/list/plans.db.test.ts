import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { withClient } from '../../db/connection/with-client.ts';
import { type Database, openDatabase, type TenantTx } from '../../db/database.ts';
import type { Position } from '../../db/pages.ts';
import { newId } from '../../shared/ids.ts';
import { seedRankedFindings, ZONE_SIZE, ZONE_VALUES, type Zone, zoneOf, zones } from '../../testing/findings/ranked-findings.ts';
import { createTestDatabase, type TestDatabase } from '../../testing/postgres.ts';
import { namesFor } from '../fields/names.ts';
import { forgetLookups } from './last-lookup.ts';
import { listFindings } from './list.ts';
import type { FindingFilter } from './prepare-filter.ts';

const FINDINGS = 200_000;
/** The short walk, the page itself and what the filter refers to. */
const WALKED = 3_500;
/** Reading a match takes a heap block and its share of an index. What sightings or links decide takes a lookup per finding as well. */
const PER_MATCH = 2;
const PER_LOOKUP = 11;

let database: TestDatabase;
let db: Database;
const [orgId, importId, workItemId] = [newId(), newId(), newId()];
beforeAll(async () => {
  database = await createTestDatabase();
  await withClient(database.url, async (admin) => {
    await admin.query('set search_path = rrs');
    await seedRankedFindings(admin, { orgId, importId, workItemId }, FINDINGS);
  });
  db = openDatabase({ url: database.url, poolSize: 2 });
}, 240_000);
afterAll(async () => {
  await db?.close();
  await database?.drop();
});

/** What the transaction has read so far: blocks of tables and indexes, and rows, by scans of tables or through indexes. */
async function readSoFar(tx: TenantTx): Promise<{ blocks: number; rows: number }> {
  const { rows } = await sql<{ blocks: number; rows: number }>`
    select sum(pg_stat_get_xact_blocks_fetched(oid))::float8 as blocks,
      sum(pg_stat_get_xact_tuples_fetched(oid) + case relkind when 'r' then pg_stat_get_xact_tuples_returned(oid) else 0 end)::float8 as rows
    from pg_class where relnamespace = 'rrs'::regnamespace`.execute(tx);
  return rows[0] ?? { blocks: 0, rows: 0 };
}

const PAGE = { limit: 50, total: 'none', position: null, seal: () => '' } as const;

/** Reads a page and returns the titles of its findings, and how many blocks and rows were read for it. */
function pageOf(
  filter: FindingFilter,
  sort: string,
  orgId: string,
  position: Position | null = null,
): Promise<{ titles: string[]; blocks: number; rows: number }> {
  // A filter that is searched for the first time takes longest.
  forgetLookups();
  return readPage(filter, sort, orgId, position);
}

function readPage(...[filter, sort, orgId, position = null]: Parameters<typeof pageOf>): ReturnType<typeof pageOf> {
  return db.withTenant({ orgId }, async (tx) => {
    const before = await readSoFar(tx);
    const { data } = await listFindings(tx, orgId, filter, { ...PAGE, sort, position });
    const after = await readSoFar(tx);
    return { titles: data.map(({ title }) => title), blocks: after.blocks - before.blocks, rows: after.rows - before.rows };
  });
}

const numbers = Array.from({ length: FINDINGS }, (_, n) => n + 1);
const byZone = Object.groupBy(numbers, (number) => zoneOf(number, FINDINGS));
/** The ids of findings grow with their numbers, too, so the order is known even if the sort column has the same value for many. */
const firstTitles = (zone: Zone, sort: string): string[] => {
  const all = byZone[zone] ?? [];
  const first = sort.startsWith('-') ? all.slice(-PAGE.limit).reverse() : all.slice(0, PAGE.limit);
  return first.map((number) => `Finding ${number}`);
};

/** All sort columns grow with the number of the finding, so two orders are enough to see a strategy, and all of them to see a lost index. */
const TWO_SORTS = ['risk_score', '-risk_score'];
const SORTS = ['risk_score', 'severity', 'first_seen', 'last_seen', 'created_at', 'updated_at', 'due_at'].flatMap((key) => [key, `-${key}`]);

/** Filters that match the findings of a zone, and nothing for the zone `none`. */
function filtersOf(zone: Zone): FindingFilter[] {
  const { status, type, cve, cwe, kind } = ZONE_VALUES[zone];
  return [
    { status: [status] },
    { asset_type: [type] },
    { cve: [cve] },
    { cwe: [cwe] },
    { asset: `asset-${zone}` },
    { owner: [zone] },
    { asset_tag: [zone] },
    { source: [zone] },
    ...(kind ? [{ source_kind: [kind] }] : []),
    { component: `lib-${zone}` },
    { tag: [zone] },
    { path: `src/${zone}` },
    { rule: [`rule-${zone}`] },
    { track: [`branch-${zone}`] },
    { q: `lib-${zone}` },
    { q: `src/${zone}` },
    { q: `everywhere ${cve}` },
    { q: `everywhere rule-${zone}` },
  ];
}

/** The same findings, by two filters: most findings match the second one. */
function pairsOf(zone: Zone): FindingFilter[] {
  return filtersOf(zone).map((filter, n) => ({ ...filter, ...(n % 2 === 0 ? { has_fix: zone !== 'spread' } : { not_component: ['lib-rest'] }) }));
}

const daysAgo = (days: number): string => new Date(Date.now() - days * 86_400_000).toISOString();
const minute = 1 / 1_440;
/** The first and the last findings, by the columns that the list can be sorted by. */
const RANGES: FindingFilter[] = [
  { first_seen_to: daysAgo(300 - ZONE_SIZE * minute) },
  { first_seen_from: daysAgo(300 - (FINDINGS - ZONE_SIZE) * minute) },
  { last_seen_to: daysAgo(299 - ZONE_SIZE * minute) },
  { last_seen_from: daysAgo(299 - (FINDINGS - ZONE_SIZE) * minute) },
  { created_to: daysAgo(300 - ZONE_SIZE * minute) },
  { created_from: daysAgo(300 - (FINDINGS - ZONE_SIZE) * minute), created_to: daysAgo(0) },
  { updated_from: daysAgo(298 - (FINDINGS - ZONE_SIZE) * minute) },
  { due_to: daysAgo(100 - ZONE_SIZE * minute) },
  { due_from: daysAgo(100 - (FINDINGS - ZONE_SIZE) * minute) },
  { risk_min: 97.5 },
  { epss_min: 0.975 },
  { epss_min: 1 },
  { first_seen_from: daysAgo(1) },
  { due_to: daysAgo(200) },
];
/** Flags, and filters that most findings match or that are bounded by the sort order. */
const OTHERS: FindingFilter[] = [
  {},
  { kev: true },
  { kev: false },
  { status: ['open'] },
  { not_status: ['open', 'verified'] },
  { assurance: ['scan_only'] },
  { assurance: ['declared'] },
  { overdue: true, assurance: ['scan_only'] },
  { overdue: true, status: ['verified'] },
  { fix_first: true },
  { fix_first: false },
  { fix_first: true, status: ['verified'] },
  { fix_first: true, cve: ['CVE-2024-10001'] },
  { not_source: ['rest'] },
  { not_source: ['low'] },
  { source_kind: ['import', 'connection'] },
  { source_kind: ['manual'], source: ['high'] },
  { not_asset_type: ['host'] },
  { not_tag: ['rest'] },
  { not_rule: ['rule-low'] },
  { not_path: ['src/low'] },
  { criticality: ['critical'] },
  { exposure: ['internet'] },
  { not_asset_tag: ['low'] },
  { connection_id: newId() },
  { new_since_track: 'branch-low' },
  { new_since_track: 'no-such-branch' },
  { new_since_track: 'default' },
  { track: ['default'] },
  { asset_id: newId() },
  { asset_id: newId(), asset_version: '1.4.2' },
  { import_id: importId },
  { import_id: newId() },
  { work_item_id: workItemId },
  { work_item_id: newId() },
  { has_work_item: true },
  { assignee: ['Nobody'] },
  { has_work_item: false },
  { acceptance_requested: true },
  { acceptance_requested: false },
  { acceptance_requested: true, severity: ['critical'], has_fix: false },
  { suppressed: true },
  { suppressed: false },
  { suppressed: true, cve: ['CVE-2024-10001'] },
  { has_fix: true },
  { has_fix: false },
  { severity_disputed: true },
  { severity_disputed: false },
  { q: 'everywhere' },
  { q: 'every' },
  { q: 'no-such-word' },
];

/** Tens of thousands of matches, all at one end of the list. From the other end, the short walk is in vain and then all of them are sorted. */
const MANY_AT_ONE_END: FindingFilter[] = [
  { severity: ['critical'] },
  { severity: ['unknown'] },
  { not_severity: ['high', 'medium', 'low', 'info', 'unknown'] },
  { severity: ['medium'], not_cve: ['CVE-2024-10001'] },
  { severity: ['critical'], status: ['open'] },
];
/** The short walk, and then each of up to 33,334 matches, which some versions of PostgreSQL read from an index and from the table. */
const MOST_OF_MANY = WALKED + 2 * 33_334;

const LOOKED_UP: readonly (keyof FindingFilter)[] = [
  'track',
  'suppressed',
  'has_work_item',
  'work_item_id',
  'assignee',
  'acceptance_requested',
  'not_asset_tag',
  'path',
  'not_path',
  'import_id',
  'new_since_track',
  'asset_version',
];

function mostRead(filter: FindingFilter): number {
  const perMatch = LOOKED_UP.some((name) => name in filter) ? PER_LOOKUP : PER_MATCH;
  return WALKED + (Object.keys(filter).length === 0 ? 0 : perMatch * ZONE_SIZE);
}

interface Expected {
  org?: string;
  sorts?: readonly string[];
  /** All findings of the page are in this zone. */
  zone?: Zone;
  found?: number;
  most?: number;
}

async function excessOf(filter: FindingFilter, { org = orgId, sorts = SORTS, zone, found, most = mostRead(filter) }: Expected = {}): Promise<string[]> {
  const excess: string[] = [];
  for (const sort of sorts) {
    const { titles, blocks, rows } = await pageOf(filter, sort, org);
    if (Math.max(blocks, rows) > most) excess.push(`${sort}: ${blocks} blocks and ${rows} rows, allowed are ${most}`);
    if (found !== undefined && titles.length !== found) excess.push(`${sort}: ${titles.length} findings`);
    if (zone !== undefined) expect(titles, sort).toEqual(firstTitles(zone, sort));
  }
  return excess;
}

const CALM = 6_000;

/** An organization in which the urgent findings are closed and the open ones are not urgent, except for a hundred in the middle of every order. */
let calm: Promise<string> | undefined;
function calmOrganization(): Promise<string> {
  calm ??= withClient(database.url, async (admin) => {
    const id = newId();
    await admin.query(`set search_path = rrs; set session_replication_role = replica`);
    await admin.query('insert into organizations (id, slug, name) values ($1, $2, $2)', [id, `calm-${id}`]);
    await admin.query(
      `insert into findings select made.* from (
         select *, status = 'open' as is_open, status = 'open' and row_number() over (order by id) between ${CALM / 2} and ${CALM / 2 + 199} as is_urgent
         from findings where org_id = $2 and status in ('open', 'verified') order by id limit ${CALM}) f
       cross join lateral jsonb_populate_record(null::findings, to_jsonb(f) || jsonb_build_object('org_id', $1::uuid, 'kev', false,
         'due_at', case when is_urgent or not is_open then now() - interval '1 year' else 'infinity' end)) made`,
      [id, orgId],
    );
    await admin.query('vacuum analyze findings');
    return id;
  });
  return calm;
}

const titled = (filters: FindingFilter[]) => filters.map((filter) => [JSON.stringify(filter), filter] as const);

describe.each(zones)('a page whose matches are in the zone "%s" is found with bounded reading', (zone) => {
  // One end in descending order is the other end in ascending order. What is all over the list, or not there, is as far from both ends in every order: a lost
  // index of a sort column fails the zone `low` and the pages below. Few values of the severity are the same for many findings.
  const sorts = zone === 'high' ? TWO_SORTS : zone === 'low' ? SORTS : [...TWO_SORTS, 'severity', '-severity'];
  it.each(titled(filtersOf(zone)))('with %s', async (_, filter) => {
    expect(await excessOf(filter, { sorts, zone })).toEqual([]);
  });
  it.each(titled(pairsOf(zone)))('with %s', async (_, filter) => {
    expect(await excessOf(filter, { sorts: TWO_SORTS, zone })).toEqual([]);
  });
});

it.each(SORTS)('the statements of a page without filters are planned once, sorted by %s', async (sort) => {
  await db.withTenant({ orgId }, async (tx) => {
    const read = async () => namesFor(tx, orgId, (await listFindings(tx, orgId, {}, { ...PAGE, sort })).data);
    const plans = async () =>
      (
        await sql<{ once: number; again: number }>`select sum(generic_plans)::int as once, sum(custom_plans)::int as again from pg_prepared_statements`.execute(
          tx,
        )
      ).rows[0];
    await read();
    const { once = 0, again } = (await plans()) ?? {};
    await read();
    expect(await plans()).toEqual({ once: once + 3, again });
  });
});

describe('a page is found with bounded reading, in every order', () => {
  it.each(titled([...RANGES, ...OTHERS]))('with %s', async (_, filter) => {
    expect(await excessOf(filter)).toEqual([]);
  });

  it.each(titled(MANY_AT_ONE_END))('with %s', async (_, filter) => {
    expect(await excessOf(filter, { most: MOST_OF_MANY })).toEqual([]);
  });

  it.each(titled([{ fix_first: true }, { overdue: true }]))('with %s, if urgent findings are closed and open ones are not urgent', async (_, filter) => {
    expect(await excessOf(filter, { org: await calmOrganization(), sorts: TWO_SORTS, found: 50, most: WALKED })).toEqual([]);
  });

  it('by walking on if the short walk found most of a page', async () => {
    // Of the 2,000 findings that follow, the last 1,500 include 37 matches.
    const position = { direction: 'next', value: String((100 * 4_500) / FINDINGS), id: '00000000-0000-0000-0000-000000000000' } as const;
    const { titles, blocks, rows } = await pageOf({ status: [ZONE_VALUES.spread.status] }, 'risk_score', orgId, position);
    expect(titles).toEqual(firstTitles('spread', 'risk_score'));
    expect(Math.max(blocks, rows)).toBeLessThan(6_000);
  });

  it('and is empty after the last match, if findings have changed since the cursor was issued', async () => {
    const last = { direction: 'next', value: '100', id: 'ffffffff-ffff-ffff-ffff-ffffffffffff' } as const;
    expect(await pageOf({ cve: [ZONE_VALUES.low.cve] }, 'risk_score', orgId, last)).toMatchObject({ titles: [] });
  });

  it('by looking matches up at once if there were few the last time, and in another way if there are many now', async () => {
    const again = () => readPage({ tag: ['from now on'] }, '-risk_score', orgId);
    const [first, second] = [await again(), await again()];
    expect([first.titles, second.titles]).toEqual([[], []]);
    expect(second.rows).toBeLessThan(20);
    expect(first.rows).toBeGreaterThan(1_000);
    await withClient(database.url, (admin) =>
      admin.query(
        `update rrs.findings set tags = '{from now on}', search = search || array_to_tsvector('{"t:from now on"}')
         where org_id = $1 and listed and split_part(title, ' ', 2)::int <= 6000`,
        [orgId],
      ),
    );
    const last = Array.from({ length: 50 }, (_, n) => `Finding ${6_000 - n}`);
    for (const { titles } of [await again(), await again(), await pageOf({ tag: ['from now on'] }, '-risk_score', orgId)]) expect(titles).toEqual(last);
  });

  it('by walking again as soon as there are many more matches than the last time', async () => {
    const tag = (from: number) =>
      withClient(database.url, (admin) =>
        admin.query(
          `update rrs.findings set tags = '{growing}', search = search || array_to_tsvector('{"t:growing"}')
           where org_id = $1 and listed and split_part(title, ' ', 2)::int > $2`,
          [orgId, from],
        ),
      );
    const again = () => readPage({ tag: ['growing'] }, '-risk_score', orgId);
    await tag(FINDINGS - 20);
    expect((await again()).titles).toHaveLength(20);
    await tag(FINDINGS - 2_000);
    const [first, second] = [await again(), await again()];
    expect(second.titles).toEqual(first.titles);
    expect(first.rows).toBeGreaterThan(2_000);
    expect(second.rows).toBeLessThan(1_000);
  });

  it('and fails the bound without an index', async () => {
    await withClient(database.url, (admin) => admin.query('drop index rrs.findings_by_facet'));
    expect((await excessOf({ cve: ['CVE-2024-10001'] })).length).toBeGreaterThan(0);
    await withClient(database.url, (admin) => admin.query('drop index rrs.findings_by_risk'));
    expect((await excessOf({})).length).toBeGreaterThan(0);
  });
});
