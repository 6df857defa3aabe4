import { type Expression, sql } from 'kysely';
import type { TenantTx } from '../../db/database.ts';
import { count, type PageRequest, type SortColumns, sorted, sortOf } from '../../db/pages.ts';
import { kept } from '../../db/prepared.ts';
import { type FindingSelect, filterFindings, ownFindings } from './filter.ts';
import type { FindingFilter, PreparedFilter } from './prepare-filter.ts';

/** Filters that are words for the same index. */
const WORDS: readonly string[] = ['q', 'cve', 'cwe', 'tag'];
/** Filters that stand for a list of assets, if these are few. */
const OF_ASSETS: readonly string[] = ['asset', 'owner', 'criticality', 'exposure', 'asset_tag', 'not_asset_tag'];
/** Filters that compare other columns of findings. */
const OF_COLUMNS: readonly string[] = ['severity', 'status', 'kev', 'risk_min', 'epss_min', 'overdue', 'fix_first', 'source', 'asset_type', 'assurance'];

export interface Filtered<Row> {
  /** Selects the columns of the list. */
  select: (from: FindingSelect<object>) => FindingSelect<Row>;
  /** Reads the findings with these ids. */
  read: (tx: TenantTx, of: { orgId: string; ids: string[] }) => Promise<Row[]>;
  orgId: string;
  prepared: PreparedFilter;
}

interface Key {
  key: unknown;
  id: string;
}

/** The ways to find one page of findings that match a filter. */
export function filteredStatements<Row extends { id: string }>(tx: TenantTx, filtered: Filtered<Row>, columns: SortColumns<Row>, request: PageRequest) {
  const { select, read, orgId, prepared } = filtered;
  const sort = sortOf(columns, request);
  const key = sql<unknown>`${sql.ref(sort.column)}`.as('key');
  const matching = filterFindings(ownFindings(tx).select([key, 'findings.id']), orgId, prepared);
  const bounds = { ...prepared, filter: boundsOf(prepared.filter, sort.column), search: null, otherSources: null, fewAssets: null };
  const names = Object.keys(prepared.filter);
  // These statements have the same text and good plans for all values, whatever the values are.
  const isKept = names.every((name) => name === 'component' || WORDS.includes(name) || (prepared.fewAssets !== null && OF_ASSETS.includes(name)));
  // Whatever the values of a single filter of this kind, walking to them has the same plan. Combinations would be too many statements to keep.
  const isKeptWalk = isKept || (names.length === 1 && names.every((name) => OF_COLUMNS.includes(name)));
  const firstOf = (found: Expression<Key>) =>
    sorted(tx.selectFrom(sql<Key>`${found}`.as('found')).select(['found.key', 'found.id']), { ...sort, column: 'key' }, request);
  /** A finding that has changed since it was found stays in its place, so that the cursors lead to what comes before and after it. */
  const rowsOf = async (found: readonly Key[]): Promise<Row[]> => {
    if (found.length === 0) return [];
    const rows = new Map((await read(tx, { orgId, ids: found.map(({ id }) => id) })).map((row) => [row.id, row]));
    return found.flatMap(({ id, key }) => {
      const row = rows.get(id);
      return row ? [{ ...row, [sort.column]: key }] : [];
    });
  };
  let estimated: Promise<number> | undefined;

  return {
    total: () => count(tx, matching, request.total),

    /** How many findings the planner expects to match. */
    estimate: (): Promise<number> => (estimated ??= estimateOf(tx, matching)),

    /** The matches among the next rows along the sort order, as many of them as a page shows. */
    async walk(most: number, { keep = false } = {}): Promise<Row[]> {
      // Only listed findings are in the indexes of the sort orders.
      if (prepared.unlisted) return [];
      const nearby = sorted(filterFindings(ownFindings(tx).selectAll(), orgId, bounds, 'scan'), sort, { ...request, limit: most });
      const matches = filterFindings(select(tx.selectFrom(nearby.as('findings'))), orgId, prepared, 'scan');
      const query = sorted(matches, sort, request).compile();
      return (await tx.executeQuery(keep && isKeptWalk ? kept(query, 'once') : query)).rows;
    },

    /** Finds all matches, unless they are more than `most`, and reads those of the page. `count` is null if it is unknown. */
    async lookUp(most: number): Promise<{ count: number | null; rows: Row[] }> {
      const page = firstOf(sql`(select * from matches)`).select(sql<number>`(select count(*)::int from matches)`.as('count'));
      const query = sql<Key & { count: number }>`with matches as materialized (${matching.limit(sql.lit(most + 1))}) ${page}`.compile(tx);
      const { rows } = await tx.executeQuery(isKept ? kept(query, 'for_values') : query);
      // After a cursor, matches may all be on pages before. It is rare: findings have changed meanwhile.
      const counted = rows[0]?.count ?? (request.position ? null : 0);
      return { count: counted, rows: counted === null || counted > most ? [] : await rowsOf(rows) };
    },

    /** Sorts all matches, however many. The offset keeps the planner from walking, and nothing is kept but the page: millions would not fit in memory. */
    lookUpAll: async (): Promise<Row[]> => rowsOf(await firstOf(matching.offset(sql.lit(0))).execute()),
  };
}

/** How many rows the planner expects of a query, from its statistics. Costs only the planning. */
async function estimateOf(tx: TenantTx, query: Expression<unknown>): Promise<number> {
  const { rows } = await sql<{ 'QUERY PLAN': [{ Plan: { 'Plan Rows': number } }] }>`explain (format json) ${query}`.execute(tx);
  return rows[0]?.['QUERY PLAN'][0].Plan['Plan Rows'] ?? 0;
}

/** Filters that bound the matches along a sort order. */
const BOUNDS: Record<string, readonly (keyof FindingFilter)[]> = {
  risk_score: ['risk_min'],
  severity: ['severity', 'not_severity'],
  first_seen: ['first_seen_from', 'first_seen_to'],
  last_seen: ['last_seen_from', 'last_seen_to'],
  created_at: ['created_from', 'created_to'],
  updated_at: ['updated_from', 'updated_to'],
  due_at: ['due_from', 'due_to', 'overdue'],
};

function boundsOf(filter: FindingFilter, column: string): FindingFilter {
  return Object.fromEntries(Object.entries(filter).filter(([name]) => BOUNDS[column]?.includes(name as keyof FindingFilter)));
}
