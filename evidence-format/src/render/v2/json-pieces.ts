/**
 * Yields the text of JSON.stringify(value, null, 2) in pieces. Iterators are written as arrays, one item at a time, so that a large document is
 * never in memory as a whole.
 */
export function* jsonPieces(value: unknown, line = '\n'): Generator<string> {
  if (value === null || typeof value !== 'object') return yield JSON.stringify(value);
  const inside = `${line}  `;
  const [open, close] = Symbol.iterator in value ? '[]' : '{}';
  let separator = open;
  for (const pieces of membersOf(value, inside)) {
    yield `${separator}${inside}`;
    yield* pieces;
    separator = ',';
  }
  yield separator === open ? `${open}${close}` : `${line}${close}`;
}

function* membersOf(value: object, line: string): Generator<Iterable<string>> {
  if (Array.isArray(value)) for (const item of value) yield jsonPieces(item, line);
  // JSON escapes line feeds inside strings, so every line feed is one that JSON.stringify added.
  else if (Symbol.iterator in value) for (const item of value as Iterable<unknown>) yield [JSON.stringify(item, null, 2).replaceAll('\n', line)];
  else for (const [key, member] of Object.entries(value)) if (member !== undefined) yield keyed(key, jsonPieces(member, line));
}

function* keyed(key: string, pieces: Iterable<string>): Generator<string> {
  yield `${JSON.stringify(key)}: `;
  yield* pieces;
}
