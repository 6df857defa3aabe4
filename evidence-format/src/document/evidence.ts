import type { Decision, Selection } from './decisions.ts';
import type { Finding, FindingFacts } from './finding.ts';
import type { Artifact, Collection, Redaction } from './originals.ts';
import type { Person, PersonFacts } from './people.ts';
import type { Scan } from './scan.ts';
import type { AssetScope, EarlierPackage, PolicyVersion, SourceOnAsset, UnlinkedFinding } from './scope.ts';
import type { FindingState, Severity, Standing } from './states.ts';

/**
 * Content of data/evidence.json and data/findings.jsonl, version 2. Times are RFC 3339 in UTC with milliseconds. Unknown values are null; no key is
 * ever absent. Everything from `conclusion` to `controls` follows from the facts above it and can be computed again.
 */
export interface Evidence extends Omit<Facts, 'findings'> {
  findings: Finding[];
  conclusion: Conclusion;
  completeness: { grade: Grade; gaps: Gap[] };
  counts: Counts;
  checks: Check[];
  decisions: Decision[];
  controls: Control[];
  /** How the findings got into the work item: the first 200 acts, in the order of the audit trail. */
  selections: Selection[];
}

/** Content of data/evidence.json. The findings are stored apart, in data/findings.jsonl. */
export type EvidenceDocument = Omit<Evidence, 'findings'>;

/** What the service knows and the verifier takes from the package. */
export interface Facts {
  schema: typeof EVIDENCE_SCHEMA_ID;
  /** Version of the programs that write the readable files. The verifier knows these versions and writes the files again. */
  renderer: typeof RENDERER;
  package_id: string;
  sequence: number;
  /** All packages of the work item with a lower sequence, in order. The last one that was published is replaced by this one. */
  earlier: EarlierPackage[];
  log: { origin: string; epoch: number; started_at: string };
  organization: { id: string; name: string };
  work_item: WorkItem;
  as_of: string;
  generated_at: string;
  /** `build_sha256` is over the files of the program. Null if it is not known. */
  generator: { name: string; version: string; build_sha256: string | null };
  /** All times are those of the operating system of the service, or of its database. They differed by so much when the package was made. */
  clock: { database_offset_ms: number };
  /** Compliance frameworks that the organization chose. Empty: all of them. */
  frameworks: string[];
  requested_by: Person;
  note: string | null;
  /** Oldest first. The first one was in force when the earliest finding was first seen. */
  policies: PolicyVersion[];
  /** Everybody who acts in the audit trail, and the owners and admins at `as_of`. */
  people: PersonFacts[];
  /** API keys at `as_of` behind which no member stands. */
  ownerless_keys: number;
  assets: AssetScope[];
  sources: SourceOnAsset[];
  findings: FindingFacts[];
  unlinked: UnlinkedFinding[];
  scans: Scan[];
  artifacts: Artifact[];
  approvals: Approval[];
  collection: Collection[];
  redactions: Redaction[];
  audit_trail: { file: string; events: number; head: string };
  abandoned_leaves: { index: number; leaf_sha256: string }[];
  timestamped: boolean;
  /** Whether witnesses are asked to sign the checkpoint. Null if none is configured. False if sealing went on without them. */
  witnessed: boolean | null;
  formats: PackageFormat[];
}

export const EVIDENCE_SCHEMA_ID = 'https://rrs.example/schemas/evidence-package/v2';
export const RENDERER = 2;

export const CONCLUSIONS = ['remediated', 'partially_remediated', 'risk_accepted', 'false_positive', 'not_remediated'] as const;
export type Conclusion = (typeof CONCLUSIONS)[number];

export const GRADES = ['A', 'B', 'C', 'D'] as const;
export type Grade = (typeof GRADES)[number];

/** Formats in which a package can be downloaded, besides the ZIP that contains them all. */
export const PACKAGE_FORMATS = ['pdf', 'html', 'json', 'jsonl', 'csv', 'oscal-ar', 'oscal-poam', 'openvex', 'cyclonedx-vex', 'sarif'] as const;
export type PackageFormat = (typeof PACKAGE_FORMATS)[number];
/** Formats that are in every package: `json` is evidence.json, `jsonl` is findings.jsonl. */
export const REQUIRED_FORMATS: readonly PackageFormat[] = ['html', 'json', 'jsonl'];

export interface Counts {
  findings: number;
  by_standing: Record<Standing, number>;
  by_status: Record<FindingState, number>;
  by_severity: Record<Severity, number>;
  unlinked: number;
  artifacts: number;
  scans: number;
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
  created_by: Person;
  closed_at: string | null;
  follows: string | null;
}

/** A fact that an auditor would ask about. Readers get a sentence from the renderer. `values` are the numbers and names in it. */
export interface Gap {
  code: GapCode;
  weight: GapWeight;
  /** IDs of the findings, artifacts, scans, assets or approvals concerned, sorted. Empty if the gap concerns the whole package. */
  about: string[];
  values: Record<string, string | number>;
}

export const GAP_WEIGHTS = ['major', 'minor', 'note'] as const;
export type GapWeight = (typeof GAP_WEIGHTS)[number];

export const GAP_CODES = [
  'no_findings',
  'unfinished',
  'unlinked_active',
  'unlinked_excepted',
  'other_open_on_asset',
  'withdrawn_by_person',
  'asset_gone',
  'withdrawn_by_source',
  'exception_self_decided',
  'exception_without_end',
  'exception_expired',
  'suppressed_in_tool',
  'no_rescan',
  'verifier_took_part',
  'no_scan_before',
  'scan_not_kept',
  'scan_by_worker',
  'scan_by_hand',
  'scan_self_described',
  'scan_copied',
  'scan_undated',
  'scan_contradicts',
  'scan_failed',
  'source_removed',
  'version_not_rescanned',
  'source_stale',
  'scan_older_than_claim',
  'scan_uncredentialed',
  'scan_narrower',
  'search_stated',
  'scanner_outdated',
  'brake_confirmed',
  'severity_lowered',
  'sla_missed',
  'kev_past_due',
  'clock_reset',
  'policy_loosened',
  'policy_changed',
  'no_approval',
  'approval_stale',
  'approver_took_part',
  'rejected',
  'no_artifact',
  'artifact_not_captured',
  'artifact_removed',
  'content_redacted',
  'no_timestamp',
  'witness_missing',
  'log_restarted',
  'interrupted_sealing',
] as const;
export type GapCode = (typeof GAP_CODES)[number];

export interface Approval {
  id: string;
  decision: 'approved' | 'rejected';
  by: Person;
  at: string;
  comment: string | null;
  /** SHA-256 of the lines in `data/approvals/<id>.jsonl`, which are the state that was approved. */
  state_sha256: string;
}

/** A question that auditors ask. `passed` of `of` objects have the quality. */
export interface Check {
  id: CheckId;
  result: 'pass' | 'fail' | 'not_applicable';
  passed: number;
  of: number;
}

export const CHECK_IDS = ['approved_independently', 'verified_by_scan', 'within_deadline', 'exceptions_end'] as const;
export type CheckId = (typeof CHECK_IDS)[number];

/** The package supports the control, does not, or says nothing about it. */
export interface Control {
  framework: string;
  control: string;
  title: string;
  verdict: 'supports' | 'does_not_support' | 'not_addressed';
  /** Paths in the package and keys of this file. */
  evidence: string[];
}
