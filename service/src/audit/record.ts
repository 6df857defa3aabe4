import type { Tx } from '../db/database.ts';
import type { Actor } from '../shared/actor.ts';
import { newId } from '../shared/ids.ts';

export interface AuditedChange {
  action: string;
  objectType: string;
  objectId: string;
  /** The object before and after, as far as it changed; the caller leaves secrets out. */
  before?: Record<string, unknown> | null;
  after?: Record<string, unknown> | null;
}

/** In the transaction of the change: there is no change without its event and no event without its change. */
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
