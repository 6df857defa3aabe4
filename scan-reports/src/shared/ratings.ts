import type { Cvss, Epss, ExploitMaturity, FixState } from '../contract.ts';
import { num, str } from './read.ts';

/** Returns a rating with a vector, a score or both. Tools write the score 0 for "no score", so without a vector it is dropped. */
export function ratingOf(vector: unknown, score: unknown, version?: string): Cvss[] {
  const text = str(vector);
  const number = num(score);
  if (text !== undefined) return [{ vector: text, ...(number === undefined ? {} : { score: number }) }];
  if (number === undefined || number <= 0 || number > 10) return [];
  return [{ score: number, ...(version === undefined ? {} : { version }) }];
}

/** Removes duplicates. A score without a vector is dropped if a vector has the same score. */
export function uniqueRatings(ratings: readonly Cvss[]): Cvss[] {
  const scored = new Set(ratings.flatMap(({ vector, score }) => (vector === undefined ? [] : [score])));
  const unique = new Map<string, Cvss>();
  for (const rating of ratings) {
    const key = rating.vector ?? `${rating.version} ${rating.score}`;
    if (!unique.has(key) && (rating.vector !== undefined || !scored.has(rating.score))) unique.set(key, rating);
  }
  return [...unique.values()];
}

/** Reads probabilities from 0 to 1 and percentages such as "97.2%". Undefined if the score is neither. */
export function epssOf(score: unknown, percentile?: unknown, date?: unknown): Epss | undefined {
  if (score === undefined || score === null) return undefined;
  const own = share(score);
  const rank = share(percentile);
  const day = /^\d{4}-\d{2}-\d{2}/.exec(str(date) ?? '')?.[0];
  if (own === undefined) return undefined;
  return { score: own, ...(rank === undefined ? {} : { percentile: rank }), ...(day === undefined ? {} : { date: day }) };
}

function share(value: unknown): number | undefined {
  const [, percent] = /^([\d.]+)\s*%$/.exec(str(value) ?? '') ?? [];
  const number = percent === undefined ? num(value) : (num(percent) ?? Number.NaN) / 100;
  return number !== undefined && number >= 0 && number <= 1 ? number : undefined;
}

/** Words of CVSS 2 to 4 for the maturity of exploits, and of tools that follow them. "Not Defined" says nothing. */
const MATURITIES: ReadonlyMap<string, ExploitMaturity> = new Map([
  ['unproven', 'unreported'],
  ['unreported', 'unreported'],
  ['noknownexploit', 'unreported'],
  ['proofofconcept', 'proof_of_concept'],
  ['poc', 'proof_of_concept'],
  ['functional', 'functional'],
  ['mature', 'functional'],
  ['high', 'functional'],
  ['attacked', 'attacked'],
]);

export function maturityOf(word: string | undefined): ExploitMaturity | undefined {
  return MATURITIES.get(word?.toLowerCase().replaceAll(/[^a-z]/g, '') ?? '');
}

/** Words of Trivy, Grype and the security trackers of distributions. */
const FIX_STATES: ReadonlyMap<string, FixState> = new Map([
  ['fixed', 'available'],
  ['affected', 'not_available'],
  ['not-fixed', 'not_available'],
  ['fix_deferred', 'not_available'],
  ['wont-fix', 'will_not_fix'],
  ['will_not_fix', 'will_not_fix'],
  ['end_of_life', 'end_of_life'],
]);

export function fixStateOf(word: string | undefined): FixState | undefined {
  return FIX_STATES.get(word?.toLowerCase() ?? '');
}
