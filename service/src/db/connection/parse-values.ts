import pg from 'pg';

const TIMESTAMPTZ = 1184;
const TEXT_ARRAYS = new Set([1009, 1015, 2951]);

/** The driver declares its parsers by literal type, and any type may be asked for. */
export const standardParser = (oid: number, format: string = 'text') => pg.types.getTypeParser(oid as 1184, format as 'text') as (text: string) => unknown;

type Parse = (text: string) => unknown;
/** The driver asks for the parser of each column of each answer. */
const parsers = new Map<number, Parse>();

/** The parsers of the driver, with faster ones for the types that pages are full of: half of the time of a page was spent on them. */
export const valueTypes = {
  getTypeParser: (oid: number, format?: 'text' | 'binary'): Parse => {
    if (format === 'binary') return standardParser(oid, format);
    const parse = parsers.get(oid) ?? textParser(oid);
    parsers.set(oid, parse);
    return parse;
  },
};

function textParser(oid: number): Parse {
  const standard = standardParser(oid);
  if (oid === TIMESTAMPTZ) return (text) => timestampOf(text) ?? standard(text);
  return TEXT_ARRAYS.has(oid) ? (text) => plainArrayOf(text) ?? standard(text) : standard;
}

/** Null for what is not in UTC, infinite, before the year 1 or after 9999. */
function timestampOf(text: string): Date | null {
  return text.endsWith('+00') && text[4] === '-' && text[10] === ' ' ? new Date(`${text.slice(0, 10)}T${text.slice(11, -3)}Z`) : null;
}

/** Null if an element is null, quoted, or an array. */
function plainArrayOf(text: string): string[] | null {
  if (text === '{}') return [];
  return /["\\]|NULL|^\[|\{.*\{/.test(text) ? null : text.slice(1, -1).split(',');
}
