/** Findings further apart than this many lines are different findings, even if they look alike. */
const FAR = 50;

/**
 * Pairs old lines with new lines: as many pairs as possible, without crossing, and with the smallest distance. Both lists are ascending. Returns
 * positions in the lists.
 */
export function pairLines(before: readonly number[], now: readonly number[]): [before: number, now: number][] {
  const width = now.length + 1;
  const best: Found[] = Array.from({ length: (before.length + 1) * width }, () => NONE);
  const at = (b: number, n: number): Found => best[b * width + n] ?? NONE;
  for (let b = before.length - 1; b >= 0; b--) {
    for (let n = now.length - 1; n >= 0; n--) {
      const apart = Math.abs((before[b] ?? 0) - (now[n] ?? 0));
      const rest = at(b + 1, n + 1);
      const paired = apart > FAR ? NONE : { pairs: rest.pairs + 1, apart: rest.apart + apart, step: 'pair' as const };
      best[b * width + n] = better(paired, better({ ...at(b + 1, n), step: 'before' }, { ...at(b, n + 1), step: 'now' }));
    }
  }
  const pairs: [number, number][] = [];
  for (let b = 0, n = 0; b < before.length && n < now.length; ) {
    const { step } = at(b, n);
    if (step === 'pair') pairs.push([b, n]);
    if (step !== 'now') b++;
    if (step !== 'before') n++;
  }
  return pairs;
}

interface Found {
  pairs: number;
  /** Sum of the distances of all pairs, in lines. */
  apart: number;
  step: 'pair' | 'before' | 'now';
}

const NONE: Found = { pairs: 0, apart: 0, step: 'before' };

function better(one: Found, other: Found): Found {
  return one.pairs > other.pairs || (one.pairs === other.pairs && one.apart <= other.apart) ? one : other;
}
