import type { SlaPolicy } from '../sla.ts';

/** The staged rows of one import become assets, findings and sightings, in a number of statements that does not depend on theirs. */
export interface Resolution {
  orgId: string;
  importId: string;
  sourceId: string;
  /** Words by which its findings are found: which tool or vendor, which connection. */
  sourceWords: readonly string[];
  /** When the scan saw what it saw, for rows that do not say it themselves. */
  seenAt: Date;
  sla: SlaPolicy;
  actor: { type: string; id: string | null; name: string };
  large: boolean;
}
