import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { withClient } from '../../db/connection/with-client.ts';
import { type Database, openDatabase } from '../../db/database.ts';
import { newId } from '../../shared/ids.ts';
import { seedFindings } from '../../testing/findings/seed-findings.ts';
import { createTestDatabase, type TestDatabase } from '../../testing/postgres.ts';
import { listFindings } from '../list/list.ts';
import type { FindingFilter } from '../list/prepare-filter.ts';
import { type FacetName, facetNames, readFacets } from './facets.ts';

let database: TestDatabase;
let db: Database;
const [orgId, other, report] = [newId(), newId(), newId()];
beforeAll(async () => {
  database = await createTestDatabase();
  await withClient(database.url, async (admin) => {
    await admin.query('set search_path = rrs');
    await admin.query(`insert into organizations (id, slug, name) values ($1, 'one', 'One'), ($2, 'two', 'Two')`, [orgId, other]);
    await seedFindings(admin, orgId, { to: 1_500 });
    await seedFindings(admin, other, { to: 300 });
    await admin.query(`update findings set listed = false where org_id = $1 and cwes = '{22}'`, [orgId]);
    // A connection and a report format with the same provider: some findings are in both.
    await admin.query(`update sources set kind = 'connection' where provider = 'nessus'`);
    await admin.query(`insert into sources (org_id, id, kind, provider) values ($1, $2, 'import', 'nessus')`, [orgId, report]);
    await admin.query(
      `update findings f set search = search || array_to_tsvector(array['c:' || s.name]) from sources s where s.kind = 'connection' and s.id = any(f.source_ids)`,
    );
    await admin.query(`update findings set source_ids = source_ids || $2::uuid where org_id = $1 and search @@ $$'p:nessus'$$ and severity = 4`, [
      orgId,
      report,
    ]);
    await admin.query(
      `insert into work_items (org_id, id, title, status, status_reason, created_by_name, closed_at) select $1, new_id(), s, s, 'why', 'Ada', case s when 'cancelled' then now() end from unnest('{open,cancelled}'::text[]) s`,
      [orgId],
    );
    await admin.query(
      `insert into work_item_findings (org_id, id, work_item_id, finding_id, linked_at, linked_by)
       select f.org_id, new_id(), w.id, f.id, now(), 'Ada' from findings f join work_items w on w.org_id = f.org_id where f.org_id = $1 and f.severity = 4 and (f.kev or w.status = 'cancelled')`,
      [orgId],
    );
    await admin.query('analyze');
  });
  db = openDatabase({ url: database.url, poolSize: 2 });
});
afterAll(async () => {
  await db?.close();
  await database?.drop();
});

const some = <T extends string>(...values: T[]) => fc.subarray(values, { minLength: 1 });
const filters: fc.Arbitrary<FindingFilter> = fc.record(
  {
    severity: some('critical', 'high', 'medium'),
    not_severity: some('low', 'info'),
    status: some('open', 'verified', 'risk_accepted'),
    source: some('nessus', 'TRIVY'),
    not_source: some('nessus'),
    source_kind: some('import', 'connection', 'manual'),
    asset_type: some('host', 'repository'),
    criticality: some('low', 'high'),
    exposure: some('internet'),
    assurance: some('scan_only', 'declared'),
    kev: fc.boolean(),
    has_fix: fc.boolean(),
    overdue: fc.boolean(),
    has_work_item: fc.boolean(),
    q: fc.constantFrom('overflow', 'openssl-0', 'nothing-like-this'),
    risk_min: fc.constantFrom(10, 70),
    tag: some('team-0', 'team-3'),
  },
  { requiredKeys: [] },
);

/** What a value replaces, as users read it in the description: the filter of the same name and its exclusion. */
const replaced = (name: FacetName, filter: FindingFilter): FindingFilter =>
  Object.fromEntries(Object.entries(filter).filter(([own]) => own !== name && own !== `not_${name}`));
const given = (name: FacetName, value: string): FindingFilter => ({ [name]: value === 'true' || value === 'false' ? value === 'true' : [value] });

async function totalOf(filter: FindingFilter): Promise<number> {
  const { page } = await db.withTenant({ orgId }, (tx) =>
    listFindings(tx, orgId, filter, { limit: 1, sort: '-risk_score', total: 'exact', position: null, seal: () => '' }),
  );
  return page.total?.count ?? Number.NaN;
}

it('counts for every value what the list has with this value, exactly or up to the limit', async () => {
  await fc.assert(
    fc.asyncProperty(filters, fc.subarray([...facetNames], { minLength: 1, maxLength: 2 }), fc.constantFrom(20, 10_000), async (filter, by, limit) => {
      const { total, data } = await db.withTenant({ orgId }, (tx) => readFacets(tx, orgId, { filter, by, limit }));
      const bounded = (count: number) => (count > limit ? { count: limit, relation: 'at_least' } : { count, relation: 'exact' });
      expect(total).toEqual(bounded(await totalOf(filter)));
      expect(Object.keys(data).sort()).toEqual([...by].sort());
      for (const name of by) {
        for (const { value, ...counted } of data[name] ?? []) {
          expect({ name, value, ...counted }).toEqual({ name, value, ...bounded(await totalOf({ ...replaced(name, filter), ...given(name, value) })) });
        }
      }
    }),
    { numRuns: 30 },
  );
});

it('has every finding once in facets with one value, and nothing of other organizations', async () => {
  const { total, data } = await db.withTenant({ orgId }, (tx) => readFacets(tx, orgId, { filter: {}, by: facetNames }));
  const sum = (name: FacetName): number => (data[name] ?? []).reduce((all, { count }) => all + count, 0);
  expect(total).toEqual({ count: await totalOf({}), relation: 'exact' });
  expect(total.count).toBeLessThan(1_500);
  for (const name of facetNames.filter((one) => !['assurance', 'source_kind'].includes(one)))
    expect({ name, sum: sum(name) }).toEqual({ name, sum: total.count });
  expect(data.source?.map(({ value }) => value)).toEqual(['nessus', 'trivy']);
  expect(sum('source_kind')).toBe(total.count + (await totalOf({ source: ['nessus'], severity: ['high'] })));
});
