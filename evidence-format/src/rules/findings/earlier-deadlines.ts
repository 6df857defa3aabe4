import type { TrailEvent } from '../../document/decisions.ts';
import type { FindingFacts } from '../../document/finding.ts';
import type { PolicyVersion } from '../../document/scope.ts';
import { dueAt } from './deadlines.ts';
import { type FindingHistory, newFinding, nextHistory } from './finding-history.ts';

interface Known {
  history: FindingHistory;
  /** When the deadline ran before a scan opened the finding again. It starts when the finding was first seen if `from` is null. */
  periods: { from: string | null; to: string }[];
}

/** Periods that are kept of each finding, so that a trail of reopenings only does not fill the memory. The first ones are the longest that a reset can hide. */
const MAX_PERIODS = 20;

/**
 * Deadlines that passed before a scan opened the finding again, which starts a new one. Threat: a finding that is overdue is reported as gone, or called fixed,
 * and as seen again, so that only the new deadline counts.
 */
export function collectEarlierDeadlines() {
  const findings = new Map<string, Known>();
  return {
    add(event: TrailEvent): void {
      if (event.object.type !== 'finding') return;
      const known = findings.get(event.object.id) ?? { history: newFinding, periods: [] };
      const history = nextHistory(known.history, event);
      if (history.reopenedAt !== null && history.reopenedAt !== known.history.reopenedAt && known.periods.length < MAX_PERIODS)
        known.periods.push({ from: known.history.reopenedAt, to: known.history.closedAt ?? history.reopenedAt });
      findings.set(event.object.id, { ...known, history });
    },
    /** Whether the finding missed such a deadline. */
    wasMissed: (finding: FindingFacts, policies: readonly PolicyVersion[]): boolean =>
      (findings.get(finding.id)?.periods ?? []).some(({ from, to }) => {
        const due = dueAt({ ...finding, clock_started_at: from ?? finding.first_seen, closed_at: to }, policies, to);
        return due !== null && Date.parse(to) > Date.parse(due);
      }),
  };
}
