import type { TrailEvent } from '../../document/decisions.ts';
import type { UnlinkedFinding } from '../../document/scope.ts';
import { fieldOf } from '../trail-values.ts';
import type { GapCollector } from './collector.ts';

/** Reasons for which a scan showed that a finding is gone. */
const SCANNED: ReadonlySet<unknown> = new Set(['scan_absent', 'acceptance_fixed']);

/**
 * Findings that were removed from the work item. Threat: what would be a gap of the work item is done to a finding after it was removed. Only a scan
 * settles it then.
 */
export function collectUnlinked(unlinked: readonly UnlinkedFinding[]) {
  const codes = new Map<string, unknown>(unlinked.map(({ id }) => [id, undefined]));
  return {
    add({ object, after }: TrailEvent): void {
      if (object.type === 'finding' && codes.has(object.id) && fieldOf(after, 'status') !== undefined) codes.set(object.id, fieldOf(after, 'reason_code'));
    },
    addGaps(collector: GapCollector): void {
      for (const { id, title, state, at, by, reason } of unlinked) {
        const named = `"${title}" by ${by.name} on ${at.slice(0, 10)} (${reason || 'no reason given'})`;
        if (state === 'open' || state === 'in_progress' || state === 'remediated') collector.add('unlinked_active', 'major', id, { named });
        else if (state !== 'verified' || !SCANNED.has(codes.get(id))) collector.add('unlinked_excepted', 'major', id, { named });
      }
    },
  };
}
