import type { Static } from 'typebox';
import type { Database } from '../db/database.ts';
import type { App } from '../http/app.ts';
import { readPage } from '../http/paging.ts';
import { problems } from '../http/schemas.ts';
import { type AuditEventRow, listAuditEvents } from './list.ts';
import { type AuditEvent, AuditEventList, AuditEventQuery } from './schemas.ts';

export function auditRoutes({ db, secret }: { db: Database; secret: Buffer }) {
  return (app: App): void => {
    app.get(
      '/audit-events',
      {
        config: { access: 'audit:read' },
        schema: {
          operationId: 'listAuditEvents',
          summary: 'List audit events',
          description: 'Who did what to which object, newest first. Every change writes one event in its own transaction; events are never changed or deleted.',
          tags: ['Organization'],
          querystring: AuditEventQuery,
          response: { 200: AuditEventList, ...problems('invalid_cursor') },
        },
      },
      async (request, reply) => {
        const events = await readPage({ db, secret }, request, reply, (tx, page) => listAuditEvents(tx, request.actor.orgId, request.query, page));
        return reply.send({ data: events.data.map(toAuditEvent), page: events.page });
      },
    );
  };
}

function toAuditEvent(row: AuditEventRow): Static<typeof AuditEvent> {
  return {
    id: row.id,
    occurred_at: row.occurred_at.toISOString(),
    actor: { type: row.actor_type, id: row.actor_id, name: row.actor_name },
    action: row.action,
    object: { type: row.object_type, id: row.object_id },
    before: row.before as Record<string, unknown> | null,
    after: row.after as Record<string, unknown> | null,
    request_id: row.request_id,
    address: row.address,
  };
}
