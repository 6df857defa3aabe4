import type { Evidence } from '@rrs/evidence-format';
import type { TimelineEvent } from './timeline.ts';

/** The evidence before its list of files is known: that list has the hashes of what is made from this. */
export type ReportedEvidence = Omit<Evidence, 'files'>;

export interface ReportContext {
  timeline: readonly TimelineEvent[];
  /** Fingerprints to compare with those that were published elsewhere. */
  keys: { package: string; log: string; note: string };
}
