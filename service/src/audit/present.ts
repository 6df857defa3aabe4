import type { Static } from 'typebox';
import type { AuditEventRow } from './list.ts';
import type { AuditEvent } from './schemas.ts';

export type PresentedEvent = Static<typeof AuditEvent>;

export function toAuditEvent(row: AuditEventRow): PresentedEvent {
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
