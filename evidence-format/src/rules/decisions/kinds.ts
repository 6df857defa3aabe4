import type { DecisionKind, TrailEvent } from '../../document/decisions.ts';
import { policyChange } from '../policies.ts';
import { criticalityRank, fieldOf, isLater, severityRank, textOf } from '../trail-values.ts';

/** What an event of the audit trail means for the decision register. */
export interface Act {
  kind: DecisionKind;
  /** Findings that it concerns. */
  findings: string[];
  reason: string | null;
  importId: string | null;
}

interface Rule {
  /** Actions of the audit trail that can be this act. */
  actions: readonly string[];
  kind: DecisionKind;
  holds(event: TrailEvent): boolean;
  findings?(event: TrailEvent): string[];
}

const always = (): boolean => true;
const own = ({ object }: TrailEvent): string[] => (object.type === 'finding' ? [object.id] : []);
const became = ({ before, after }: TrailEvent, status: string): boolean => fieldOf(after, 'status') === status && fieldOf(before, 'status') !== status;
const code = ({ after }: TrailEvent): unknown => fieldOf(after, 'reason_code');
const merged = (event: TrailEvent): string[] => [
  ...own(event),
  ...['merged_into', 'merged_from'].flatMap((name) => textOf(event.after, name) ?? textOf(event.before, name) ?? []),
];

const FINDING = ['finding.status_changed', 'finding.updated', 'finding.severity_changed'];
const withdrawnBy = (reason: string, kind: DecisionKind): Rule => ({
  actions: FINDING,
  kind,
  holds: (event) => became(event, 'withdrawn') && code(event) === reason,
  findings: own,
});

/**
 * Every way in which a person can make the result look better. Acts of the service, of scans and of connections are none. A finding is moved to another
 * work item by unlinking it, and a version is retired with its track, so neither has a kind of its own.
 */
const RULES: readonly Rule[] = [
  { actions: FINDING, kind: 'withdraw', holds: (event) => became(event, 'withdrawn') && !CONSEQUENCES.has(code(event)), findings: own },
  withdrawnBy('asset_retired', 'retire_asset'),
  withdrawnBy('track_ended', 'end_track'),
  withdrawnBy('source_retired', 'source_remove'),
  withdrawnBy('merged', 'merge'),
  { actions: ['asset.updated'], kind: 'retire_asset', holds: ({ after }) => fieldOf(after, 'retired') === true },
  { actions: ['asset.track_ended', 'asset.track_merged', 'asset.track_renamed'], kind: 'end_track', holds: always },
  {
    actions: ['asset.updated'],
    kind: 'criticality_down',
    holds: ({ before, after }) =>
      criticalityRank(fieldOf(before, 'criticality')) > criticalityRank(fieldOf(after, 'criticality')) && fieldOf(after, 'criticality') !== undefined,
  },
  { actions: ['asset.merged'], kind: 'merge', holds: always },
  { actions: ['asset.unmerged', 'asset.track_unmerged'], kind: 'split', holds: always },
  { actions: ['finding.merged'], kind: 'merge', holds: always, findings: merged },
  { actions: ['finding.split'], kind: 'split', holds: always, findings: merged },
  { actions: ['alias.added', 'alias.revoked', 'alias.restored'], kind: 'alias', holds: always },
  { actions: ['work_item.finding_unlinked'], kind: 'unlink', holds: always, findings: ({ after }) => [textOf(after, 'finding_id') ?? []].flat() },
  {
    actions: FINDING,
    kind: 'severity_down',
    holds: ({ before, after }) =>
      fieldOf(after, 'severity_override') !== undefined && severityRank(fieldOf(after, 'severity')) < severityRank(fieldOf(before, 'severity')),
    findings: own,
  },
  { actions: FINDING, kind: 'accept', holds: (event) => became(event, 'risk_accepted'), findings: own },
  {
    actions: FINDING,
    kind: 'extend_acceptance',
    holds: (event) =>
      !became(event, 'risk_accepted') &&
      textOf(event.before, 'acceptance_expires_at') !== null &&
      textOf(event.after, 'acceptance_expires_at') !== null &&
      isLater(fieldOf(event.after, 'acceptance_expires_at'), fieldOf(event.before, 'acceptance_expires_at')),
    findings: own,
  },
  { actions: FINDING, kind: 'dismiss', holds: (event) => became(event, 'false_positive'), findings: own },
  { actions: FINDING, kind: 'verify_by_hand', holds: (event) => became(event, 'verified') && !SCANNED.has(code(event)), findings: own },
  {
    actions: ['organization.updated'],
    kind: 'policy_loosen',
    holds: ({ before, after }) => policyChange(fieldOf(before, 'policy'), fieldOf(after, 'policy')).loosened.length > 0,
  },
  { actions: ['import.confirmed', 'sync.confirmed'], kind: 'brake_confirm', holds: always },
  { actions: ['import.discarded', 'sync.discarded'], kind: 'import_discard', holds: always },
  { actions: ['source.retired', 'connection.deleted'], kind: 'source_remove', holds: always },
  { actions: ['connection.updated'], kind: 'connection_change', holds: ({ before, after }) => changesWhatIsRead(before, after) },
  {
    actions: ['work_item.updated', 'work_item.status_changed'],
    kind: 'deadline_extend',
    holds: ({ before, after }) => fieldOf(after, 'due_at') !== undefined && isLater(fieldOf(after, 'due_at'), fieldOf(before, 'due_at')),
  },
  { actions: ['artifact.removed'], kind: 'artifact_remove', holds: always },
];

/** Reasons for which a finding is withdrawn because of something else that a person did. */
const CONSEQUENCES: ReadonlySet<unknown> = new Set(['asset_retired', 'track_ended', 'source_retired', 'merged']);
/** Reasons that come from a scan, even if a person set it off. */
const SCANNED: ReadonlySet<unknown> = new Set(['scan_absent', 'acceptance_fixed', 'merged']);

/** Kinds whose events share one reason, which only one of the events of a request states. */
const WITHOUT_REASON: ReadonlySet<DecisionKind> = new Set(['retire_asset', 'end_track', 'source_remove', 'merge', 'split']);

/** Part of the key under which acts are one decision. */
export function reasonKey({ kind, reason }: Act): string | null {
  return WITHOUT_REASON.has(kind) ? null : reason;
}

export function actsOf(event: TrailEvent): Act[] {
  const { action, object, after, import_id } = event;
  return RULES.filter(({ actions, holds }) => actions.includes(action) && holds(event)).map(({ kind, findings }) => ({
    kind,
    findings: findings?.(event) ?? [],
    reason: CONSEQUENCES.has(code(event)) ? null : (event.reason ?? textOf(after, 'reason')),
    importId: object.type === 'import' ? object.id : import_id,
  }));
}

function changesWhatIsRead(before: unknown, after: unknown): boolean {
  const disabled = fieldOf(before, 'enabled') === true && fieldOf(after, 'enabled') === false;
  const config = JSON.stringify(fieldOf(before, 'config')) !== JSON.stringify(fieldOf(after, 'config'));
  return disabled || config || listOf(fieldOf(after, 'credentials_changed')).length > 0;
}

function listOf(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((each) => typeof each === 'string') : [];
}
