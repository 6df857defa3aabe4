import { afterAll, beforeAll, expect, it } from 'vitest';
import { withClient } from '../db/connection/with-client.ts';
import { type Database, openDatabase } from '../db/database.ts';
import { newId } from '../shared/ids.ts';
import { createTestDatabase, type TestDatabase } from '../testing/postgres.ts';
import { aliasesOf } from './aliases.ts';

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
