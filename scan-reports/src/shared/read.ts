/** Readers for values of unknown shape. A value of another type counts as absent. */
export type Obj = Readonly<Record<string, unknown>>;

export function obj(value: unknown): Obj {
  return value !== null && typeof value === 'object' && !Array.isArray(value) ? (value as Obj) : {};
}

export function isObj(value: unknown): value is Obj {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
}

/** A list. A single value counts as a list with one item, null and undefined as an empty list. */
export function arr(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : value === null || value === undefined ? [] : [value];
}

/** More than any field keeps. Readers cut strings here, so that nothing computes with the megabytes that a record may have in one field. */
export const MAX_STRING = 100_000;

export function bounded(text: string): string {
  const trimmed = text.trim();
  return trimmed.length > MAX_STRING ? trimmed.slice(0, MAX_STRING) : trimmed;
}

/** Trimmed text of limited length. Numbers and booleans are converted, empty text counts as absent. */
export function str(value: unknown): string | undefined {
  const text = typeof value === 'string' ? bounded(value) : typeof value === 'number' || typeof value === 'boolean' ? String(value) : '';
  return text === '' ? undefined : text;
}

export function strs(value: unknown): string[] {
  return arr(value).flatMap((item) => str(item) ?? []);
}

export function num(value: unknown): number | undefined {
  if (typeof value === 'number') return Number.isFinite(value) ? value : undefined;
  if (typeof value !== 'string' || value.trim() === '') return undefined;
  const number = Number(value.trim());
  return Number.isFinite(number) ? number : undefined;
}

/** A whole number of at least 1, such as a line or a port. */
export function count(value: unknown): number | undefined {
  const number = num(value);
  return number !== undefined && Number.isInteger(number) && number >= 1 && number <= 2_147_483_647 ? number : undefined;
}

/** An ISO date, `2020/01/31`, or epoch seconds or milliseconds. Null for anything else. */
export function date(value: unknown): Date | null {
  const number = typeof value === 'number' || (typeof value === 'string' && /^\d{9,13}$/.test(value.trim())) ? Number(value) : undefined;
  if (number !== undefined) return valid(new Date(number < 100_000_000_000 ? number * 1000 : number));
  const text = str(value);
  if (text === undefined || isImpossible(text)) return null;
  if (/^\d{4}[-/]\d{2}[-/]\d{2}$/.test(text)) return valid(new Date(`${text.replaceAll('/', '-')}T00:00:00Z`));
  // A time without a zone counts as UTC, so the same file gives the same result on every machine.
  const zoned = /(?:[Zz]|[+-]\d{2}:?\d{2}|GMT|UTC|[ECMP][SD]T)$/.test(text)
    ? text
    : `${text.replace(/^(\d{4}-\d{2}-\d{2}) /, '$1T')}${/^\d{4}-\d{2}-\d{2}[T ]/.test(text) ? 'Z' : ' UTC'}`;
  return valid(new Date(zoned));
}

/** The day in UTC: `2020-01-31`. */
export function dayOf(moment: Date | null | undefined): string | undefined {
  return moment?.toISOString().slice(0, 10);
}

/** True for dates such as February 30, which `Date` silently moves to March. */
function isImpossible(text: string): boolean {
  const [, year, month, day] = /^(\d{4})[-/](\d{2})[-/](\d{2})/.exec(text) ?? [];
  return day !== undefined && new Date(Date.UTC(Number(year), Number(month) - 1, Number(day))).getUTCDate() !== Number(day);
}

function valid(moment: Date): Date | null {
  const year = moment.getUTCFullYear();
  return Number.isNaN(moment.getTime()) || year < 1990 || year > 2200 ? null : moment;
}

/** Converts HTML to plain text. */
export function plain(html: string | undefined): string | null {
  if (html === undefined) return null;
  const text = bounded(html)
    .replaceAll(/<(?:br|\/p|\/li|\/div|\/h\d)\s*\/?>/gi, '\n')
    .replaceAll(/<[^<>]{0,1000}>/g, '')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&nbsp;', ' ')
    .replaceAll('&amp;', '&')
    .replaceAll(/\n{3,}/g, '\n\n')
    .trim();
  return text === '' ? null : text;
}
