/** RFC 8785. Refuses what JSON cannot carry, instead of leaving it out: what is signed must be what was meant. */
export function canonicalJson(value: unknown): string {
  return write(value, new Set());
}

/** The same in pieces, where it is an object one for each item of its lists: whoever writes or compares a large one need not hold it whole. */
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
  if (typeof value !== 'object') throw new TypeError(`canonical JSON has no ${typeof value}`);
  if (ancestors.has(value)) throw new TypeError('canonical JSON has no cycles');
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

/** Section 3.2.3: sorted by UTF-16 code units, which is how sort() compares. */
function keysOf(value: object): string[] {
  const prototype = Object.getPrototypeOf(value);
  if (prototype !== null && prototype !== Object.prototype) throw new TypeError('canonical JSON has plain objects only');
  return Object.keys(value).sort();
}

/** Section 3.2.2.3: as ECMAScript writes it. */
function number(value: number): string {
  if (!Number.isFinite(value)) throw new TypeError(`canonical JSON has no ${value}`);
  return JSON.stringify(value);
}

/** Section 3.2.2.2: as JSON.stringify escapes; it would turn a lone surrogate into an escape. */
function text(value: string): string {
  if (!value.isWellFormed()) throw new TypeError('canonical JSON has no lone surrogates');
  return JSON.stringify(value);
}
