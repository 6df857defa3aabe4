/** Iterator helpers and `Map.groupBy` exist only from Node 22 on, and not in all browsers that auditors use. Items are computed when they are needed. */

export function* mapped<Item, Result>(items: Iterable<Item>, map: (item: Item) => Result): Generator<Result, undefined, unknown> {
  for (const item of items) yield map(item);
}

export function groupedBy<Item, Key>(items: Iterable<Item>, keyOf: (item: Item) => Key): Map<Key, Item[]> {
  const groups = new Map<Key, Item[]>();
  for (const item of items) {
    const key = keyOf(item);
    const group = groups.get(key);
    if (group) group.push(item);
    else groups.set(key, [item]);
  }
  return groups;
}
