/** RFC 8785. Refuses what JSON cannot carry, instead of leaving it out: what is signed must be what was meant. */
export function canonicalJson(value: unknown): string {
  return write(value, new Set());
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
  let written = '[';
  for (let at = 0; at < items.length; at++) written += `${at > 0 ? ',' : ''}${write(items[at], ancestors)}`;
  return `${written}]`;
}

/** Section 3.2.3: sorted by UTF-16 code units, which is how sort() compares. */
function object(value: Record<string, unknown>, ancestors: Set<object>): string {
  const prototype = Object.getPrototypeOf(value);
  if (prototype !== null && prototype !== Object.prototype) throw new TypeError('canonical JSON has plain objects only');
  const members = Object.keys(value).sort();
  return `{${members.map((key) => `${text(key)}:${write(value[key], ancestors)}`).join(',')}}`;
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
