import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Database, openDatabase, type TenantTx } from '../../db/database.ts';
import { newId } from '../../shared/ids.ts';
import { seedFindings } from '../../testing/findings/seed-findings.ts';
import { createTestDatabase, type TestDatabase, withClient } from '../../testing/postgres.ts';
import { listFindings } from './list.ts';
import type { FindingFilter } from './prepare-filter.ts';

const FINDINGS = 120_000;
/**
 * The cost of a page is bounded by the number of matches that are counted (at most 10,000), not by the number of findings. Suppressed findings and those
 * of a track are looked up in their sightings, one by one.
 */
const mostBlocks = (matches: number, { suppressed, track }: FindingFilter): number =>
  2_000 + (suppressed === undefined && track === undefined ? 3 : 9) * matches;

let database: TestDatabase;
let db: Database;
const orgId = newId();
const importId = newId();
beforeAll(async () => {
  database = await createTestDatabase();
  await withClient(database.url, async (admin) => {
    await admin.query('set search_path = rrs');
    await admin.query('insert into organizations (id, slug, name) values ($1, $2, $2)', [orgId, 'large']);
    await seedFindings(admin, orgId, { to: FINDINGS });
    await admin.query(
      `insert into sightings (org_id, finding_id, source_id, state, absence, absent_at, severity, suppressed, content, first_seen, last_seen)
       select org_id, id, source_ids[1], case when status = 'verified' then 'absent' else 'present' end, case when status = 'verified' then 'gone' end,
         case when status = 'verified' then last_seen end, severity, hashtext(id::text) % 10 = 0, identity_key, first_seen, last_seen from findings`,
    );
    await admin.query(`insert into asset_tracks (org_id, asset_id, n, name, kind, counts) select org_id, id, 0, 'main', 'default', true from assets`);
    await admin.query(
      `insert into asset_tracks (org_id, asset_id, n, name, kind, counts) select org_id, id, 1, 'pr-17', 'pull_request', false from assets order by id limit 3`,
    );
    await admin.query(
      `insert into sightings (org_id, finding_id, source_id, track, state, severity, content, first_seen, last_seen)
       select f.org_id, f.id, f.source_ids[1], 1, 'present', f.severity, f.identity_key, f.first_seen, f.last_seen
       from findings f join asset_tracks t on t.org_id = f.org_id and t.asset_id = f.asset_id and t.n = 1`,
    );
    await admin.query(`update findings set listed = false where id in (select finding_id from sightings where track = 1)`);
    await admin.query(
      `insert into imports (org_id, id, source_id, status, sha256, bytes, created_by, actor, finished_at)
       select $1, $2, source_ids[1], 'succeeded', '', 0, 'test', '{}', created_at from findings where risk_score > 99 limit 1`,
      [orgId, importId],
    );
    await admin.query(
      `insert into finding_history (org_id, finding_id, id, actor_type, actor_name, import_id, action)
       select org_id, id, new_id(), 'system', 'test', case when risk_score between 50 and 50.1 then $1::uuid else new_id() end, 'updated' from findings`,
      [importId],
    );
    await admin.query(
      `insert into decisions (org_id, finding_id, id, kind, state, person_name, owner, reason, expires_at, severity, kev, decided_at)
       select org_id, id, id, 'acceptance', case when hashtext(id::text) % 500 = 0 then 'requested' else 'active' end, 'Ada', 'Ada', 'x', now(), 4, false, now()
       from findings where hashtext(id::text) % 50 = 0`,
    );
    await admin.query('vacuum analyze');
  });
  db = openDatabase({ url: database.url, poolSize: 2 });
}, 240_000);
afterAll(async () => {
  await db?.close();
  await database?.drop();
});

async function blocksFetched(tx: TenantTx): Promise<number> {
  const { rows } = await sql<{ blocks: string }>`
    select sum(pg_stat_get_xact_blocks_fetched(oid)) as blocks from pg_class where relnamespace = 'rrs'::regnamespace`.execute(tx);
  return Number(rows[0]?.blocks);
}

/** How many blocks a page reads beyond what its number of matches allows. */
function excessOf(filter: FindingFilter, sort: string): Promise<number> {
  return db.withTenant({ orgId }, async (tx) => {
    const before = await blocksFetched(tx);
    const { page } = await listFindings(tx, orgId, filter, { limit: 50, sort, total: 'bounded', position: null, seal: () => '' });
    return (await blocksFetched(tx)) - before - mostBlocks(page.total?.count ?? 0, filter);
  });
}

const daysAgo = (days: number): string => new Date(Date.now() - days * 86_400_000).toISOString();
const FILTERS: FindingFilter[] = [
  {},
  { severity: ['critical'] },
  { severity: ['info', 'unknown'] },
  { status: ['open'] },
  { status: ['withdrawn'] },
  { source: ['nessus'] },
  { source: ['nobody'] },
  { asset_id: newId() },
  { asset: 'asset-12' },
  { asset: 'asset-' },
  { asset: 'nothing-of-this-name' },
  { asset_type: ['cloud_resource'] },
  { asset_type: ['package'] },
  { cve: ['CVE-2024-10007'] },
  { cve: ['CVE-1999-0001'] },
  { cwe: [79] },
  { component: 'curl-1' },
  { has_work_item: true },
  { has_work_item: false },
  { work_item_id: newId() },
  { kev: true },
  { kev: false },
  { epss_min: 0.9 },
  { epss_min: 0.1 },
  { risk_min: 99 },
  { risk_min: 50 },
  { overdue: true },
  { overdue: false },
  { acceptance_requested: true },
  { acceptance_requested: false },
  { acceptance_requested: true, severity: ['critical'], status: ['open'] },
  { suppressed: true },
  { suppressed: false },
  { suppressed: true, cve: ['CVE-2024-10007'] },
  { suppressed: false, status: ['open'], severity: ['critical'] },
  { assurance: ['declared'] },
  { overdue: true, assurance: ['scan_only', 'independent'] },
  { tag: ['team-0'] },
  { tag: ['no-such-team'] },
  { q: 'overflow' },
  { q: 'openssl-12' },
  { q: 'overflow cve-2024-10007' },
  { first_seen_from: daysAgo(3) },
  { first_seen_to: daysAgo(699) },
  { last_seen_from: daysAgo(3) },
  { created_from: daysAgo(300), created_to: daysAgo(299) },
  { updated_from: daysAgo(2) },
  { due_to: daysAgo(600) },
  { cve: ['GHSA-aaaa-bbbb-cccc'] },
  { component: 'org.example:curl-1' },
  { not_severity: ['critical', 'high', 'medium'] },
  { not_status: ['open', 'verified'] },
  { not_source: ['trivy'] },
  { not_source: ['trivy', 'nessus'] },
  { not_asset_type: ['host', 'container_image', 'repository', 'web_application'] },
  { not_tag: ['team-0'] },
  { not_cve: ['CVE-2024-10007'], severity: ['low'] },
  { track: ['main'] },
  { track: ['pr-17'] },
  { track: ['no-such-branch'] },
  { asset_id: newId(), asset_version: '1.4.2' },
  { owner: ['team-7'] },
  { owner: ['nobody'] },
  { criticality: ['critical'] },
  { criticality: ['medium'] },
  { exposure: ['internet'] },
  { asset_tag: ['pci'] },
  { not_asset_tag: ['pci'] },
  { import_id: importId },
  { import_id: newId() },
  { path: 'src/module-7' },
  { path: 'src/module-7/file-1.ts' },
  { path: 'src' },
  { path: 'nowhere' },
  { not_path: ['src/module-7'] },
  { rule: ['rule-7'] },
  { rule: ['no-such-rule'] },
  { not_rule: ['rule-7'] },
  { has_fix: true },
  { has_fix: false },
  { has_fix: false, severity: ['critical'] },
  { severity_disputed: true },
  { severity_disputed: false },
  { q: 'openss' },
  { q: 'over' },
  { q: 'cve-2024-1' },
  { q: 'openssl-12 1.2.3' },
  { q: 'RULE-7 src/mod' },
  { q: 'CWE-79 overflow' },
  { q: 'no-such-word' },
];
const SORTS = [
  '-risk_score',
  'risk_score',
  '-severity',
  'severity',
  '-first_seen',
  'first_seen',
  '-last_seen',
  'last_seen',
  '-created_at',
  'created_at',
  '-updated_at',
  'updated_at',
  '-due_at',
  'due_at',
];

/** Many matches, all at the far end of the sort order, for example old deadlines among the newest findings. No index serves every such pair. */
const FAR_END: Record<string, RegExp> = { due_to: /^-(first_seen|last_seen|created_at|updated_at)$/ };
const isFarEnd = (filter: FindingFilter, sort: string): boolean => Object.keys(filter).some((name) => FAR_END[name]?.test(sort) ?? false);

describe('a page of findings reads a bounded number of blocks', () => {
  it.each(FILTERS.map((filter) => [JSON.stringify(filter), filter] as const))('with %s, in every order', async (_, filter) => {
    const read: Record<string, number> = {};
    for (const sort of SORTS) if (!isFarEnd(filter, sort)) read[sort] = await excessOf(filter, sort);
    expect(Object.entries(read).filter(([, blocks]) => blocks > 0)).toEqual([]);
  });

  it('and fails the bound without an index', async () => {
    await withClient(database.url, (admin) => admin.query('drop index rrs.findings_by_facet'));
    expect(await excessOf({ cve: ['CVE-2024-10007'] }, '-risk_score')).toBeGreaterThan(0);
  });
});
