import type { Finding, FindingState, Severity } from '@rrs/evidence-format';
import type { ReportedEvidence } from '../context.ts';

/** Short names of findings, scans and artifacts: F1, S1, A1. */
export interface Labels {
  findings: readonly Finding[];
  of(id: string): string | null;
}

const order: readonly FindingState[] = ['open', 'in_progress', 'remediated', 'risk_accepted', 'false_positive', 'verified', 'withdrawn'];
const severities: readonly Severity[] = ['critical', 'high', 'medium', 'low', 'info', 'unknown'];

/** Orders findings by importance to the reader: open, exceptions, fixed, withdrawn; the most severe first. */
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

/** Lists the labels of the first ids and the number of the others. */
export function listLabels(ids: readonly string[], labels: Labels, max = 12): string {
  const names = ids.slice(0, max).map((id) => labels.of(id) ?? id);
  const more = ids.length - names.length;
  return `${names.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}
