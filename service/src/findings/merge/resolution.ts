import type { RawBuilder } from 'kysely';
import type { HistoryActor } from '../history.ts';
import type { SlaPolicy } from '../sla.ts';

/** How many dependencies a run checked, if only that tells which lock file it read, and how many components and lock files it lists. */
export interface RunSize {
  dependencies: number | undefined;
  components: number | undefined;
  lock_files: number | undefined;
  /** How many of the lock files have no findings. */
  clean_lock_files: number | undefined;
}

/** What the import engine needs to turn the staged records of one import into assets, findings and sightings. */
export interface Resolution {
  orgId: string;
  importId: string;
  sourceId: string;
  /** When the last run that lists the assets of the source took place. Null if there was none. */
  listedAt: Date | null;
  /** The tool whose claims about aliases count for its own records. */
  provider: string;
  /** Words of the source in the search index: its provider and its connection. */
  sourceWords: readonly string[];
  /** Whether a record that calls a finding fixed proves it. Only a connection speaks for its vendor, a file can say anything. */
  provesFixed: boolean;
  sla: SlaPolicy;
  /** The sources whose severity the organization trusts, best first. */
  ranking: readonly string[];
  actor: HistoryActor;
  /** How many files the report lists as read. Null if it does not list them. */
  files: number | null;
  /** Null if the scope says which part of a repository was scanned. */
  size: RunSize | null;
  /** Options of the tool that leave out findings. */
  restrictions: readonly string[];
  /** How many records are staged in full, and how many as known. */
  staged: { rows: number; seen: number };
}

/** Smaller imports take longer to gather statistics than to do without: then the planner expects one row and compares each record with each other one. */
export function isLarge({ staged: { rows, seen } }: Pick<Resolution, 'staged'>): boolean {
  return rows + seen >= 200;
}

/** A run that covered its assets completely, except for the files that the tool did not read. */
export interface CompleteRun {
  isUnread: (location: RawBuilder<unknown>) => RawBuilder<boolean>;
}
