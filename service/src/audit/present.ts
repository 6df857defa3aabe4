import type { Static } from 'typebox';
import type { TenantTx } from '../db/database.ts';
import type { AuditEventRow } from './list.ts';
import type { AuditEvent } from './schemas.ts';

export type ListedEvent = Static<typeof AuditEvent>;
/** An event as it was recorded, which is what exports contain. */
export type PresentedEvent = Omit<ListedEvent, 'object'> & { object: Omit<ListedEvent['object'], 'name'> };

/** Finds the names that objects have now, by kind and id: `finding 01994f3e-8a10-7c31-9d3c-5f1f4b8f0a11`. */
export type NamesOf = (tx: TenantTx, orgId: string, objects: readonly PresentedEvent['object'][]) => Promise<ReadonlyMap<string, string>>;

interface Named {
  rows: readonly AuditEventRow[];
  namesOf: NamesOf;
}

/** Presents events with the names of their objects, which are looked up once for all of them. */
export async function namedEvents(tx: TenantTx, orgId: string, { rows, namesOf }: Named): Promise<(row: AuditEventRow) => ListedEvent> {
  const names = await namesOf(
    tx,
    orgId,
    rows.map(({ object_type, object_id }) => ({ type: object_type, id: object_id })),
  );
  return (row) => {
    const { object, ...event } = toAuditEvent(row);
    return { ...event, object: { ...object, name: names.get(`${object.type} ${object.id}`) ?? null } };
  };
}

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
