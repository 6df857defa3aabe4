import { severities } from '@rrs/scan-reports';
import { sql } from 'kysely';
import type { TenantTx } from '../../db/database.ts';
import type { SourceKind } from '../fields/source-kinds.ts';
import { suppressedIds } from '../list/conditions.ts';
import { filterFindings, ownFindings } from '../list/filter.ts';
import { type FindingFilter, prepareFilter } from '../list/prepare-filter.ts';
import { severityName } from '../severity.ts';
import { activeStatuses, statuses } from '../status.ts';
import { readTrend, record, type TrendInterval, type TrendRequest } from './trend.ts';

const AGES = [
  { from_days: 0, to_days: 7 },
  { from_days: 7, to_days: 30 },
  { from_days: 30, to_days: 90 },
  { from_days: 90, to_days: 180 },
  { from_days: 180, to_days: null },
] as const;

const COLUMNS = [
  'findings.id',
  'findings.status',
  'findings.severity',
  'findings.first_seen',
  'findings.due_at',
  'findings.closed_at',
  'findings.created_at',
  'findings.source_ids',
] as const;

interface Group {
  status: string;
  severity: number;
  count: number;
  overdue: number;
  suppressed: number;
  ages: number[];
  days_open: number;
}

/** Without a filter, the statements read only indexes: the columns that findings_by_status includes. */
export async function readStats(tx: TenantTx, orgId: string, filter: FindingFilter, trend: TrendRequest) {
  const isFiltered = Object.keys(filter).length > 0;
  const found = isFiltered
    ? sql`(${filterFindings(ownFindings(tx).select(COLUMNS), orgId, await prepareFilter(tx, orgId, filter))}) findings`
    : sql`(select * from findings where org_id = ${orgId} and listed) findings`;
  const seen = isFiltered
    ? sql`select unnest(source_ids) as source_id, count(*) from ${found} group by 1`
    : sql`select source_id, count(*) from (select distinct finding_id, source_id from sightings where org_id = ${orgId}
        and finding_id not in (select id from findings where org_id = ${orgId} and not listed)) seen group by 1`;
  const age = (from: number, to: number | null) =>
    sql`count(*) filter (where first_seen <= now() - make_interval(days => ${from}) and first_seen > ${to === null ? sql`'-infinity'` : sql`now() - make_interval(days => ${to})`})::int`;
  const [groups, sources, intervals] = await Promise.all([
    sql<Group>`
      select status, severity, count(*)::int as count, count(*) filter (where due_at < now() and finding_id is null)::int as overdue,
        count(finding_id)::int as suppressed,
        array[${sql.join(AGES.map(({ from_days, to_days }) => age(from_days, to_days)))}] as ages,
        coalesce(sum(extract(epoch from closed_at - first_seen)) / 86400, 0)::float8 as days_open
      from ${found} left join (${suppressedIds(orgId)}) suppressed on finding_id = findings.id group by status, severity`.execute(tx),
    sql<SourceCount>`
      select id, kind, provider, name, coalesce(seen.count, 0)::int as count
      from sources left join (${seen}) seen on seen.source_id = sources.id
      where org_id = ${orgId} order by count desc, id limit 1000`.execute(tx),
    readTrend(tx, { found, suppressed: suppressedIds(orgId) }, trend),
  ]);
  return summarize(groups.rows, sources.rows, intervals);
}

interface SourceCount {
  id: string;
  kind: SourceKind;
  provider: string;
  name: string;
  count: number;
}

function summarize(groups: readonly Group[], by_source: SourceCount[], trend: TrendInterval[]) {
  const active = groups.filter(({ status }) => (activeStatuses as readonly string[]).includes(status));
  const total = (some: readonly Group[], of: 'count' | 'overdue' | 'suppressed' = 'count') => some.reduce((sum, group) => sum + group[of], 0);
  const ofSeverity = (some: readonly Group[], severity: string) => some.filter((group) => severityName(group.severity) === severity);
  const verified = groups.filter(({ status }) => status === 'verified');
  const mean = (some: readonly Group[]) =>
    total(some) === 0 ? null : Math.round((some.reduce((sum, group) => sum + group.days_open, 0) / total(some)) * 10) / 10;
  return {
    total: total(groups),
    active: total(active),
    overdue: total(active, 'overdue'),
    suppressed: total(active, 'suppressed'),
    by_status: record(statuses, (status) => total(groups.filter((group) => group.status === status))),
    by_severity: record(severities, (severity) => ({ active: total(ofSeverity(active, severity)), overdue: total(ofSeverity(active, severity), 'overdue') })),
    by_age: AGES.map((bucket, index) => ({ ...bucket, count: active.reduce((sum, { ages }) => sum + (ages[index] ?? 0), 0) })),
    by_source,
    trend,
    mean_days_to_remediate: { all: mean(verified), ...record(severities, (severity) => mean(ofSeverity(verified, severity))) },
  };
}
