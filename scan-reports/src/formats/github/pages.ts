import type { ReportHead, ReportInput } from '../../contract.ts';
import { jsonValues } from '../../json/values.ts';
import { count, type Obj, obj, str } from '../../shared/read.ts';
import { REPOSITORY_PATHS } from './graphql.ts';

/** Alerts of one REST response, by default and at most. A list of exactly this length may be the first of several pages. */
const PAGE_SIZES = [30, 100];

/** Whether a list of alerts from the REST API has another length than a page. `gh api --paginate --slurp` writes the lists of all pages. */
export async function isNoPage(input: ReportInput, { jsonShape }: ReportHead): Promise<boolean> {
  let alerts = 0;
  const number = jsonShape === 'array' ? ['*.number'] : jsonShape === 'lines' ? ['number'] : [];
  if (number.length > 0) for await (const _ of jsonValues(input, number)) alerts++;
  return !PAGE_SIZES.includes(alerts);
}

/** One page of a list of alerts or repositories. */
interface Page {
  /** Keys from the root of the response. */
  position: string;
  /** The repository, for a list of alerts. */
  repository: Obj;
  info: Obj;
  counted: number;
  listed: number;
}

const NAMES = ['url', 'nameWithOwner', 'name'];
const ALERTS = ['pageInfo', 'totalCount', 'nodes.*', 'edges.*'].map((field) => `vulnerabilityAlerts.${field}`);
const LISTS = new Set(REPOSITORY_PATHS.flatMap((path) => /^(.*)(?:nodes\.\*|edges\.\*\.node)\.$/.exec(path)?.[1] ?? []));

/**
 * Whether responses of the GraphQL API have all alerts of their repositories, and all repositories. What the first page of a list says about the one before
 * counts, and what the last page says about the next one. Another repository can be at the same position of another page.
 */
export async function hasAllPages(input: ReportInput, { jsonShape }: ReportHead): Promise<boolean> {
  const lists = new Map<string, { hasPrevious: boolean; hasNext: boolean; counted: number; listed: number }>();
  for (const { position, repository, info, counted, listed } of await readPages(input, jsonShape === 'array' ? '*.' : '')) {
    const name = str(repository.url) ?? str(repository.nameWithOwner) ?? str(repository.name) ?? position;
    const before = lists.get(name);
    lists.set(name, {
      hasPrevious: before?.hasPrevious ?? info.hasPreviousPage === true,
      hasNext: (info.hasNextPage ?? before?.hasNext) === true,
      counted: Math.max(counted, before?.counted ?? 0),
      listed: listed + (before?.listed ?? 0),
    });
  }
  return [...lists.values()].every(({ hasPrevious, hasNext, counted, listed }) => !hasPrevious && !hasNext && counted <= listed);
}

/** The names of a repository may come after its alerts. `start` is the part of a path that says which page of the file it is. */
async function readPages(input: ReportInput, start: string): Promise<Page[]> {
  const pages = new Map<string, Page>();
  const names = new Map<string, Obj>();
  const fields = [
    ...REPOSITORY_PATHS.flatMap((path) => [...NAMES, ...ALERTS].map((field) => `${path}${field}`)),
    ...[...LISTS].map((path) => `${path}pageInfo`),
  ];
  for await (const { document, path, value } of jsonValues(
    input,
    fields.map((field) => `${start}${field}`),
  )) {
    const alerts = path.lastIndexOf('vulnerabilityAlerts');
    const [list, field] = alerts === -1 ? [path.slice(0, -1), path.at(-1)] : [path.slice(0, alerts + 1), path[alerts + 1]];
    const key = `${document} ${list.join('.')}`;
    if (NAMES.includes(String(field))) {
      names.set(key, { ...names.get(key), [String(field)]: value });
      continue;
    }
    const page = pages.get(key) ?? { position: list.slice(start === '' ? 0 : 1).join('.'), repository: {}, info: {}, counted: 0, listed: 0 };
    pages.set(key, page);
    if (field === 'pageInfo') page.info = obj(value);
    else if (field === 'totalCount') page.counted = count(value) ?? 0;
    else page.listed++;
  }
  return [...pages].map(([key, page]) => ({ ...page, repository: names.get(key.replace(/\.vulnerabilityAlerts$/, '')) ?? {} }));
}
