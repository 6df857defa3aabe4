import type { Severity } from './states.ts';

export const DECISION_KINDS = [
  'withdraw',
  'retire_asset',
  'end_track',
  'unlink',
  'merge',
  'split',
  'alias',
  'severity_down',
  'criticality_down',
  'accept',
  'extend_acceptance',
  'dismiss',
  'verify_by_hand',
  'policy_loosen',
  'brake_confirm',
  'import_discard',
  'source_remove',
  'connection_change',
  'deadline_extend',
  'artifact_remove',
  'credential_for_approver',
] as const;
export type DecisionKind = (typeof DECISION_KINDS)[number];

/** A human act that made the result look better. It follows from the audit trail. Acts of one request with the same kind, person and reason are one decision. */
export interface Decision {
  /** Number of the first line of the audit trail that shows it. */
  trail_seq: number;
  kind: DecisionKind;
  at: string;
  by: { person: string | null; name: string };
  object: { type: string; id: string };
  before: unknown;
  after: unknown;
  reason: string | null;
  findings: { count: number; by_severity: Record<Severity, number>; ids: string[] };
  second_person: string | null;
  import_id: string | null;
}

/** One line of data/audit-trail.jsonl, without its place in the chain. */
/** Somebody or a rule added findings to the work item. */
export interface Selection {
  trail_seq: number;
  at: string;
  by: { person: string | null; name: string };
  /** How many findings were added. */
  linked: number;
  /** The filter that selected them. Null if they were named one by one. */
  filter: unknown;
  /** Why the service added them, or null. */
  reason: string | null;
}

export interface TrailEvent {
  id: string;
  at: string;
  action: string;
  actor: { type: string; id: string | null; name: string; person: string | null };
  object: { type: string; id: string };
  before: unknown;
  after: unknown;
  reason: string | null;
  import_id: string | null;
  request_id: string | null;
}
