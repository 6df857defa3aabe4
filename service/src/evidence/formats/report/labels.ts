import type { Finding, FindingState, Severity } from '@rrs/evidence-format';
import type { ReportedEvidence } from '../context.ts';

/** Short names for what the report refers to again: F1, S1, A1. */
export interface Labels {
  findings: readonly Finding[];
  of(id: string): string | null;
}

const order: readonly FindingState[] = ['open', 'in_progress', 'remediated', 'risk_accepted', 'false_positive', 'verified', 'withdrawn'];
const severities: readonly Severity[] = ['critical', 'high', 'medium', 'low', 'info', 'unknown'];

/** Findings in the order in which a reader wants them: what is open, what is excepted, what is done; the worst first. */
export function labelsOf({ findings, scans, artifacts }: ReportedEvidence): Labels {
  const sorted = findings.toSorted(
    (one, other) =>
      order.indexOf(one.state) - order.indexOf(other.state) ||
      severities.indexOf(one.severity) - severities.indexOf(other.severity) ||
      other.risk_score - one.risk_score ||
      (one.id < other.id ? -1 : 1),
  );
  const named = (prefix: string, items: readonly { id: string }[]) => items.map(({ id }, index): [string, string] => [id, `${prefix}${index + 1}`]);
  const labels = new Map([...named('F', sorted), ...named('S', scans), ...named('A', artifacts)]);
  return { findings: sorted, of: (id) => labels.get(id) ?? null };
}

export function some(ids: readonly string[], labels: Labels, most = 12): string {
  const names = ids.slice(0, most).map((id) => labels.of(id) ?? id);
  const more = ids.length - names.length;
  return `${names.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}
