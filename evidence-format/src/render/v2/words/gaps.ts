import type { Gap } from '../../../document/evidence.ts';
import { GAPS } from './gap-texts.ts';

export interface GapWords {
  label: string;
  what: string;
  why: string;
}

/** The words for a gap, from its code and its values. */
export function gapWords(gap: Gap): GapWords {
  const { label, what, why } = GAPS[gap.code];
  return { label, what: `${what(gap)}.`, why };
}

export const gapSentence = (gap: Gap): string => gapWords(gap).what;

const WEIGHTS: readonly Gap['weight'][] = ['major', 'minor', 'note'];

/** Major gaps first. */
export const byWeight = (gaps: readonly Gap[]): Gap[] => WEIGHTS.flatMap((weight) => gaps.filter((gap) => gap.weight === weight));
