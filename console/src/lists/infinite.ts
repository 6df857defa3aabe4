import type { ItemOf, ListName } from '@rrs/client';
import { type InfiniteData, keepPreviousData, useInfiniteQuery } from '@tanstack/react-query';
import { useMemo, useRef } from 'react';
import { api, queries } from '../api/client.ts';
import type { Query } from './query.ts';

export const PAGE_SIZE = 100;
/** Pages that stay in memory. Those further away are read again when somebody scrolls back. */
const KEPT_PAGES = 20;

interface Position {
  cursor: string | null;
  /** The number of pages before this one. */
  index: number;
}

interface AnyPage {
  data: { id: string }[];
  page: { next_cursor: string | null; prev_cursor: string | null; total: Total | null };
}
type Total = { count: number; relation: 'exact' | 'at_least' };
type Read = (name: ListName, input: { path?: Record<string, string>; query: Record<string, unknown>; signal: AbortSignal }) => Promise<AnyPage>;

export interface List<Row> {
  /** The rows of the list that are known to exist, by their position. Rows that are not in memory are undefined. */
  row: (index: number) => Row | undefined;
  count: number;
  rows: readonly Row[];
  total: Total | null;
  /** Reads what is around this position, if it is not here. */
  reach: (index: number) => void;
  isLoading: boolean;
  /** Old rows are on the screen while those of another filter are on their way. */
  isPlaceholder: boolean;
  error: unknown;
  refetch: () => void;
}

/** A list of the API as one long list of rows. The query is that of the address. */
export function useList<Name extends ListName>(name: Name, query: Query, path?: Record<string, string>): List<ItemOf<Name>> {
  const result = useInfiniteQuery({
    queryKey: [name, 'list', query, path],
    queryFn: async ({ pageParam: { cursor }, signal }) => {
      const read = api.call as Read;
      const position = cursor === null ? { total: 'bounded' } : { cursor };
      return await read(name, { ...(path ? { path } : {}), query: { ...query, limit: PAGE_SIZE, ...position }, signal });
    },
    initialPageParam: { cursor: null, index: 0 } as Position,
    getNextPageParam: ({ page }, _all, { index }): Position | null => (page.next_cursor === null ? null : { cursor: page.next_cursor, index: index + 1 }),
    getPreviousPageParam: ({ page }, _all, { index }): Position | null =>
      page.prev_cursor === null || index === 0 ? null : { cursor: page.prev_cursor, index: index - 1 },
    maxPages: KEPT_PAGES,
    // Rows never move under the cursor: changes are applied in place, or shown on request.
    staleTime: Number.POSITIVE_INFINITY,
    refetchOnWindowFocus: false,
    placeholderData: keepPreviousData,
    // Otherwise each page that is read would compare all pages in memory with their neighbours, because the first of them is dropped.
    structuralSharing: false,
    // That a page is on its way changes nothing on the screen. Whoever scrolls fast would draw everything twice for each page.
    notifyOnChangeProps: ['data', 'error', 'isPlaceholderData'],
  });
  const { data, hasNextPage, hasPreviousPage, fetchNextPage, fetchPreviousPage } = result;
  const rows = useMemo(() => (data?.pages ?? []).flatMap((page) => page.data) as ItemOf<Name>[], [data]);
  const first = (data?.pageParams[0] as Position | undefined)?.index ?? 0;
  const offset = first * PAGE_SIZE;
  // Only the first page says how many rows there are, and it may have left the memory.
  const total = useRef<Total | null>(null);
  if (first === 0) total.current = data?.pages[0]?.page.total ?? null;
  return {
    rows,
    row: (index) => rows[index - offset],
    count: offset + rows.length,
    total: total.current,
    reach: (index) => {
      // Whatever is on its way is not interrupted. Its rows lead to the next question.
      if (index > offset + rows.length - 40 && hasNextPage) void fetchNextPage({ cancelRefetch: false });
      else if (index < offset + 10 && hasPreviousPage) void fetchPreviousPage({ cancelRefetch: false });
    },
    isLoading: data === undefined && result.error === null,
    isPlaceholder: result.isPlaceholderData,
    error: data === undefined ? result.error : null,
    refetch: () => void result.refetch(),
  };
}

/** Replaces rows of all lists on the screen and in memory. */
export function replaceRows<Name extends ListName>(name: Name, change: (row: ItemOf<Name>) => ItemOf<Name>): void {
  queries.setQueriesData<InfiniteData<AnyPage>>(
    { queryKey: [name, 'list'] },
    (data) => data && { ...data, pages: data.pages.map((page) => ({ ...page, data: (page.data as ItemOf<Name>[]).map(change) as AnyPage['data'] })) },
  );
}

/** Reads lists again from their first page. */
export async function restartLists(name: ListName): Promise<void> {
  await queries.resetQueries({ queryKey: [name, 'list'] });
}

/** "1,204" or "more than 10,000". */
export function totalOf(total: Total | null): string {
  if (total === null) return '';
  const count = total.count.toLocaleString('en');
  return total.relation === 'exact' ? count : `more than ${count}`;
}
