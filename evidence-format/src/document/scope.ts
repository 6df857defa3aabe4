import type { Person } from './people.ts';
import type { FindingState, Severity } from './states.ts';

export interface PolicyVersion {
  effective_from: string;
  /** Null for the policy that the organization started with. */
  changed_by: Person | null;
  /** Days until the deadline. Null: no deadline. */
  sla: Record<Severity | 'kev', number | null>;
  four_eyes: boolean;
  brake: { findings: number; share: number };
  source_ranking: string[];
  /** Days after which uploaded reports and runs of connections are deleted, unless a package contains them. */
  retention: { reports: number; runs: number };
}

/** An asset of the findings, and what else is open there. */
export interface AssetScope {
  id: string;
  type: string;
  name: string;
  owner: string | null;
  criticality: string;
  exposure: string;
  retired_at: string | null;
  /** The newest 20 versions that were scanned, newest first. */
  versions: string[];
  /** Open findings of the asset that are not in the work item. */
  other_open: Record<Severity, number>;
  /** IDs of those, at most 20, that have a CVE of the work item, or that the scan before the fix showed with the severity of a finding of the work item. */
  other_open_alike: string[];
}

/** What a source last said about an asset. */
export interface SourceOnAsset {
  asset_id: string;
  source: string;
  kind: 'import' | 'connection';
  /** End of the last scan of the asset, and of the last complete one. */
  last_scan_at: string | null;
  last_complete_at: string | null;
  /** When the source was retired or its connection deleted. */
  removed_at: string | null;
  removed_by: Person | null;
}

/** A finding that was removed from the work item or moved to another one. */
export interface UnlinkedFinding {
  id: string;
  title: string;
  severity: Severity;
  state: FindingState;
  at: string;
  by: Person;
  reason: string | null;
}

export interface EarlierPackage {
  package_id: string;
  sequence: number;
  /** `unfinished`: still being sealed when this package was. */
  outcome: 'ready' | 'superseded' | 'failed' | 'unfinished';
  /** Null if nothing was published. */
  tagmanifest_sha256: string | null;
  log: { epoch: number; index: number } | null;
}
