/** What the patterns say of the values at some path: which one they match, and what becomes of the values below. */
export interface State {
  matched: number;
  named: ReadonlyMap<string, State>;
  other: State | null;
}

export function statesOf(patterns: readonly (readonly string[])[]): State {
  return stateOf(
    patterns,
    patterns.map((_, index) => index),
    0,
  );
}

function stateOf(patterns: readonly (readonly string[])[], alive: readonly number[], depth: number): State {
  const matched = alive.find((index) => patterns[index]?.length === depth) ?? -1;
  const segments = matched === -1 ? alive.map((index) => ({ index, segment: patterns[index]?.[depth] })) : [];
  const below = (wanted: string | null): State =>
    stateOf(
      patterns,
      segments.flatMap(({ index, segment }) => (segment === '*' || segment === wanted ? [index] : [])),
      depth + 1,
    );
  const names = new Set(segments.flatMap(({ segment }) => (segment === undefined || segment === '*' ? [] : [segment])));
  return {
    matched,
    named: new Map([...names].map((name) => [name, below(name)])),
    other: segments.some(({ segment }) => segment === '*') ? below(null) : null,
  };
}
