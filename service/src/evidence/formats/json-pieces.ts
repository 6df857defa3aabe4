/**
 * The text of JSON.stringify(value, null, 2), piece by piece. A list that is made as it is read, an iterator, is written item by item, and each
 * is forgotten before the next is made: such a document is never whole anywhere.
 */
export function* jsonPieces(value: unknown, line = '\n'): Generator<string> {
  if (value === null || typeof value !== 'object') return yield JSON.stringify(value);
  const inside = `${line}  `;
  const [open, close] = Symbol.iterator in value ? '[]' : '{}';
  let before = open;
  for (const pieces of membersOf(value, inside)) {
    yield `${before}${inside}`;
    yield* pieces;
    before = ',';
  }
  yield before === open ? `${open}${close}` : `${line}${close}`;
}

function* membersOf(value: object, line: string): Generator<Iterable<string>> {
  if (Array.isArray(value)) for (const item of value) yield jsonPieces(item, line);
  // Only the text of a string could have a line feed of its own, and JSON escapes it.
  else if (Symbol.iterator in value) for (const item of value as Iterable<unknown>) yield [JSON.stringify(item, null, 2).replaceAll('\n', line)];
  else for (const [key, member] of Object.entries(value)) if (member !== undefined) yield keyed(key, jsonPieces(member, line));
}

function* keyed(key: string, pieces: Iterable<string>): Generator<string> {
  yield `${JSON.stringify(key)}: `;
  yield* pieces;
}
