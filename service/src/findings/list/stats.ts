import { severities } from '@rrs/scan-reports';
import { sql } from 'kysely';
import type { TenantTx } from '../../db/database.ts';
import { severityName } from '../severity.ts';
import { activeStatuses, statuses } from '../status.ts';

const AGES = [
  { from_days: 0, to_days: 7 },
  { from_days: 7, to_days: 30 },
  { from_days: 30, to_days: 90 },
  { from_days: 90, to_days: 180 },
  { from_days: 180, to_days: null },
] as const;
const DAYS = 30;

interface Group {
  status: string;
  severity: number;
  count: number;
  overdue: number;
  ages: number[];
  days_open: number;
}

/** Three statements that read indexes. The first one reads only columns that findings_by_status includes. */
export async function readStats(tx: TenantTx, orgId: string) {
  const age = (from: number, to: number | null) =>
    sql`count(*) filter (where first_seen <= now() - make_interval(days => ${from}) and first_seen > ${to === null ? sql`'-infinity'` : sql`now() - make_interval(days => ${to})`})::int`;
  const [groups, sources, days] = await Promise.all([
    sql<Group>`
      select status, severity, count(*)::int as count, count(*) filter (where due_at < now())::int as overdue,
        array[${sql.join(AGES.map(({ from_days, to_days }) => age(from_days, to_days)))}] as ages,
        coalesce(sum(extract(epoch from closed_at - first_seen)) / 86400, 0)::float8 as days_open
      from findings where org_id = ${orgId} and listed group by status, severity`.execute(tx),
    sql<{ id: string; kind: 'manual' | 'import' | 'connection'; provider: string; name: string; count: number }>`
      select id, kind, provider, name, coalesce(seen.count, 0)::int as count
      from sources left join (select source_id, count(*) from sightings where org_id = ${orgId} group by source_id) seen on seen.source_id = sources.id
      where org_id = ${orgId} order by count desc, id limit 1000`.execute(tx),
    sql<{ date: string; opened: number; closed: number }>`
      with days as (select (now() at time zone 'UTC')::date - n as day from generate_series(0, ${DAYS - 1}::int) n), since as (select date_trunc('day', now(), 'UTC') - make_interval(days => ${DAYS - 1}) as at),
      opened as (select (created_at at time zone 'UTC')::date as day, count(*) from findings where org_id = ${orgId} and listed and created_at >= (select at from since) group by 1),
      closed as (select (closed_at at time zone 'UTC')::date as day, count(*) from findings where org_id = ${orgId} and listed and status <> all(${activeStatuses as readonly string[]}) and closed_at >= (select at from since) group by 1)
      select to_char(days.day, 'YYYY-MM-DD') as date, coalesce(opened.count, 0)::int as opened, coalesce(closed.count, 0)::int as closed
      from days left join opened using (day) left join closed using (day) order by days.day`.execute(tx),
  ]);
  return summarize(groups.rows, sources.rows, days.rows);
}

function summarize(
  groups: readonly Group[],
  by_source: { id: string; kind: 'manual' | 'import' | 'connection'; provider: string; name: string; count: number }[],
  per_day: { date: string; opened: number; closed: number }[],
) {
  const active = groups.filter(({ status }) => (activeStatuses as readonly string[]).includes(status));
  const total = (some: readonly Group[], of: 'count' | 'overdue' = 'count') => some.reduce((sum, group) => sum + group[of], 0);
  const ofSeverity = (some: readonly Group[], severity: string) => some.filter((group) => severityName(group.severity) === severity);
  const verified = groups.filter(({ status }) => status === 'verified');
  const mean = (some: readonly Group[]) =>
    total(some) === 0 ? null : Math.round((some.reduce((sum, group) => sum + group.days_open, 0) / total(some)) * 10) / 10;
  return {
    total: total(groups),
    active: total(active),
    overdue: total(active, 'overdue'),
    by_status: record(statuses, (status) => total(groups.filter((group) => group.status === status))),
    by_severity: record(severities, (severity) => ({ active: total(ofSeverity(active, severity)), overdue: total(ofSeverity(active, severity), 'overdue') })),
    by_age: AGES.map((bucket, index) => ({ ...bucket, count: active.reduce((sum, { ages }) => sum + (ages[index] ?? 0), 0) })),
    by_source,
    per_day,
    mean_days_to_remediate: { all: mean(verified), ...record(severities, (severity) => mean(ofSeverity(verified, severity))) },
  };
}

function record<const Key extends string, Value>(keys: readonly Key[], make: (key: Key) => Value): Record<Key, Value> {
  return Object.fromEntries(keys.map((key) => [key, make(key)])) as Record<Key, Value>;
}
