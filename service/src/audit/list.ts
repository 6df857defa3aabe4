import type { Static } from 'typebox';
import type { Database, TenantTx } from '../db/database.ts';
import { fetchPage, type PageRequest } from '../db/pages.ts';
import type { AuditEventQuery } from './schemas.ts';

type AuditFilter = Omit<Static<typeof AuditEventQuery>, 'limit' | 'cursor' | 'sort' | 'total'>;

function matching(tx: TenantTx, orgId: string, filter: AuditFilter) {
  let query = tx.selectFrom('audit_events').selectAll().where('org_id', '=', orgId);
  if (filter.actor_id !== undefined) query = query.where('actor_id', '=', filter.actor_id);
  if (filter.person_id !== undefined) query = query.where('person', '=', filter.person_id);
  if (filter.action !== undefined) query = query.where('action', 'in', filter.action);
  if (filter.object_type !== undefined) query = query.where('object_type', '=', filter.object_type);
  if (filter.object_id !== undefined) query = query.where('object_id', '=', filter.object_id);
  if (filter.request_id !== undefined) query = query.where('request_id', '=', filter.request_id);
  if (filter.occurred_from !== undefined) query = query.where('occurred_at', '>=', new Date(filter.occurred_from));
  if (filter.occurred_to !== undefined) query = query.where('occurred_at', '<', new Date(filter.occurred_to));
  return query;
}

export function listAuditEvents(tx: TenantTx, orgId: string, filter: AuditFilter, page: PageRequest) {
  return fetchPage(tx, matching(tx, orgId, filter), { occurred_at: { column: 'occurred_at', type: 'timestamptz' } }, page);
}

export type AuditEventRow = Awaited<ReturnType<typeof listAuditEvents>>['data'][number];

/** A page is written in one turn of the event loop, which other callers wait for. */
const EXPORT_PAGE = 200;

/** All events that match, oldest first. Each page has its own transaction, so that a slow client does not keep one open. */
export async function* exportAuditEvents(db: Database, orgId: string, filter: AuditFilter): AsyncGenerator<AuditEventRow[]> {
  let after: string | null = null;
  for (;;) {
    const page: AuditEventRow[] = await db.withTenant({ orgId }, (tx) => {
      const found = matching(tx, orgId, filter);
      return (after === null ? found : found.where('id', '>', after)).orderBy('id').limit(EXPORT_PAGE).execute();
    });
    if (page.length > 0) yield page;
    if (page.length < EXPORT_PAGE) return;
    after = page.at(-1)?.id ?? null;
  }
}
