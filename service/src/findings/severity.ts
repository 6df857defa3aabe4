import { type Severity, severities } from '@rrs/scan-reports';
import { type RawBuilder, sql } from 'kysely';

/** Severities are stored as numbers so that an index can sort them: 5 is critical, 1 is info, 0 is unknown. */
export function severityRank(severity: Severity): number {
  return severities.length - 1 - severities.indexOf(severity);
}

export function severityName(rank: number): Severity {
  return severities[severities.length - 1 - rank] ?? 'unknown';
}

/** The name of a severity in a query. */
export function severityNameSql(rank: RawBuilder<unknown>): RawBuilder<Severity> {
  return sql`(${severities.toReversed()}::text[])[${rank} + 1]`;
}
