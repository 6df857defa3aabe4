import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
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
  // An advisory about several CVEs is an alias of none.
  ['CVE-2024-0002', ['CVE-2024-0002']],
  ['GHSA-two', ['GHSA-two']],
  ['CVE-1999-0001', ['CVE-1999-0001']],
])('%s is also known as %j, from reports of the organization and from enrichment', async (id, same) => {
  expect(await known(id)).toEqual(same.map((one) => [one, null]));
});

const known = async (id: string) => {
  const found = await db.withTenant({ orgId: ours }, (tx) => aliasesOf(tx, ours, [id]));
  return (found.get(id) ?? []).map(({ id: one, claimant }) => [one, claimant]).sort();
};

describe('an alias that only tools claim', () => {
  beforeAll(() =>
    withClient(database.url, async (admin) => {
      await admin.query('set search_path = rrs');
      await admin.query(
        `insert into alias_claims (org_id, provider, alias, weakness) values
           ($1, 'trivy', 'SNYK-10', 'CVE-2024-0010'), ($1, 'trivy', 'SNYK-1', 'CVE-2024-0010'),
           ($1, 'trivy', 'SNYK-11', 'CVE-2024-0011'), ($1, 'trivy', 'SNYK-11', 'CVE-2024-0012'),
           ($1, 'grype', 'SNYK-13', 'CVE-2024-0013'), ($1, 'trivy', 'SNYK-13', 'CVE-2024-0014'),
           ($1, 'trivy', 'SNYK-15', 'CVE-2024-0015')`,
        [ours],
      );
      await admin.query(
        `insert into vulnerability_aliases (org_id, alias, weakness, origin, revoked_at, revoked_by) values
           ($1, 'SNYK-15', 'CVE-2024-0015', 'claim', now(), 'Ada'), ($1, 'SNYK-16', 'CVE-2024-0016', 'knowledge', now(), 'Ada')`,
        [ours],
      );
      await admin.query(`insert into vulnerabilities (id, aliases) values ('CVE-2024-0016', '{SNYK-16}')`);
    }),
  );

  it.each<[string, string, [string, string | null][]]>([
    ['counts for the tool that claims it', 'CVE-2024-0010', [['SNYK-10', 'trivy']]],
    ['leads to the vulnerability for that tool', 'SNYK-10', [['CVE-2024-0010', 'trivy']]],
    [
      'does not lead from one vulnerability to another',
      'CVE-2024-0001',
      [
        ['GHSA-aaaa-aaaa-aaaa', null],
        ['PYSEC-1', null],
        ['SNYK-1', null],
      ],
    ],
    ['does not count if the tool contradicts itself', 'SNYK-11', []],
    ['does not count for the vulnerability either if the tool contradicts itself', 'CVE-2024-0011', []],
    [
      'means for each tool what that one says',
      'SNYK-13',
      [
        ['CVE-2024-0013', 'grype'],
        ['CVE-2024-0014', 'trivy'],
      ],
    ],
    ['means nothing to the tools of others', 'CVE-2024-0013', [['SNYK-13', 'grype']]],
    ['does not count if it was revoked', 'SNYK-15', []],
    ['does not count for the vulnerability either if it was revoked', 'CVE-2024-0015', []],
    ['does not count if it was revoked, although the knowledge sources know it', 'CVE-2024-0016', []],
  ])('%s: %s', async (_, id, others) => {
    expect(await known(id)).toEqual([[id, null], ...others].sort());
  });
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
