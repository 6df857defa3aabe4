import type { ReportInput } from '../../contract.ts';
import { jsonValues } from '../../json/values.ts';
import { count } from '../../shared/read.ts';

/** One response, or an array of the responses of several pages. */
export const PREFIXES = ['', '*.'] as const;
export const LISTS = ['issues', 'hotspots'] as const;

interface Page {
  list: unknown;
  total: number;
  found: number;
  number: number;
}

const TOTALS = ['total', 'paging.total'];
const NUMBERS = ['p', 'paging.pageIndex'];

/** Whether the file has all pages of its lists. The API returns 100 issues per page unless it is asked for more. */
export async function isWhole(input: ReportInput): Promise<boolean> {
  const pages = new Map<string, Page>();
  const fields = [...TOTALS, ...NUMBERS, ...LISTS.map((list) => `${list}.*.key`)];
  const patterns = PREFIXES.flatMap((prefix) => fields.map((field) => `${prefix}${field}`));
  for await (const { document, path, pattern, value } of jsonValues(input, patterns)) {
    const key = `${document} ${pattern < fields.length ? '' : path[0]}`;
    const page = pages.get(key) ?? { list: undefined, total: 0, found: 0, number: 1 };
    pages.set(key, page);
    const field = fields[pattern % fields.length] ?? '';
    if (TOTALS.includes(field)) page.total = Math.max(page.total, count(value) ?? 0);
    else if (NUMBERS.includes(field)) page.number = count(value) ?? page.number;
    else {
      page.list = path.at(-3);
      page.found++;
    }
  }
  const lists = new Set([...pages.values()].flatMap(({ list }) => list ?? []));
  // A page without records does not say of which list it is. It can only be of the one that the file has.
  const groups = lists.size === 1 ? [[...pages.values()]] : [...lists, undefined].map((list) => [...pages.values()].filter((page) => page.list === list));
  return groups.every(hasAll);
}

function hasAll(pages: readonly Page[]): boolean {
  const found = pages.reduce((sum, page) => sum + page.found, 0);
  return pages.every(({ total }) => total <= found) && (pages.length === 0 || pages.some(({ number }) => number === 1));
}
