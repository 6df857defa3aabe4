import type { WorkItemStatus } from '@rrs/client';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { call } from '../../../api/client.ts';
import type { Query } from '../../../lists/query.ts';
import { workStatuses } from '../filters.ts';
import { type Column, withoutRepeats } from './column.ts';

/** The most cards that a column shows. */
export const SHOWN = 50;

/** Reads all columns together, so that a card that moves leaves one column when it appears in another. */
export function useBoard(filter: Query) {
  return useQuery({
    queryKey: ['listWorkItems', 'board', filter],
    queryFn: async ({ signal }) => withoutRepeats(await Promise.all(workStatuses.map((status) => readColumn(status, filter, signal)))),
    placeholderData: keepPreviousData,
  });
}

async function readColumn(status: WorkItemStatus, filter: Query, signal: AbortSignal): Promise<Column> {
  const query = { ...filter, status: [status], sort: sortOf(status), limit: SHOWN, total: 'bounded' as const };
  const { data, page } = await call('listWorkItems', { query, signal });
  return { status, cards: data, total: page.total };
}

export const sortOf = (status: WorkItemStatus) =>
  status === 'verified' || status === 'closed_with_exceptions' || status === 'cancelled' ? ('-updated_at' as const) : ('due_at' as const);
