import { type Severity, severities } from '@rrs/scan-reports';
import { sql } from 'kysely';
import type { TenantTx } from '../../db/database.ts';
import { severityName } from '../severity.ts';
import { closedStatuses } from '../status.ts';

export const countedChanges = ['created', 'reopened', 'closed'] as const;
export type CountsBySeverity = Record<(typeof countedChanges)[number], Record<Severity, number>>;

/**
 * Counts the findings that an import created, reopened and closed, by severity. Call it in the transaction of the import, or of its confirmation, while its
 * staged groups and its closures exist.
 */
export async function countBySeverity(tx: TenantTx, orgId: string, importId: string): Promise<CountsBySeverity> {
  const { rows } = await sql<{ kind: (typeof countedChanges)[number]; severity: number; count: number }>`
    with changed as (
      select finding_id, case when bool_or(outcome = 'created') then 'created' else 'reopened' end as kind from tenant_import_groups
      where org_id = ${orgId} and import_id = ${importId} and outcome in ('created', 'reopened') group by 1
      union all
      -- Closures whose finding has a history of it. In one aggregate, because the planner underestimates both sides of a join.
      select finding_id, 'closed' from (
        select finding_id, true as is_closure from import_closures where org_id = ${orgId} and import_id = ${importId}
        union all
        select finding_id, false from finding_history
        where org_id = ${orgId} and import_id = ${importId} and after->>'status' = any(${closedStatuses as readonly string[]})
      ) closed group by 1 having bool_or(is_closure) and not bool_and(is_closure)
    )
    select changed.kind, f.severity, count(*)::int as count from changed join findings f on f.org_id = ${orgId} and f.id = changed.finding_id group by 1, 2`.execute(
    tx,
  );
  const counts = emptyCounts();
  for (const { kind, severity, count } of rows) counts[kind][severityName(severity)] = count;
  return counts;
}

export function emptyCounts(): CountsBySeverity {
  const none = () => Object.fromEntries(severities.map((severity) => [severity, 0])) as Record<Severity, number>;
  return { created: none(), reopened: none(), closed: none() };
}
