import type { Conclusion, Counts, Evidence, Grade } from '../../../document/evidence.ts';
import { STANDINGS, type Standing } from '../../../document/states.ts';
import { DISPOSITION_IDS, DISPOSITIONS, dispositionOf, type Tone } from '../dispositions.ts';
import { agree, count, grouped } from './numbers.ts';

export interface Verdict {
  headline: string;
  sentence: string;
  tone: Tone;
}

/** Conclusion and counts decide. Nothing that a user wrote is part of it. */
export function verdictOf({ conclusion, counts }: Pick<Evidence, 'conclusion' | 'counts'>): Verdict {
  return conclusion === 'partially_remediated' && counts.by_standing.active > 0
    ? { headline: 'NOT fully remediated', sentence: 'Some findings are shown to be fixed. Others are not.', tone: 'bad' }
    : VERDICTS[conclusion];
}

const VERDICTS: Readonly<Record<Conclusion, Verdict>> = {
  remediated: { headline: 'Remediated', sentence: 'Every finding that counts is shown to be fixed.', tone: 'good' },
  partially_remediated: {
    headline: 'Partially remediated',
    sentence: 'Some findings are shown to be fixed. The others were closed by a decision and are not shown to be fixed.',
    tone: 'warn',
  },
  risk_accepted: { headline: 'Risk accepted, NOT remediated', sentence: 'No finding is shown to be fixed. The risk was accepted.', tone: 'warn' },
  false_positive: { headline: 'False positive', sentence: 'The findings were judged not to apply. No fix was needed or shown.', tone: 'neutral' },
  not_remediated: { headline: 'NOT remediated', sentence: 'This package does not show that any weakness is gone.', tone: 'bad' },
};

const STANDING_PHRASES: Readonly<Record<Standing, [one: string, many: string]>> = {
  active: ['is not fixed', 'are not fixed'],
  excepted: ['was closed by a decision and is not fixed', 'were closed by a decision and are not fixed'],
  aside: ['was withdrawn by its source', 'were withdrawn by their source'],
  remediated: ['is verified as fixed', 'are verified as fixed'],
};

export const STANDING_ORDER = ['active', 'excepted', 'aside', 'remediated'] as const satisfies readonly Standing[];

/** Explains the conclusion by the counts alone: one sentence for each standing that occurs. */
export function reasonsOf({ findings, by_standing }: Pick<Counts, 'findings' | 'by_standing'>): string[] {
  if (findings === 0) return ['No finding is linked to the work item.'];
  return STANDING_ORDER.flatMap((standing) => {
    const number = by_standing[standing];
    return number === 0 ? [] : [`${grouped(number)} of ${count(findings, 'finding')} ${agree(number, ...STANDING_PHRASES[standing])}.`];
  });
}

/** Explains the conclusion in more detail: one sentence for each kind of finding that occurs. */
export function outcomesOf({ findings }: Pick<Evidence, 'findings'>): string[] {
  if (findings.length === 0) return ['No finding is linked to the work item.'];
  const tally = new Map<string, number>();
  for (const finding of findings) tally.set(dispositionOf(finding), (tally.get(dispositionOf(finding)) ?? 0) + 1);
  return DISPOSITION_IDS.flatMap((id) => {
    const number = tally.get(id) ?? 0;
    return number === 0 ? [] : [`${grouped(number)} of ${count(findings.length, 'finding')} ${agree(number, 'is', 'are')} ${DISPOSITIONS[id].phrase}.`];
  });
}

export const GRADE_TEXT: Readonly<Record<Grade, { sentence: string; tone: Tone }>> = {
  A: { sentence: 'No gaps.', tone: 'good' },
  B: { sentence: 'Only minor gaps.', tone: 'good' },
  C: { sentence: 'One kind of major gap.', tone: 'warn' },
  D: { sentence: 'Two or more kinds of major gaps.', tone: 'bad' },
};

export const GRADE_LEGEND =
  'The grade rates how complete the evidence is, not how secure the system is. A: no gaps. B: only minor gaps. C: one kind of major gap. D: two or more kinds. Notes do not count.';

/** In a fixed order, because the keys of a document that was read from a package are sorted. */
export function standingCounts({ by_standing }: Pick<Counts, 'by_standing'>): Record<Standing, number> {
  return Object.fromEntries(STANDINGS.map((standing) => [standing, by_standing[standing]])) as Record<Standing, number>;
}
