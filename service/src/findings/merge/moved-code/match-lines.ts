/** Findings further apart than this many lines are different findings, unless more than their kind says that they are the same. */
const FAR = 50;

export interface Spot {
  line: number;
  /** The code itself, if the report quotes it. */
  snippet: string | null;
  /** Whether somebody has dismissed the finding or accepted its risk. */
  isDecided?: boolean;
}

type Pairs = [before: number, now: number][];

/**
 * Pairs findings of one kind in a file before and after a change. The same code is the same finding wherever it is now. What is left is the same at any
 * distance if there is as much of it as before, otherwise only nearby. In doubt, what is left is not what somebody has decided about: a decision does not
 * cover other code, and if there is less code than before, it is that of the findings without a decision. Both lists are ascending by line. Returns positions
 * in the lists.
 */
export function pairSpots(before: readonly Spot[], now: readonly Spot[]): Pairs {
  const pairs: Pairs = [];
  for (const snippet of new Set(before.flatMap((spot) => spot.snippet ?? []))) {
    const [old, current] = [before, now].map((spots) => [...spots.keys()].filter((at) => spots[at]?.snippet === snippet)) as [number[], number[]];
    pairs.push(...pairSome(old, current, Number.POSITIVE_INFINITY));
  }
  const old = [...before.keys()].filter((at) => pairs.every(([b]) => b !== at));
  const current = [...now.keys()].filter((at) => pairs.every(([, n]) => n !== at));
  // Two quotes that differ are different code.
  const isQuotedNow = current.some((at) => now[at]?.snippet);
  const isQuoted = isQuotedNow && old.some((at) => before[at]?.snippet);
  if (old.length === current.length && !isQuoted) pairs.push(...pairSome(old, current, Number.POSITIVE_INFINITY));
  else {
    const alike = old.filter((at) => !(isQuotedNow && before[at]?.isDecided && before[at].snippet));
    const rounds = alike.length > current.length ? [alike.filter((at) => !before[at]?.isDecided), alike.filter((at) => before[at]?.isDecided)] : [alike];
    for (const some of rounds) {
      const free = current.filter((at) => pairs.every(([, n]) => n !== at));
      pairs.push(...pairSome(some, free, FAR));
    }
  }
  return pairs.sort(([a], [b]) => a - b);

  function pairSome(some: readonly number[], others: readonly number[], far: number): Pairs {
    const linesOf = (spots: readonly Spot[], positions: readonly number[]) => positions.map((at) => spots[at]?.line ?? 0);
    return pairLines(linesOf(before, some), linesOf(now, others), far).map(([b, n]) => [some[b] ?? 0, others[n] ?? 0]);
  }
}

/**
 * Pairs old lines with new lines: as many pairs as possible, without crossing, and with the smallest distance. Both lists are ascending. Returns
 * positions in the lists.
 */
export function pairLines(before: readonly number[], now: readonly number[], far = FAR): Pairs {
  const width = now.length + 1;
  const best: Found[] = Array.from({ length: (before.length + 1) * width }, () => NONE);
  const at = (b: number, n: number): Found => best[b * width + n] ?? NONE;
  for (let b = before.length - 1; b >= 0; b--) {
    for (let n = now.length - 1; n >= 0; n--) {
      const apart = Math.abs((before[b] ?? 0) - (now[n] ?? 0));
      const rest = at(b + 1, n + 1);
      const paired = apart > far ? NONE : { pairs: rest.pairs + 1, apart: rest.apart + apart, step: 'pair' as const };
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
