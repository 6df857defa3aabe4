import calculator from 'ae-cvss-calculator';

export interface ScoredVector {
  version: '2.0' | '3.0' | '3.1' | '4.0';
  vector: string;
  score: number;
}

const CACHE_SIZE = 20_000;
const scored = new Map<string, ScoredVector | null>();

/** Returns the base score of a vector and its CVSS version, or `null` if the vector is invalid or incomplete. */
export function scoreVector(vector: string): ScoredVector | null {
  const known = scored.get(vector);
  if (known !== undefined) return known;
  if (scored.size >= CACHE_SIZE) scored.clear();
  const result = calculate(vector.trim());
  scored.set(vector, result);
  return result;
}

function calculate(vector: string): ScoredVector | null {
  const version = versionOf(vector);
  if (version === null || !isComplete(version, vector)) return null;
  try {
    const scores = calculator.fromVector(vector)?.calculateScores(false) as { base?: number; overall?: number } | undefined;
    const score = version === '4.0' ? scores?.overall : scores?.base;
    return score === undefined || Number.isNaN(score) ? null : { version, vector, score };
  } catch {
    return null;
  }
}

function versionOf(vector: string): ScoredVector['version'] | null {
  const named = /^CVSS:(3\.0|3\.1|4\.0)\//.exec(vector)?.[1];
  if (named) return named as ScoredVector['version'];
  return /^\(?AV:[LAN]\/AC:[HML]\/Au:[MSN]\//.test(vector) ? '2.0' : null;
}

const BASE = {
  '2.0': ['AV', 'AC', 'Au', 'C', 'I', 'A'],
  '3.0': ['AV', 'AC', 'PR', 'UI', 'S', 'C', 'I', 'A'],
  '3.1': ['AV', 'AC', 'PR', 'UI', 'S', 'C', 'I', 'A'],
  '4.0': ['AV', 'AC', 'AT', 'PR', 'UI', 'VC', 'VI', 'VA', 'SC', 'SI', 'SA'],
} as const;

/** Required because the calculator treats a missing metric of CVSS 4.0 as one without impact. */
function isComplete(version: ScoredVector['version'], vector: string): boolean {
  const given = new Set(
    vector
      .replace(/^\(/, '')
      .split('/')
      .map((metric) => metric.split(':')[0]),
  );
  return BASE[version].every((metric) => given.has(metric));
}

export interface Rating {
  version: string | null;
  vector: string | null;
  score: number;
}

/**
 * Returns the rating of the newest CVSS version: a vector that can be scored, otherwise a score without a vector. Among several of one version the highest
 * score wins, so that the order in a report does not matter.
 */
export function bestRating(ratings: readonly { vector?: string; score?: number; version?: string }[]): Rating | null {
  const vectors = ratings.flatMap(({ vector }): Rating[] => (vector === undefined ? [] : [scoreVector(vector) ?? []].flat()));
  const scores = ratings.flatMap(({ vector, score, version }): Rating[] =>
    vector === undefined && score !== undefined && score >= 0 && score <= 10 ? [{ version: version ?? null, vector: null, score }] : [],
  );
  const all = vectors.length > 0 ? vectors : scores;
  const newer = (a: Rating, b: Rating): number => ((a.version ?? '') < (b.version ?? '') ? 1 : (a.version ?? '') > (b.version ?? '') ? -1 : 0);
  return all.sort((a, b) => newer(a, b) || b.score - a.score || ((a.vector ?? '') < (b.vector ?? '') ? -1 : 1))[0] ?? null;
}
