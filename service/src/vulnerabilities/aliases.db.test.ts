import { sql } from 'kysely';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { withClient } from '../db/connection/with-client.ts';
import { type Database, openDatabase, type TenantTx } from '../db/database.ts';
import { systemActor } from '../shared/actor.ts';
import { newId } from '../shared/ids.ts';
import { createTestDatabase, type TestDatabase } from '../testing/postgres.ts';
import { aliasesOf, learnAliases } from './aliases.ts';
import { addAlias } from './manage-aliases.ts';

let database: TestDatabase;
let db: Database;
const [ours, theirs] = [newId(), newId()];
beforeAll(async () => {
  database = await createTestDatabase();
  await withClient(database.url, async (admin) => {
    await admin.query('set search_path = rrs');
    await admin.query('insert into organizations (id, slug, name) select id, id, id::text from unnest($1::uuid[]) id', [[ours, theirs]]);
    await admin.query(
      `insert into vulnerability_aliases (org_id, alias, weakness, origin) values
         ($1, 'GHSA-aaaa-aaaa-aaaa', 'CVE-2024-0001', 'knowledge'), ($1, 'SNYK-1', 'CVE-2024-0001', 'sources'), ($2, 'SNYK-2', 'CVE-2024-0001', 'sources')`,
      [ours, theirs],
    );
    await admin.query(
      `insert into vulnerabilities (id, aliases) values ('CVE-2024-0001', '{PYSEC-1}'), ('CVE-2024-0002', '{GHSA-two}'), ('CVE-2024-0003', '{GHSA-two}')`,
    );
  });
  db = openDatabase({ url: database.url, poolSize: 2 });
});
afterAll(async () => {
  await db?.close();
  await database?.drop();
});

it.each([
  ['CVE-2024-0001', ['CVE-2024-0001', 'GHSA-aaaa-aaaa-aaaa', 'PYSEC-1', 'SNYK-1']],
  ['GHSA-aaaa-aaaa-aaaa', ['CVE-2024-0001', 'GHSA-aaaa-aaaa-aaaa', 'PYSEC-1', 'SNYK-1']],
  ['PYSEC-1', ['CVE-2024-0001', 'GHSA-aaaa-aaaa-aaaa', 'PYSEC-1', 'SNYK-1']],
  ['CVE-2024-0002', ['CVE-2024-0002', 'GHSA-two']],
  ['GHSA-two', ['CVE-2024-0002', 'CVE-2024-0003', 'GHSA-two']],
  ['CVE-1999-0001', ['CVE-1999-0001']],
])('%s is also known as %j, from reports of the organization and from enrichment', async (id, same) => {
  const found = await db.withTenant({ orgId: ours }, (tx) => aliasesOf(tx, ours, [id]));
  expect(found.get(id)?.sort()).toEqual(same);
});

it('reading the aliases that enrichment knows does not read all vulnerabilities', async () => {
  await withClient(database.url, async (admin) => {
    await admin.query(`
      insert into rrs.vulnerabilities (id, aliases)
      select 'CVE-2020-' || n, case when n % 10 = 0 then array['GHSA-' || n] else '{}' end from generate_series(1, 20000) n`);
    await admin.query('analyze rrs.vulnerabilities');
  });
  const scanned = async (tx: TenantTx): Promise<number> => {
    const { rows } = await sql<{ rows: number }>`select pg_stat_get_xact_tuples_returned('vulnerabilities'::regclass)::int as rows`.execute(tx);
    return rows[0]?.rows ?? 0;
  };
  const reported = sql`select 'GHSA-' || n as weakness, '{}'::text[] as aliases from generate_series(1, 100) n`;
  await db.withTenant({ orgId: theirs }, async (tx) => {
    const { confirmed } = await learnAliases(tx, { orgId: theirs, provider: 'trivy', reported });
    expect(confirmed).toHaveLength(10);
    const follower = { prepare: async () => {}, reported: async () => [], adopt: async () => {}, separate: async () => {} };
    await addAlias(tx, systemActor(theirs, 'test'), follower, { alias: 'GHSA-200', vulnerability: 'CVE-2020-200', reason: 'the advisory says so' });
    expect(await scanned(tx)).toBe(0);
  });
});
