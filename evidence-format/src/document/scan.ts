import type { Person } from './people.ts';

/** A report or a run of a connection that says something about the findings. */
export interface Scan {
  id: string;
  /** `before` showed a finding, `after` no longer did. `other` covers an asset of the findings and confirms nothing. */
  phase: 'before' | 'after' | 'other';
  status: 'succeeded' | 'failed' | 'discarded' | 'needs_confirmation';
  tool: string;
  tool_version: string | null;
  /** Newest knowledge of the scanner: date of its plugins or database. */
  knowledge_at: string | null;
  credentialed: boolean | null;
  /** As the report states. */
  started_at: string | null;
  ended_at: string | null;
  received_at: string;
  imported_at: string | null;
  format: string;
  filename: string | null;
  /** What the report says it scanned, at most 20. Empty if it names nothing. */
  targets: string[];
  /** From where the scan looked at its targets, as its sender states: from inside the network or from outside. */
  vantage: 'internal' | 'external' | null;
  version: string | null;
  track: string | null;
  complete: boolean;
  /** Codes of what the scan does not state or does not cover. */
  doubts: string[];
  /** Of a scan that failed: how many were read before the failure. */
  records: number;
  rejected: number;
  /** IDs of the findings' vulnerabilities that the file names. Only for a scan that failed, whose records cannot be compared with findings. */
  names: string[];
  /** The file itself names neither an asset nor a tool nor a time. */
  self_described: boolean;
  /** Earlier scan with the same content apart from times. */
  copy_of: string | null;
  delivery: Delivery;
  /** The brake held the scan back until this person confirmed it. */
  confirmed: { by: Person; at: string } | null;
  sha256: string;
  size: number;
  /** `records`: the service stored what it read, not the bytes that the vendor sent. */
  original: 'bytes' | 'records';
  file: string | null;
}

/** How a report reached the service. */
export interface Delivery {
  method: 'upload' | 'connection' | 'pipeline';
  by: Person;
  /** The connection that fetched it, or the trust in the pipeline that sent it from a protected ref. */
  connection: {
    id: string;
    name: string;
    provider: string;
    host: string | null;
    settings_sha256: string;
    created_by: Person;
    changed_by: Person;
    changed_at: string;
  } | null;
  /** The run of the pipeline that sent it. Null for other methods. */
  pipeline: PipelineRun | null;
}

/** What the token of a pipeline said about its run. */
export interface PipelineRun {
  /** `recorded`: the service checked the signature of the token and kept what it said. No signature of the pipeline over the report is in the package. */
  proof: 'recorded';
  issuer: string;
  subject: string;
  repository: string | null;
  repository_id: string | null;
  ref: string | null;
  ref_protected: boolean;
  sha: string | null;
  environment: string | null;
  workflow: string | null;
  run_id: string | null;
  issued_at: string;
  /** SHA-256 of the ID of the token. */
  token_sha256: string | null;
}

/** From most to least independent of the people who did the work. */
export const PROVENANCES = ['connection', 'pipeline', 'other_person', 'worker'] as const;
export type Provenance = (typeof PROVENANCES)[number];
