import type { Decision, DecisionKind } from '../../../document/decisions.ts';
import { humanize, secondUtc } from './numbers.ts';

const KINDS: Readonly<Record<DecisionKind, string>> = {
  withdraw: 'Withdrew a finding',
  retire_asset: 'Retired an asset',
  end_track: 'Ended, merged or renamed a track',
  unlink: 'Removed findings from the work item',
  merge: 'Merged findings',
  split: 'Split a finding',
  alias: 'Changed which IDs mean the same weakness',
  severity_down: 'Lowered the severity',
  criticality_down: 'Lowered the criticality of an asset',
  accept: 'Accepted a risk',
  extend_acceptance: 'Extended an accepted risk',
  dismiss: 'Dismissed a finding as a false positive',
  verify_by_hand: 'Confirmed a fix without a scan',
  policy_loosen: 'Loosened the policy',
  brake_confirm: 'Confirmed a scan that closed many findings',
  import_discard: 'Discarded a scan',
  source_remove: 'Removed a source',
  connection_change: 'Changed a connection',
  deadline_extend: 'Extended a deadline',
  artifact_remove: 'Removed an artifact',
  credential_for_approver: 'Made the credential of an approver',
};

export const decisionWords = (kind: DecisionKind): string => KINDS[kind];

/** The register shows the reason and the findings in columns of their own, and its first line says what the code says. */
const NOT_SHOWN = new Set([
  ...['reason', 'status_reason', 'reason_code', 'finding_id', 'merged_into', 'merged_from', 'severity_override'],
  ...['closed_at', 'status_changed_at', 'clock_started_at'],
]);
/** A time in UTC, in one of the two forms of the audit trail. */
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|\+00:00)$/;

/** `Severity: critical → info` for each value that differs. Values that are not text or numbers are left to the audit trail. */
export function changeWords({ before, after }: Pick<Decision, 'before' | 'after'>): string {
  const [was, is] = [valuesOf(before), valuesOf(after)];
  const names = [...new Set([...was.keys(), ...is.keys()])].sort();
  return names
    .filter((name) => was.get(name) !== is.get(name) && !NOT_SHOWN.has(name))
    .map((name) => `${humanize(name)}: ${[was.get(name), is.get(name) ?? 'none'].filter((value) => value !== undefined).join(' → ')}`)
    .join('; ');
}

function valuesOf(value: unknown): Map<string, string> {
  const fields =
    typeof value === 'object' && value !== null && !Array.isArray(value) ? Object.entries(value) : value === null ? [] : [['value', value] as const];
  return new Map(
    fields.flatMap(([name, field]): [string, string][] =>
      typeof field === 'string' || typeof field === 'number' || typeof field === 'boolean' ? [[name, textOf(field)]] : [],
    ),
  );
}

function textOf(field: string | number | boolean): string {
  return typeof field === 'string' && TIME.test(field) ? secondUtc(field) : String(field).replaceAll('_', ' ');
}
