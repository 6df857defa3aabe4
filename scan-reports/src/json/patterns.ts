/** A node of the pattern tree: which pattern the value at this path matches, and the nodes of the values below it. */
export interface PatternNode {
  /** Index of the matching pattern, or -1. */
  matched: number;
  named: ReadonlyMap<string, PatternNode>;
  /** Node for keys that are not in `named`. Null if no pattern matches them. */
  other: PatternNode | null;
}

/** Trees that were built before. Formats read many files with few different patterns. */
const built = new Map<string, PatternNode>();
const MOST_KEPT = 200;

export function patternTree(patterns: readonly (readonly string[])[]): PatternNode {
  const key = JSON.stringify(patterns);
  const known = built.get(key);
  if (known !== undefined) return known;
  const tree = nodeAt(
    patterns,
    patterns.map((_, index) => index),
    0,
  );
  if (built.size >= MOST_KEPT) built.clear();
  built.set(key, tree);
  return tree;
}

function nodeAt(patterns: readonly (readonly string[])[], candidates: readonly number[], depth: number): PatternNode {
  const matched = candidates.find((index) => patterns[index]?.length === depth) ?? -1;
  const segments = matched === -1 ? candidates.map((index) => ({ index, segment: patterns[index]?.[depth] })) : [];
  const below = (key: string | null): PatternNode =>
    nodeAt(
      patterns,
      segments.flatMap(({ index, segment }) => (segment === '*' || segment === key ? [index] : [])),
      depth + 1,
    );
  const names = new Set(segments.flatMap(({ segment }) => (segment === undefined || segment === '*' ? [] : [segment])));
  return {
    matched,
    named: new Map([...names].map((name) => [name, below(name)])),
    other: segments.some(({ segment }) => segment === '*') ? below(null) : null,
  };
}
