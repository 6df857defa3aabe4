import { GAP_CODES, GAP_WEIGHTS, type Gap, type GapCode, type GapWeight } from '../../document/evidence.ts';

/** Collects gaps. Each code and weight is one gap about everything that was added to it. */
export interface GapCollector {
  add(code: GapCode, weight: GapWeight, about?: string | readonly string[], names?: Record<string, string | number>): void;
  gaps(): Gap[];
}

/** Names that a gap mentions. Its `about` has all IDs. */
const NAMED = 5;

export function collectGaps(): GapCollector {
  const found = new Map<string, { code: GapCode; weight: GapWeight; about: Set<string>; values: Map<string, Set<string | number>> }>();
  return {
    add(code, weight, about = [], names = {}) {
      const key = `${code} ${weight}`;
      const gap = found.get(key) ?? { code, weight, about: new Set(), values: new Map() };
      found.set(key, gap);
      for (const id of [about].flat()) gap.about.add(id);
      for (const [name, value] of Object.entries(names)) gap.values.set(name, (gap.values.get(name) ?? new Set()).add(value));
    },
    gaps: () =>
      [...found.values()]
        .map(({ code, weight, about, values }) => ({
          code,
          weight,
          about: [...about].sort(),
          values: Object.fromEntries([...values].map(([name, all]) => [name, joined([...all])])),
        }))
        .sort((a, b) => GAP_CODES.indexOf(a.code) - GAP_CODES.indexOf(b.code) || GAP_WEIGHTS.indexOf(a.weight) - GAP_WEIGHTS.indexOf(b.weight)),
  };
}

/** A number stays one. Several texts are listed in order, the first five of them. */
function joined(all: (string | number)[]): string | number {
  const [first = ''] = all;
  if (all.length === 1) return first;
  const names = all.map(String).sort();
  return names.length <= NAMED ? names.join(', ') : `${names.slice(0, NAMED).join(', ')} and ${names.length - NAMED} more`;
}
