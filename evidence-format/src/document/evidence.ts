/**
 * Content of data/evidence.json, version 1. Times are RFC 3339 in UTC with milliseconds. Unknown values are null; no key is ever absent.
 * schema.ts describes each field.
 */
export interface Evidence {
  schema: typeof EVIDENCE_SCHEMA_ID;
  package_id: string;
  sequence: number;
  supersedes: { package_id: string; sequence: number } | null;
  organization: { id: string; name: string };
  work_item: WorkItem;
  as_of: string;
  generated_at: string;
  generator: { name: string; version: string };
  requested_by: Person;
  note: string | null;
  conclusion: { status: Conclusion; reasons: string[] };
  completeness: { grade: Grade; gaps: Gap[] };
  counts: { findings: number; by_status: Record<FindingState, number>; by_severity: Record<Severity, number>; artifacts: number; scans: number };
  findings: Finding[];
  scans: Scan[];
  artifacts: Artifact[];
  approvals: Approval[];
  checks: Check[];
  controls: Control[];
  collection: Collection[];
  redactions: Redaction[];
  audit_trail: { file: string; events: number; head: string };
  abandoned_leaves: { index: number; leaf_sha256: string; reason: string }[];
  formats: PackageFormat[];
  files: { path: string; size: number; sha256: string; media_type: string }[];
}

export const EVIDENCE_SCHEMA_ID = 'https://rrs.example/schemas/evidence-package/v1';

export const CONCLUSIONS = ['remediated', 'partially_remediated', 'risk_accepted', 'false_positive', 'not_remediated'] as const;
export type Conclusion = (typeof CONCLUSIONS)[number];

export const GRADES = ['A', 'B', 'C', 'D'] as const;
export type Grade = (typeof GRADES)[number];

export const FINDING_STATES = ['open', 'in_progress', 'remediated', 'verified', 'risk_accepted', 'false_positive', 'withdrawn'] as const;
export type FindingState = (typeof FINDING_STATES)[number];

export const SEVERITIES = ['critical', 'high', 'medium', 'low', 'info', 'unknown'] as const;
export type Severity = (typeof SEVERITIES)[number];

/** Formats in which a package can be downloaded, besides the ZIP that contains them all. */
export const PACKAGE_FORMATS = ['pdf', 'html', 'json', 'csv', 'oscal-ar', 'oscal-poam', 'openvex', 'cyclonedx-vex', 'sarif'] as const;
export type PackageFormat = (typeof PACKAGE_FORMATS)[number];

export interface Person {
  kind: 'member' | 'api_key' | 'connection' | 'system';
  id: string | null;
  name: string;
}

export interface WorkItem {
  id: string;
  title: string;
  description: string | null;
  status: 'open' | 'in_progress' | 'blocked' | 'awaiting_verification' | 'verified' | 'closed_with_exceptions' | 'cancelled';
  priority: string | null;
  assignee: string | null;
  due_at: string | null;
  external_ref: string | null;
  created_at: string;
  closed_at: string | null;
  follows: string | null;
}

export const GAP_CODES = [
  'unfinished',
  'no_findings',
  'unlinked_active',
  'no_rescan',
  'no_scan_before',
  'scan_not_kept',
  'no_approval',
  'approver_is_author',
  'rejected',
  'no_artifact',
  'artifact_not_captured',
  'artifact_removed',
  'source_stale',
  'no_timestamp',
  'interrupted_sealing',
  'log_restarted',
] as const;
export type GapCode = (typeof GAP_CODES)[number];

export interface Gap {
  code: GapCode;
  weight: 'major' | 'minor';
  what: string;
  about: string[];
}

export interface Finding {
  id: string;
  title: string;
  weakness: string;
  cves: string[];
  cwes: number[];
  severity: Severity;
  cvss: { version: string; vector: string; score: number } | null;
  epss: { score: number; date: string | null } | null;
  kev: boolean;
  risk_score: number;
  asset: { id: string; type: string; name: string };
  component: string | null;
  component_version: string | null;
  fixed_version: string | null;
  purl: string | null;
  place: string | null;
  first_seen: string;
  last_seen: string;
  due_at: string | null;
  closed_at: string | null;
  within_sla: boolean | null;
  state: FindingState;
  state_reason: string | null;
  state_changed_at: string;
  state_changed_by: string | null;
  assurance: 'declared' | 'artifact' | 'scan_only' | 'scan_after_claim' | 'independent' | null;
  justification: string | null;
  acceptance: { owner: string; expires_at: string } | null;
  reopen_count: number;
  sources: string[];
  occurrence_count: number;
  /** The first places. The count has all of them. */
  occurrences: Occurrence[];
  /** `before` is the scan that reported the finding. `after` is the scan that covered its location and no longer reported it. */
  before: { state: 'present' | 'unknown'; scan: string | null };
  after: { state: 'absent' | 'present' | 'unknown'; scan: string | null };
}

/** A place at which a source sees or saw the finding. */
export interface Occurrence {
  place: string;
  component_version: string | null;
  state: 'present' | 'absent' | 'unknown';
  source: string;
  track: string;
  first_seen: string;
  last_seen: string;
}

export interface Scan {
  id: string;
  phase: 'before' | 'after';
  tool: string;
  format: string;
  filename: string | null;
  received_at: string;
  finished_at: string | null;
  complete: boolean;
  records: number;
  sha256: string;
  size: number;
  file: string | null;
}

export interface Artifact {
  id: string;
  type: string;
  title: string;
  description: string | null;
  occurred_at: string | null;
  added_at: string;
  added_by: Person;
  url: string | null;
  filename: string | null;
  media_type: string | null;
  size: number | null;
  sha256: string | null;
  file: string | null;
  superseded_by: string | null;
  removed: { at: string; by: Person; reason: string } | null;
}

export interface Approval {
  id: string;
  decision: 'approved' | 'rejected';
  by: Person;
  at: string;
  comment: string | null;
}

export interface Check {
  id: string;
  result: 'pass' | 'fail' | 'not_applicable';
  detail: string;
}

export interface Control {
  framework: string;
  control: string;
  title: string;
  evidence: string[];
}

export interface Collection {
  file: string;
  sha256: string;
  size: number;
  media_type: string;
  method: 'upload' | 'connection';
  source: string;
  collected_at: string;
  collected_by: Person;
}

export interface Redaction {
  file: string;
  pointer: string;
  reason: string;
}
