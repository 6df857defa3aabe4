import { assetTypes, severities } from '../../contract.ts';
import { cwesOf, filePath, urlPlace } from '../../shared/normalize.ts';
import { isPurl } from '../../shared/purl.ts';
import { date, dayOf, isObj } from '../../shared/read.ts';

/** `read` returns undefined if the field does not accept the value. `expected` completes "must be …". */
type Reader<T> = { read: (value: unknown) => T | undefined; expected: string };

const text: Reader<string> = { read: (value) => (typeof value === 'string' && value.trim() !== '' ? value.trim() : undefined), expected: 'text' };

function word<T extends string>(words: readonly T[]): Reader<T> {
  return {
    read: (value) => {
      const given = typeof value === 'string' ? value.trim().toLowerCase() : undefined;
      return words.find((candidate) => candidate === given);
    },
    expected: `one of ${words.join(', ')}`,
  };
}

function wholeNumber(highest: number): Reader<number> {
  const fits = (value: unknown): value is number => typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= highest;
  return { read: (value) => (fits(value) ? value : undefined), expected: `a whole number from 1 to ${highest}` };
}

/** A single value counts as a list with one item. */
function list<T>(item: Reader<T>, expected: string): Reader<T[]> {
  return {
    read: (value) => {
      const items = (Array.isArray(value) ? value : [value]).map(item.read);
      return items.every((read) => read !== undefined) ? items : undefined;
    },
    expected,
  };
}

function pattern(matching: RegExp, expected: string): Reader<string> {
  return { read: (value) => (typeof value === 'string' && matching.test(value.trim()) ? value.trim() : undefined), expected };
}

const vector = pattern(/^(?:CVSS:[34]\.[01]\/)?[A-Za-z]{1,3}:[A-Za-z]{1,3}(?:\/[A-Za-z]{1,3}:[A-Za-z]{1,3})+$/, 'a CVSS vector');

export const moment: Reader<Date> = {
  read: (value) => (typeof value === 'string' && /^\d{4}-\d{2}-\d{2}(?:[T ].*)?$/.test(value.trim()) ? (date(value) ?? undefined) : undefined),
  expected: 'an ISO 8601 date or time',
};

const purl: Reader<string> = {
  read: (value) => (typeof value === 'string' && isPurl(value.trim()) ? value.trim() : undefined),
  expected: 'a package URL (pkg:type/name@version) with a name and valid percent-encoding',
};

const cwe: Reader<number> = {
  read: (value) => (typeof value === 'number' || (typeof value === 'string' && /^(?:cwe-)?\d+$/i.test(value.trim())) ? cwesOf(value)[0] : undefined),
  expected: '',
};

const asset: Reader<{ type: (typeof assetTypes)[number]; name: string }> = {
  read: (value) => {
    if (!isObj(value) || Object.keys(value).some((key) => key !== 'type' && key !== 'name')) return undefined;
    const [type, name] = [word(assetTypes).read(value.type), text.read(value.name)];
    return type && name ? { type, name } : undefined;
  },
  expected: `an object with name (text) and type (one of ${assetTypes.join(', ')})`,
};

const cvss: Reader<string> = {
  read: (value) => (isObj(value) && Object.keys(value).every((key) => key === 'vector') ? vector.read(value.vector) : undefined),
  expected: 'an object with vector (a CVSS vector)',
};

/** All fields. Except for the two that are objects, the names are also CSV columns. */
export const fields = {
  title: text,
  severity: word(severities),
  asset,
  asset_type: word(assetTypes),
  asset_name: text,
  description: text,
  solution: text,
  id: text,
  rule: text,
  tool: text,
  cves: list(pattern(/^CVE-\d{4}-\d{4,}$/i, ''), 'a list of CVE ids'),
  vulnerability_ids: list(text, 'a list of text values'),
  cwes: list(cwe, 'a list of CWE numbers'),
  cvss,
  cvss_vector: vector,
  component: text,
  version: text,
  fixed_version: text,
  fix_published_date: { read: (value: unknown) => dayOf(moment.read(value)), expected: 'an ISO 8601 date' },
  purl,
  path: { read: (value: unknown) => filePath(text.read(value)), expected: 'text' },
  line: wholeNumber(2_147_483_647),
  port: wholeNumber(65_535),
  protocol: text,
  url: {
    read: (value: unknown) => (/^[a-z][a-z0-9+.-]*:\/\//i.test(text.read(value) ?? '') ? urlPlace(text.read(value)) : undefined),
    expected: 'an absolute URL',
  },
  method: text,
  parameter: text,
  resource: text,
  references: list(text, 'a list of text values'),
  tags: list(text, 'a list of text values'),
  first_seen: moment,
  last_seen: moment,
  status: word(['open', 'fixed']),
};

export type Fields = { [Name in keyof typeof fields]?: Exclude<ReturnType<(typeof fields)[Name]['read']>, undefined> };

export const JSON_FIELDS: readonly string[] = Object.keys(fields);
export const CSV_FIELDS: readonly string[] = JSON_FIELDS.filter((name) => name !== 'asset' && name !== 'cvss');
export const REQUIRED: readonly string[] = ['title', 'severity'];
export const CSV_LISTS: readonly string[] = ['cves', 'vulnerability_ids', 'cwes', 'references', 'tags'];
export const CSV_NUMBERS: readonly string[] = ['line', 'port'];
