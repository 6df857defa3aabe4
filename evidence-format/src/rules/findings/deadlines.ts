import type { FindingFacts } from '../../document/finding.ts';
import type { Scan } from '../../document/scan.ts';
import type { PolicyVersion } from '../../document/scope.ts';
import type { Standing } from '../../document/states.ts';

const DAY = 24 * 60 * 60 * 1000;

type Timed = Pick<FindingFacts, 'severity_source' | 'kev' | 'kev_since' | 'clock_started_at' | 'closed_at'>;

/**
 * The deadline by the policies that were in force while the finding was open: the earliest of the start plus the days of the policy in force
 * then, and the date of each later policy plus its days. Loosening a policy never helps what is open, and a tighter one takes effect on its own date.
 */
export function dueAt(finding: Timed, policies: readonly PolicyVersion[], asOf: string): string | null {
  const start = Date.parse(finding.clock_started_at);
  const end = Date.parse(finding.closed_at ?? asOf);
  const first = Math.max(
    policies.findLastIndex(({ effective_from }) => Date.parse(effective_from) <= start),
    0,
  );
  const times = policies.slice(first).flatMap((policy, index) => {
    const from = index === 0 ? start : Date.parse(policy.effective_from);
    return from > end && index > 0 ? [] : deadlinesOf(finding, policy, from);
  });
  return times.length === 0 ? null : new Date(Math.min(...times)).toISOString();
}

/** A vulnerability that was listed as exploited later has its shorter deadline from then on. */
function deadlinesOf({ severity_source, kev, kev_since }: Timed, { sla }: PolicyVersion, from: number): number[] {
  const days = sla[severity_source];
  const exploited = kev ? sla.kev : null;
  const exploitedFrom = kev_since === null ? from : Math.max(from, Date.parse(kev_since));
  return [...(days === null ? [] : [from + days * DAY]), ...(exploited === null ? [] : [exploitedFrom + exploited * DAY])];
}

/** Whether the finding was closed by its deadline. A finding that counts as active is not closed, whatever its state. */
export function withinSla(
  due: string | null,
  { closed_at }: Pick<FindingFacts, 'closed_at'>,
  { standing, asOf }: { standing: Standing; asOf: string },
): boolean | null {
  if (due === null) return null;
  return Date.parse(standing === 'active' ? asOf : (closed_at ?? asOf)) <= Date.parse(due);
}

/** If the report `after` the fix does not state its time, only the uploader says when the scan took place. Then it counts when the report was received. */
export function provenClosedAt({ cause, closed_at }: Pick<FindingFacts, 'cause' | 'closed_at'>, after: Scan | undefined): string | null {
  if (closed_at === null || cause !== 'scan' || !after?.doubts.includes('time_unstated')) return closed_at;
  return closed_at > after.received_at ? closed_at : after.received_at;
}

/** The deadline if only the last policy counted. */
export function dueByLastPolicy(finding: Timed, policies: readonly PolicyVersion[]): string | null {
  const last = policies.at(-1);
  if (last === undefined) return null;
  const times = deadlinesOf(finding, last, Date.parse(finding.clock_started_at));
  return times.length === 0 ? null : new Date(Math.min(...times)).toISOString();
}
