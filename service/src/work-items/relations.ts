import { type RawBuilder, sql } from 'kysely';

/** What other features may read of work items. PostgreSQL inlines the sub-queries. */
export const workItemFacts = sql`(select org_id, id, title, status, closed_at from work_items)`;
export const findingLinks = sql`(select org_id, work_item_id, finding_id, linked_at, unlinked_at, unlinked_by, unlink_reason from work_item_findings)`;
export const ticketFacts = sql`(select org_id, id, work_item_id, connection_id, external_key, url, theirs, created_at, created_by, unlinked_at from tickets)`;

/** Selects the ids of the findings that are linked to a work item. */
export function linkedFindingIds(orgId: string, itemId: string): RawBuilder<unknown> {
  return sql`select l.finding_id from work_item_findings l where l.org_id = ${orgId} and l.work_item_id = ${itemId} and l.unlinked_at is null`;
}

/** Changes whenever the work item, its links or its tickets change. `xmin` is the transaction that wrote a row, so the sum grows with each update. */
export function itemFingerprint(orgId: string, itemId: string): RawBuilder<string> {
  const rows = (table: string, id: string) =>
    sql`(select (count(*), coalesce(sum(t.xmin::text::bigint), 0)) from ${sql.table(table)} t where t.org_id = ${orgId} and ${sql.ref(`t.${id}`)} = ${itemId})`;
  return sql<string>`concat_ws(' ', ${rows('work_items', 'id')}, ${rows('work_item_findings', 'work_item_id')}, ${rows('tickets', 'work_item_id')})`;
}
