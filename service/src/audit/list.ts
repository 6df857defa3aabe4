import type { Static } from 'typebox';
import type { TenantTx } from '../db/database.ts';
import { fetchPage, type PageRequest } from '../db/pages.ts';
import type { AuditEventQuery } from './schemas.ts';

type AuditFilter = Static<typeof AuditEventQuery>;

export function listAuditEvents(tx: TenantTx, orgId: string, filter: AuditFilter, page: PageRequest) {
  let query = tx.selectFrom('audit_events').selectAll().where('org_id', '=', orgId);
  if (filter.actor_id !== undefined) query = query.where('actor_id', '=', filter.actor_id);
  if (filter.person_id !== undefined) query = query.where('person', '=', filter.person_id);
  if (filter.action !== undefined) query = query.where('action', 'in', filter.action);
  if (filter.object_type !== undefined) query = query.where('object_type', '=', filter.object_type);
  if (filter.object_id !== undefined) query = query.where('object_id', '=', filter.object_id);
  if (filter.request_id !== undefined) query = query.where('request_id', '=', filter.request_id);
  if (filter.occurred_from !== undefined) query = query.where('occurred_at', '>=', new Date(filter.occurred_from));
  if (filter.occurred_to !== undefined) query = query.where('occurred_at', '<', new Date(filter.occurred_to));
  return fetchPage(tx, query, { occurred_at: { column: 'occurred_at', type: 'timestamptz' } }, page);
}

export type AuditEventRow = Awaited<ReturnType<typeof listAuditEvents>>['data'][number];
