import { type RawBuilder, sql } from 'kysely';
import type { OrganizationPolicy } from '../organizations/policy.ts';

export type SlaPolicy = OrganizationPolicy['sla'];

export function dueAt(policy: SlaPolicy, from: Date, severity: keyof Omit<SlaPolicy, 'kev'>, kev: boolean): Date | null {
  const days = policy[severity];
  const capped = kev && policy.kev !== null ? Math.min(days ?? policy.kev, policy.kev) : days;
  return capped === null ? null : new Date(from.getTime() + capped * 86_400_000);
}

/** The same in SQL. `infinity` means no deadline. */
export function dueSql(policy: SlaPolicy, from: RawBuilder<Date>, severity: RawBuilder<number>, kev: RawBuilder<boolean>): RawBuilder<Date> {
  const byRank = [policy.unknown, policy.info, policy.low, policy.medium, policy.high, policy.critical];
  const days = sql`(${byRank}::integer[])[${severity} + 1]`;
  const capped = sql`case when ${kev} and ${policy.kev}::integer is not null then least(coalesce(${days}, ${policy.kev}::integer), ${policy.kev}::integer) else ${days} end`;
  return sql<Date>`coalesce(${from} + make_interval(days => ${capped}), 'infinity'::timestamptz)`;
}

/** The deadline of the finding `f` if its time began at `from`: it follows from the worst that was known since, which the finding may no longer say. */
export function movedDueSql(from: RawBuilder<Date>): RawBuilder<Date> {
  return sql<Date>`(f.due_at - (f.clock_from - ${from}))`;
}
