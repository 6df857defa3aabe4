import type { Person } from './people.ts';
import type { Provenance } from './scan.ts';
import type { FindingState, Severity, Standing } from './states.ts';

/** One line of data/findings.jsonl. The lines are sorted by ID. */
export interface Finding extends FindingFacts {
  /** Deadline by the policies that were in force while the finding was open. */
  due_at: string | null;
  within_sla: boolean | null;
  /** How independent the scan that no longer shows the finding is of the people who did the work. */
  provenance: Provenance | null;
  standing: Standing;
}

export const ASSURANCES = ['declared', 'artifact', 'scan_only', 'scan_after_claim', 'independent'] as const;
export type Assurance = (typeof ASSURANCES)[number];

export interface Acceptance {
  owner: string;
  expires_at: string | null;
  /** What lowers the risk meanwhile, as stated. */
  compensating_control: string | null;
  requested_by: Person | null;
  approved_by: Person | null;
}

/** What the service knows about a finding. The rest of its line follows from it. */
export interface FindingFacts {
  id: string;
  title: string;
  weakness: string;
  cves: string[];
  cwes: number[];
  severity: Severity;
  /** The highest severity that any source stated while the finding was open. Deadlines are judged by it. */
  severity_source: Severity;
  /** Severity that a person set, or null. */
  override: { severity: Severity; by: Person; at: string; reason: string | null } | null;
  cvss: { version: string; vector: string; score: number } | null;
  epss: { score: number; date: string | null } | null;
  kev: boolean;
  kev_since: string | null;
  risk_score: number;
  asset: { id: string; type: string; name: string };
  component: string | null;
  component_version: string | null;
  fixed_version: string | null;
  /** The earliest day on which a fix was published, according to the sources: `2026-11-15`. */
  fix_published_date: string | null;
  purl: string | null;
  place: string | null;
  /** Earliest of scan times and receipts over everything that was merged into the finding. */
  first_seen: string;
  last_seen: string;
  /** Later than `first_seen` if the finding was reopened and its deadline started again. */
  clock_started_at: string;
  closed_at: string | null;
  state: FindingState;
  state_reason: string | null;
  state_changed_at: string;
  /** Why the finding is in its state. */
  cause: Cause;
  decided_by: Person | null;
  claimed_at: string | null;
  claimed_by: Person | null;
  assurance: Assurance | null;
  justification: string | null;
  acceptance: Acceptance | null;
  reopen_count: number;
  sources: string[];
  occurrence_count: number;
  /** The first 100 places. */
  occurrences: Occurrence[];
  /** The scan that showed the finding. */
  before: { state: 'present' | 'unknown'; scan: string | null };
  /**
   * The scan that covered its place and no longer showed it. `others` are the scans by which its other sources and tracks no longer showed it, and `doubts` are
   * codes of what these scans do not state.
   */
  after: { state: 'absent' | 'present' | 'unknown'; scan: string | null; others: string[]; doubts: string[] };
  /** A scan since the claim that shows the finding, discarded and failed ones included. */
  contradicted_by: string | null;
  /** Whether all sources that still show the finding were told to ignore it. */
  suppressed: boolean;
  /** Whether the versions in use where the finding was seen were scanned again. Null if the asset has no versions. */
  version_rescanned: boolean | null;
  /** Every work item that the finding was ever in, oldest first. */
  work_items: { id: string; linked_at: string; unlinked_at: string | null }[];
  /** Findings that were merged into this one by a person, as they were then. */
  merged: { id: string; state: FindingState; title: string; severity: Severity }[];
}

/** What put a finding into its state. */
export const CAUSES = ['scan', 'second_person', 'person', 'source', 'asset_retired', 'asset_gone', 'track_ended', 'merged', 'expired', 'none'] as const;
export type Cause = (typeof CAUSES)[number];

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
