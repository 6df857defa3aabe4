/** How numbers, times and the terms of the API are written for people. One place, so that a second language is a second file. */
const LANGUAGE = 'en';
const numbers = new Intl.NumberFormat(LANGUAGE);
const relative = new Intl.RelativeTimeFormat(LANGUAGE, { numeric: 'auto' });
const numeric = new Intl.RelativeTimeFormat(LANGUAGE);
const plurals = new Intl.PluralRules(LANGUAGE);
const days = new Intl.DateTimeFormat(LANGUAGE, { dateStyle: 'medium', timeZone: 'UTC' });

export const number = (value: number): string => numbers.format(value);

/** "1 finding", "2,400 findings". */
export function count(value: number, one: string, many = `${one}s`): string {
  return `${numbers.format(value)} ${plurals.select(value) === 'one' ? one : many}`;
}

const units: readonly [Intl.RelativeTimeFormatUnit, number][] = [
  ['year', 31_536_000],
  ['month', 2_592_000],
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
];

function distance(at: string, now: number): [amount: number, unit: Intl.RelativeTimeFormatUnit] {
  const seconds = (Date.parse(at) - now) / 1000;
  const [unit, size] = units.find(([, length]) => Math.abs(seconds) >= length) ?? (['second', 1] as const);
  return [Math.trunc(seconds / size), unit];
}

export function relativeTime(at: string, now = Date.now()): string {
  const [amount, unit] = distance(at, now);
  return unit === 'second' ? (amount > 0 ? 'in a moment' : 'just now') : relative.format(amount, unit);
}

/** "Overdue 1 month", "in 3 days". */
export function dueTime(at: string, isOverdue: boolean, now = Date.now()): string {
  return isOverdue ? `Overdue ${numeric.format(...distance(at, now)).replace(' ago', '')}` : relativeTime(at, now);
}

export const utc = (at: string): string => `${at.slice(0, 19).replace('T', ' ')} UTC`;
export const day = (at: string): string => days.format(new Date(at));

/** "false_positive" becomes "False positive". Terms with a spelling of their own are listed. */
export function term(value: string): string {
  const text = value.replaceAll(/[_-]/g, ' ');
  return spelled[value] ?? `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
}

const spelled: Readonly<Record<string, string>> = {
  api: 'API',
  url: 'URL',
  cloud_resource: 'Cloud resource',
};

export function bytes(size: number): string {
  if (size < 1000) return count(size, 'byte');
  const step = ['byte', 'kilobyte', 'megabyte', 'gigabyte', 'terabyte'];
  const power = Math.min(step.length - 1, Math.floor(Math.log10(size) / 3));
  const unit = step[power] ?? 'byte';
  return new Intl.NumberFormat(LANGUAGE, { style: 'unit', unit, unitDisplay: 'short', maximumFractionDigits: 1 }).format(size / 1000 ** power);
}

/** A long path in two: where it is, and the end, by which names differ, such as an image in a registry. */
export function splitName(name: string): [where: string, end: string] {
  const [scheme] = /^https?:\/\//.exec(name) ?? [];
  if (scheme !== undefined) return [scheme, name.slice(scheme.length)];
  const parts = name.split('/');
  const end = parts.length > 3 || (parts.length > 2 && name.length > 30) ? parts.slice(-2).join('/') : name;
  return [name.slice(0, name.length - end.length), end];
}

/** The end of a long path. */
export function shortName(name: string): string {
  const [where, end] = splitName(name);
  return where === '' || where.endsWith('://') ? end : `…/${end}`;
}
