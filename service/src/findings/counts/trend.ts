import { severities } from '@rrs/scan-reports';
import { type RawBuilder, sql } from 'kysely';
import type { TenantTx } from '../../db/database.ts';
import { severityName } from '../severity.ts';

export const intervals = ['day', 'week', 'month'] as const;

export interface TrendRequest {
  days: number;
  interval: (typeof intervals)[number];
}

type BySeverity = Record<(typeof severities)[number], number>;

export interface TrendInterval {
  from: string;
  to: string;
  opened: number;
  closed: number;
  opened_by_severity: BySeverity;
  closed_by_severity: BySeverity;
  sla: { due: number; met: number; missed: number };
  mean_days_to_remediate: number | null;
}

interface Counted {
  kind: 'interval' | 'opened' | 'closed' | 'due';
  /** First day of the interval. */
  from: string;
  /** First day after it. */
  to: string;
  severity: number | null;
  count: number;
  verified: number;
  days: number;
  met: number;
  missed: number;
}

const date = (time: RawBuilder<unknown>) => sql`to_char(${time} at time zone 'UTC', 'YYYY-MM-DD')`;

interface Counts {
  found: RawBuilder<unknown>;
  /** The ids of the suppressed findings. Nobody has to keep their deadlines. */
  suppressed: RawBuilder<unknown>;
}

/** What was opened, closed and due in each interval, oldest first. The first and the current interval are counted from their first day. */
export async function readTrend(tx: TenantTx, { found, suppressed }: Counts, { days, interval }: TrendRequest): Promise<TrendInterval[]> {
  const start = (time: RawBuilder<unknown>) => sql`date_trunc(${interval}, ${time}, 'UTC')`;
  const since = start(sql`now() - make_interval(days => ${days - 1}::int)`);
  const end = sql`${start(sql`now()`)} + ${`1 ${interval}`}::interval`;
  const days_open = sql`coalesce(sum(extract(epoch from closed_at - first_seen) / 86400) filter (where status = 'verified'), 0)::float8`;
  const { rows } = await sql<Counted>`
    select 'interval' as kind, ${date(sql`at`)} as "from", ${date(sql`(at + ${`1 ${interval}`}::interval)`)} as "to", null::int as severity,
      0 as count, 0 as verified, 0::float8 as days, 0 as met, 0 as missed
    from (select generate_series(${since} at time zone 'UTC', now() at time zone 'UTC', ${`1 ${interval}`}::interval) at time zone 'UTC' as at) intervals
    union all
    select 'opened', ${date(start(sql`created_at`))}, null, severity, count(*)::int, 0, 0, 0, 0 from ${found}
    where created_at >= ${since} group by 2, 4
    union all
    select 'closed', ${date(start(sql`closed_at`))}, null, severity, count(*)::int, count(*) filter (where status = 'verified')::int, ${days_open}, 0, 0 from ${found}
    where closed_at >= ${since} group by 2, 4
    union all
    select 'due', ${date(start(sql`due_at`))}, null, null, count(*)::int, 0, 0, count(*) filter (where closed_at <= due_at)::int,
      count(*) filter (where due_at < now() and (closed_at is null or closed_at > due_at))::int
    from ${found} left join (${suppressed}) suppressed on finding_id = findings.id
    where (finding_id is null or closed_at is not null) and due_at >= ${since} and due_at < ${end} group by 2`.execute(tx);
  const shown = rows.filter(({ kind }) => kind === 'interval').sort((a, b) => (a.from < b.from ? -1 : 1));
  return shown.map(({ from, to }) => {
    const of = (kind: Counted['kind']) => rows.filter((row) => row.kind === kind && row.from === from);
    return summarize({ from, to }, of('opened'), of('closed'), of('due')[0]);
  });
}

function summarize(interval: { from: string; to: string }, opened: readonly Counted[], closed: readonly Counted[], due: Counted | undefined): TrendInterval {
  const sum = (some: readonly Counted[], of: 'count' | 'verified' | 'days' = 'count') => some.reduce((all, row) => all + row[of], 0);
  const bySeverity = (some: readonly Counted[]): BySeverity =>
    record(severities, (severity) => sum(some.filter((row) => row.severity !== null && severityName(row.severity) === severity)));
  const verified = sum(closed, 'verified');
  return {
    ...interval,
    opened: sum(opened),
    closed: sum(closed),
    opened_by_severity: bySeverity(opened),
    closed_by_severity: bySeverity(closed),
    sla: { due: due?.count ?? 0, met: due?.met ?? 0, missed: due?.missed ?? 0 },
    mean_days_to_remediate: verified === 0 ? null : Math.round((sum(closed, 'days') / verified) * 10) / 10,
  };
}

export function record<const Key extends string, Value>(keys: readonly Key[], make: (key: Key) => Value): Record<Key, Value> {
  return Object.fromEntries(keys.map((key) => [key, make(key)])) as Record<Key, Value>;
}
