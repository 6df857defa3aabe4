import type { Assurance, Cause } from '../../document/finding.ts';
import type { FindingState } from '../../document/states.ts';

/** What each reason code of the audit trail means for a package. */
export const CAUSES = {
  by_person: 'person',
  // Somebody did it in another system, and nobody knows who.
  by_connection: 'person',
  scan_absent: 'scan',
  scan_seen_again: 'scan',
  scan_unable: 'scan',
  source_fixed: 'source',
  source_retracted: 'source',
  source_retired: 'person',
  check_retired: 'source',
  new_occurrence: 'scan',
  regression: 'scan',
  risk_increased: 'scan',
  acceptance_approved: 'person',
  acceptance_expired: 'expired',
  acceptance_fixed: 'scan',
  acceptance_resumed: 'person',
  decision_resumed: 'person',
  asset_retired: 'asset_retired',
  asset_gone: 'asset_gone',
  asset_listed: 'source',
  track_ended: 'track_ended',
  track_unmerged: 'person',
  asset_unmerged: 'person',
  merged: 'merged',
  split: 'person',
} as const satisfies Record<string, Cause>;

const BY_CODE: ReadonlyMap<string | null, Cause> = new Map(Object.entries(CAUSES));

interface Change {
  state: FindingState;
  /** Reason code of the change that put the finding into its state. */
  code: string | null;
  assurance: Assurance | null;
}

/** Why a finding is in its state. */
export function causeOf({ state, code, assurance }: Change): Cause {
  const cause = BY_CODE.get(code) ?? 'none';
  return cause === 'person' && state === 'verified' && assurance === 'independent' ? 'second_person' : cause;
}

/** Causes that people bring about. Whoever uploads a scan does not decide what it shows. */
export const DECIDED: ReadonlySet<Cause> = new Set<Cause>(['person', 'second_person', 'asset_retired', 'track_ended', 'merged']);
