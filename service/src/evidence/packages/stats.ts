import { type Conclusion, GRADES, type Grade } from '@rrs/evidence-format';
import { sql } from 'kysely';
import type { TenantTx } from '../../db/database.ts';
import { doneStatuses } from '../../work-items/items/status.ts';
import { packageStatuses } from '../schemas-packages.ts';

const MONTHS = 12;

/** Six statements in one round trip. Each uses an index. */
export async function readEvidenceStats(tx: TenantTx, orgId: string) {
  const [groups, times, months, items, receipts, last] = await Promise.all([
    sql<{ status: string; grade: string | null; count: number; bytes: number }>`
      select status, grade, count(*)::int as count, coalesce(sum(archive_size), 0)::float8 as bytes
      from evidence_packages where org_id = ${orgId} group by status, grade`.execute(tx),
    sql<{ median: number | null; p95: number | null }>`
      select percentile_disc(0.5) within group (order by generation_ms) as median, percentile_disc(0.95) within group (order by generation_ms) as p95
      from evidence_packages where org_id = ${orgId} and status in ('ready', 'superseded')`.execute(tx),
    sql<{ month: string; packages: number; bytes: number }>`
      with months as (select date_trunc('month', now() at time zone 'UTC') - make_interval(months => n) as month from generate_series(0, ${MONTHS - 1}::int) n),
      made as (
        select date_trunc('month', generated_at at time zone 'UTC') as month, count(*), sum(archive_size) as bytes
        from evidence_packages where org_id = ${orgId} and generated_at >= (select min(month) from months) at time zone 'UTC' group by 1)
      select to_char(month, 'YYYY-MM') as month, coalesce(made.count, 0)::int as packages, coalesce(made.bytes, 0)::float8 as bytes
      from months left join made using (month) order by months.month`.execute(tx),
    sql<{ done: number; covered: number }>`
      select count(*)::int as done, count(covered.work_item_id)::int as covered
      from work_items w left join (select distinct work_item_id from evidence_packages where org_id = ${orgId} and status = 'ready') covered on covered.work_item_id = w.id
      where w.org_id = ${orgId} and w.status = any(${doneStatuses as readonly string[]})`.execute(tx),
    sql<{ kind: string; outcome: string; count: number }>`
      select kind, outcome, count(*)::int as count from package_receipts where org_id = ${orgId} group by kind, outcome`.execute(tx),
    sql<{ package_id: string; work_item_id: string; generated_at: Date; conclusion: Conclusion; grade: Grade }>`
      select id as package_id, work_item_id, generated_at, conclusion, grade
      from evidence_packages where org_id = ${orgId} and generated_at is not null order by generated_at desc, id desc limit 1`.execute(tx),
  ]);
  const packagesWhere = (where: (group: (typeof groups.rows)[number]) => boolean) => sum(groups.rows.filter(where), 'count');
  const receiptsWhere = (where: (group: (typeof receipts.rows)[number]) => boolean) => sum(receipts.rows.filter(where), 'count');
  const { done, covered } = items.rows[0] ?? { done: 0, covered: 0 };
  return {
    total: packagesWhere(() => true),
    by_status: record(packageStatuses, (status) => packagesWhere((group) => group.status === status)),
    by_grade: record(GRADES, (grade) => packagesWhere((group) => group.status === 'ready' && group.grade === grade)),
    bytes: sum(groups.rows, 'bytes'),
    per_month: months.rows,
    work_items: {
      closed: done,
      with_ready_package: covered,
      without: done - covered,
      coverage: done === 0 ? null : Math.round((covered / done) * 1_000) / 1_000,
    },
    generation_ms: times.rows[0] ?? { median: null, p95: null },
    verifications: {
      total: receiptsWhere(({ kind }) => kind === 'verification'),
      failed: receiptsWhere(({ kind, outcome }) => kind === 'verification' && outcome !== 'verified'),
    },
    downloads: receiptsWhere(({ kind }) => kind === 'download'),
    last_package: last.rows[0] ?? null,
  };
}

function sum<Key extends string>(rows: readonly Record<Key, number>[], key: Key): number {
  return rows.reduce((total, row) => total + row[key], 0);
}

function record<const Key extends string>(keys: readonly Key[], make: (key: Key) => number): Record<Key, number> {
  return Object.fromEntries(keys.map((key) => [key, make(key)])) as Record<Key, number>;
}
