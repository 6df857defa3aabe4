/** Writes canonical JSON (RFC 8785). Throws on values that JSON cannot represent instead of omitting them, so that the signed text is complete. */
export function canonicalJson(value: unknown): string {
  return write(value, new Set());
}

/** Yields the same text in pieces: one per item of the lists in a top-level object. Avoids building the text of a large document in memory. */
export function* canonicalPieces(value: unknown): Generator<string> {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return yield canonicalJson(value);
  const ancestors = new Set<object>([value]);
  yield '{';
  for (const [at, key] of keysOf(value).entries()) {
    yield `${at > 0 ? ',' : ''}${text(key)}:`;
    const member = (value as Record<string, unknown>)[key];
    if (Array.isArray(member)) yield* listPieces(member, ancestors);
    else yield write(member, ancestors);
  }
  yield '}';
}

function write(value: unknown, ancestors: Set<object>): string {
  if (value === null || typeof value === 'boolean') return String(value);
  if (typeof value === 'number') return number(value);
  if (typeof value === 'string') return text(value);
  if (typeof value !== 'object') throw new TypeError(`cannot write ${typeof value} as canonical JSON`);
  if (ancestors.has(value)) throw new TypeError('cannot write cycles as canonical JSON');
  ancestors.add(value);
  const written = Array.isArray(value) ? list(value, ancestors) : object(value as Record<string, unknown>, ancestors);
  ancestors.delete(value);
  return written;
}

function list(items: readonly unknown[], ancestors: Set<object>): string {
  return [...listPieces(items, ancestors)].join('');
}

function* listPieces(items: readonly unknown[], ancestors: Set<object>): Generator<string> {
  yield '[';
  for (let at = 0; at < items.length; at++) yield `${at > 0 ? ',' : ''}${write(items[at], ancestors)}`;
  yield ']';
}

function object(value: Record<string, unknown>, ancestors: Set<object>): string {
  return `{${keysOf(value)
    .map((key) => `${text(key)}:${write(value[key], ancestors)}`)
    .join(',')}}`;
}

/** Section 3.2.3: keys are sorted by UTF-16 code units, which is the default order of sort(). */
function keysOf(value: object): string[] {
  const prototype = Object.getPrototypeOf(value);
  if (prototype !== null && prototype !== Object.prototype) throw new TypeError('can write only plain objects as canonical JSON');
  return Object.keys(value).sort();
}

/** Section 3.2.2.3: numbers use the ECMAScript notation. */
function number(value: number): string {
  if (!Number.isFinite(value)) throw new TypeError(`cannot write ${value} as canonical JSON`);
  return JSON.stringify(value);
}

/** Section 3.2.2.2: the same escapes as JSON.stringify, except that it would accept a lone surrogate. */
function text(value: string): string {
  if (!value.isWellFormed()) throw new TypeError('cannot write lone surrogates as canonical JSON');
  return JSON.stringify(value);
}
