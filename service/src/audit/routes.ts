import type { Static } from 'typebox';
import type { Database } from '../db/database.ts';
import { presentPage } from '../db/pages.ts';
import type { App } from '../http/app.ts';
import { listRoute } from '../http/resource.ts';
import { type AuditEventRow, listAuditEvents } from './list.ts';
import { type AuditEvent, AuditEventList, AuditEventQuery } from './schemas.ts';

export function auditRoutes({ db, secret }: { db: Database; secret: Buffer }) {
  return (app: App): void => {
    listRoute(app, { db, secret }, '/audit-events', {
      access: 'audit:read',
      operationId: 'listAuditEvents',
      summary: 'List audit events',
      description:
        'Returns who changed which object, newest first. Every change writes its audit event in the same transaction. Audit events are never changed or deleted.',
      tag: 'Organization',
      query: AuditEventQuery,
      list: AuditEventList,
      read: async (tx, { actor, query, page }) => presentPage(await listAuditEvents(tx, actor.orgId, query, page), toAuditEvent),
    });
  };
}

function toAuditEvent(row: AuditEventRow): Static<typeof AuditEvent> {
  return {
    id: row.id,
    occurred_at: row.occurred_at.toISOString(),
    actor: { type: row.actor_type, id: row.actor_id, name: row.actor_name },
    person: row.person === null ? null : { id: row.person, name: row.person_name ?? '' },
    action: row.action,
    object: { type: row.object_type, id: row.object_id },
    before: row.before as Record<string, unknown> | null,
    after: row.after as Record<string, unknown> | null,
    request_id: row.request_id,
    address: row.address,
  };
}
