import type { Evidence } from '@rrs/evidence-format';
import type { TimelineEvent } from './timeline.ts';

/** The evidence without its list of files. The list contains the hashes of documents that are rendered from this. */
export type ReportedEvidence = Omit<Evidence, 'files'>;

export interface ReportContext {
  timeline: readonly TimelineEvent[];
  /** Fingerprints that readers compare with those published elsewhere. */
  keys: { package: string; log: string; note: string };
}
