import type { TenantTx } from '../../db/database.ts';
import { type Page, type PageRequest, pageOf, type SortColumns, sortOf } from '../../db/pages.ts';
import { type Filtered, filteredStatements } from './filtered-statements.ts';
import { lastLookup } from './last-lookup.ts';
import type { FindingFilter } from './prepare-filter.ts';
import { hasPrefix, requiresId } from './search.ts';

/** How many rows along the sort order are compared first. A page of any common filter is full by then. */
const SHORT_WALK = 2_000;
/** The first walk for words that also find longer ones: they may be in most findings or in few, and the planner's estimate is often wrong. */
const SHORTEST_WALK = 250;
/** Takes as long as looking up the most that is called few. */
const LONG_WALK = 40_000;
const LONGEST_WALK = 300_000;
/** How much farther to walk than the matches of the short walk suggest, so that the page is usually full. */
const FARTHER = 1.5;
/** Matches that are looked up and sorted rather than walked to. */
const FEW = 40_000;
/** Matches that are looked up at once where few are likely. There may be more, so this many must not take long in vain. */
const LIKELY_FEW = 5_000;
/** How many times as many matches as before are not looked up at once again. */
const GROWN = 2;
/** Matches that are walked to as far as this takes, because looking them up takes longer. */
const MANY = 200_000;

/** Filters that name something particular. They often have few matches, and the planner knows how many. */
const PARTICULAR: readonly (keyof FindingFilter)[] = [
  'q',
  'cve',
  'cwe',
  'component',
  'path',
  'rule',
  'import_id',
  'work_item_id',
  'assignee',
  'asset_id',
  'asset',
  'asset_version',
];

/**
 * Left alone, the planner walks along the index of the sort order until it has a page, assuming that matches are spread evenly. If they are all at the far
 * end, that reads the whole index. So there are two ways to find a page, walking along the sort order, which is fast if matches are many, and looking up
 * all matches, which is fast if they are few. The planner's estimate of all matches and the matches of a short walk decide. Each attempt is bounded,
 * because both can mislead. See ADR 43.
 */
export async function fetchFilteredPage<Row extends { id: string }>(
  tx: TenantTx,
  filtered: Filtered<Row>,
  columns: SortColumns<Row>,
  request: PageRequest,
): Promise<Page<Row>> {
  const { walk, lookUp, lookUpAll, estimate, total } = filteredStatements(tx, filtered, columns, request);
  const { orgId, prepared } = filtered;
  const { filter } = prepared;
  const { last, remember, forget } = lastLookup(orgId, filter);
  const few = last?.sort === request.sort ? FEW : LIKELY_FEW;
  const words = prepared.search && 'all' in prepared.search ? prepared.search.all : [];
  const isVague = words.some(hasPrefix);
  const isId = Object.keys(filter).length === 1 && (filter.cve !== undefined || (words.length > 0 && words.every(requiresId)));
  const isParticular = !isVague && PARTICULAR.some((name) => name in filter);

  const isFull = (rows: Row[]): boolean => rows.length > request.limit;
  const lookUpAtMost = async (most: number): Promise<Row[] | null> => {
    const { count, rows } = await lookUp(most);
    if (count === null) return null;
    remember({ count: count <= most ? count : Number.POSITIVE_INFINITY, sort: request.sort });
    return count <= most ? rows : null;
  };
  const lookUpAgain = async (before: number): Promise<Row[] | null> => {
    const { count, rows } = await lookUp(few);
    if (count === null) return null;
    // Walking may take less time by now.
    if (count > Math.min(few, GROWN * (before + request.limit))) forget();
    return count <= few ? rows : null;
  };
  const search = async (): Promise<Row[]> => {
    const again = last && last.count <= few ? await lookUpAgain(last.count) : null;
    if (again) return again;
    const areFew = !last && (isId || (isParticular && (await estimate()) <= SHORT_WALK));
    const fewest = areFew ? await lookUpAtMost(LIKELY_FEW) : null;
    if (fewest) return fewest;
    const short = isVague ? SHORTEST_WALK : SHORT_WALK;
    const near = await walk(short, { keep: true });
    if (isFull(near)) return near;
    const distant = isVague && !last && near.length === 0 ? await lookUpAtMost(LIKELY_FEW) : null;
    if (distant) return distant;
    const rest = (FARTHER * short * request.limit) / near.length;
    const nearby = rest < SHORT_WALK || rest < Math.min(await estimate(), FEW) ? await walk(Math.ceil(rest)) : [];
    if (isFull(nearby)) return nearby;
    const all = (await estimate()) <= FEW ? await lookUpAtMost(FEW) : null;
    if (all) return all;
    const far = await walk((await estimate()) <= MANY ? LONG_WALK : LONGEST_WALK);
    return isFull(far) ? far : lookUpAll();
  };
  const counted = await total();
  return pageOf(await search(), counted, sortOf(columns, request), request);
}
