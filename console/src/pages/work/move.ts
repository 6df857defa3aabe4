import { RrsError, type SettableWorkItemStatus, type WorkItem } from '@rrs/client';
import { call, queries, readOf, refresh } from '../../api/client.ts';
import { expectOwnEvents } from '../../api/live.ts';
import { replaceRows } from '../../lists/infinite.ts';
import { announce } from '../../parts/toast.tsx';
import { term } from '../../parts/words.ts';

/** Sets the status of a work item. Its findings change with it, so nothing is shown before the service did it. */
export async function move(item: WorkItem, status: SettableWorkItemStatus, reason?: string): Promise<void> {
  expectOwnEvents();
  const body = { status, ...(reason === undefined ? {} : { reason }) };
  try {
    const changed = await call('updateWorkItem', { path: { id: item.id }, header: { 'If-Match': `"${item.version}"` }, body });
    show(changed);
    announce(`${term(changed.status)}: ${changed.title}`);
  } catch (error) {
    if (!(error instanceof RrsError && error.status === 412)) throw error;
    const current = await call('getWorkItem', { path: { id: item.id } });
    show(current);
    throw new Error(`Somebody changed this work item in the meantime. It is now ${term(current.status).toLowerCase()}. Look at it and try again.`);
  } finally {
    await refresh('listWorkItems', 'listWorkItemFindings', 'listWorkItemTimeline', 'getWorkItemState', 'createEvidencePackage', 'getFinding');
  }
}

/** The work item as it is now, with what is possible. */
export const readItem = (id: string): Promise<WorkItem> => queries.fetchQuery({ ...readOf('getWorkItem', { path: { id } }), staleTime: 0 });

/** Shows a changed work item on all lists and pages. */
export function show(item: WorkItem): void {
  queries.setQueryData(readOf('getWorkItem', { path: { id: item.id } }).queryKey, item);
  replaceRows('listWorkItems', (row) => (row.id === item.id ? item : row));
}
