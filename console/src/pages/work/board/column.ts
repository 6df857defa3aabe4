import type { ListedWorkItem, ResultOf, WorkItemStatus } from '@rrs/client';

export interface Column {
  status: WorkItemStatus;
  cards: ListedWorkItem[];
  total: ResultOf<'listWorkItems'>['page']['total'];
}

/** A card that moved while the columns were read can be in two of them. Its newest version counts. */
export function withoutRepeats(columns: readonly Column[]): Column[] {
  const newest = new Map<string, number>();
  for (const { id, version } of columns.flatMap(({ cards }) => cards)) newest.set(id, Math.max(version, newest.get(id) ?? 0));
  return columns.map((column) => ({ ...column, cards: column.cards.filter(({ id, version }) => newest.get(id) === version) }));
}
