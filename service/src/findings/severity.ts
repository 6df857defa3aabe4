import { type Severity, severities } from '@rrs/scan-reports';

/** Severities are kept as numbers, so that an index sorts them: 5 critical … 1 info, 0 unknown. */
export function severityRank(severity: Severity): number {
  return severities.length - 1 - severities.indexOf(severity);
}

export function severityName(rank: number): Severity {
  return severities[severities.length - 1 - rank] ?? 'unknown';
}
