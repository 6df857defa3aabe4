import { type RawBuilder, sql } from 'kysely';
import type { Tx } from '../db/database.ts';
import type { Actor } from '../shared/actor.ts';
import { newId } from '../shared/ids.ts';
import type { AuditAction } from './actions.ts';

interface AuditedAction {
  action: AuditAction;
  objectType: string;
}

export interface AuditedChange extends AuditedAction {
  objectId: string;
  /** The changed fields before and after the change. The caller leaves out secrets. */
  before?: Record<string, unknown> | null;
  after?: Record<string, unknown> | null;
}

/** Call it in the transaction of the change, so that a change and its audit event are committed together or not at all. */
export async function recordAudit(tx: Tx, actor: Actor, ...changes: AuditedChange[]): Promise<void> {
  if (changes.length === 0) return;
  await tx
    .insertInto('audit_events')
    .values(
      changes.map(({ action, objectType, objectId, before, after }) => ({
        org_id: actor.orgId,
        id: newId(),
        actor_type: actor.type,
        actor_id: actor.id,
        actor_name: actor.name,
        person: actor.person?.id ?? null,
        person_name: actor.person?.name ?? null,
        action,
        object_type: objectType,
        object_id: objectId,
        before: before ? JSON.stringify(before) : null,
        after: after ? JSON.stringify(after) : null,
        request_id: actor.requestId,
        address: actor.address,
      })),
    )
    .execute();
}

/** Records one change per row of a query that yields `object_id text`, `before jsonb` and `after jsonb`. */
export async function recordAuditAll(tx: Tx, actor: Actor, audited: AuditedAction, rows: RawBuilder<unknown>): Promise<void> {
  await recordAuditSql(actor, audited, rows).execute(tx);
}

/** Returns the `insert` of `recordAuditAll` as SQL, for a common table expression of the statement that makes the changes. */
export function recordAuditSql(actor: Actor, { action, objectType }: AuditedAction, rows: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`
    insert into audit_events (org_id, id, actor_type, actor_id, actor_name, person, person_name, action, object_type, object_id, before, after, request_id, address)
    select ${actor.orgId}::uuid, new_id(), ${actor.type}::text, ${actor.id}::text, ${actor.name}::text, ${actor.person?.id ?? null}::text, ${actor.person?.name ?? null}::text, ${action}::text, ${objectType}::text,
      object_id, before, after, ${actor.requestId}::text, ${actor.address}::text
    from (${rows}) audited`;
}
