/** Written without Intl, whose results change with its version. */
export function grouped(number: number): string {
  return String(number).replace(/\B(?=(?:\d{3}){1,9}$)/g, ',');
}

/** `1 finding`, `2 findings`. */
export function count(number: number, one: string, many = `${one}s`): string {
  return `${grouped(number)} ${number === 1 ? one : many}`;
}

/** The form of a word that agrees with the number. */
export const agree = (number: number, one: string, many: string): string => (number === 1 ? one : many);

/** Times are already in UTC, so they are shortened and never converted. */
export const day = (time: string): string => time.slice(0, 10);
export const second = (time: string): string => `${time.slice(0, 10)} ${time.slice(11, 19)}`;
export const secondUtc = (time: string): string => `${second(time)} UTC`;

const UNITS = ['bytes', 'KiB', 'MiB', 'GiB'];

export function fileSize(size: number): string {
  let power = 0;
  let rest = size;
  while (rest >= 1024 && power < UNITS.length - 1) {
    rest /= 1024;
    power++;
  }
  return `${power === 0 ? size : rest.toFixed(1)} ${UNITS[power]}`;
}

/** `a, b and c`. */
export function listed(items: readonly string[]): string {
  return items.length < 2 ? items.join('') : `${items.slice(0, -1).join(', ')} and ${items.at(-1)}`;
}

/** Turns an identifier in snake case into words. */
export function humanize(identifier: string): string {
  const words = identifier.replaceAll('_', ' ');
  const first = words.charAt(0);
  return (first >= 'a' && first <= 'z' ? first.toUpperCase() : first) + words.slice(1);
}

/** `once`, `2 times`. */
export const times = (number: number): string => (number === 1 ? 'once' : count(number, 'time'));
