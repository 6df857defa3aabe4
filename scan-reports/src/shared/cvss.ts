import calculator from 'ae-cvss-calculator';
import type { Cvss, Severity } from '../contract.ts';
import { severityOfScore } from './normalize.ts';

/**
 * Returns the severity of the highest rating, for reports that rate a vulnerability only by CVSS. Unknown if there is no rating that can
 * be scored.
 */
export function severityOfRatings(ratings: readonly Cvss[]): Severity {
  const scores = ratings.flatMap(({ vector, score }) => score ?? (vector === undefined ? undefined : scoreOf(vector)) ?? []);
  return scores.length === 0 ? 'unknown' : severityOfScore(Math.max(...scores));
}

function scoreOf(vector: string): number | undefined {
  try {
    const scores = calculator.fromVector(vector)?.calculateScores(false) as { base?: number; overall?: number } | undefined;
    const score = vector.startsWith('CVSS:4') ? scores?.overall : scores?.base;
    return Number.isNaN(score) ? undefined : score;
  } catch {
    return undefined;
  }
}
