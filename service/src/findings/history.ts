import { type RawBuilder, sql } from 'kysely';
import type { Actor } from '../shared/actor.ts';

export type HistoryActor = Pick<Actor, 'orgId' | 'type' | 'id' | 'name' | 'person'> & Partial<Pick<Actor, 'requestId'>>;

/**
 * Returns the `insert` of one history entry per row of a query that yields `finding_id uuid`, `action text`, `before jsonb`, `after jsonb` and
 * `reason text`, for a common table expression of the statement that makes the changes.
 */
export function historySql(
  { orgId, type, id, name, person, requestId }: HistoryActor,
  rows: RawBuilder<unknown>,
  importId: string | null = null,
): RawBuilder<unknown> {
  return sql`
    insert into finding_history (org_id, finding_id, id, actor_type, actor_id, actor_name, person, person_name, import_id, request_id, action, before, after, reason)
    select ${orgId}::uuid, finding_id, new_id(), ${type}::text, ${id}::text, ${name}::text, ${person?.id ?? null}::text, ${person?.name ?? null}::text,
      ${importId}::uuid, ${requestId ?? null}::text, action, before, after, reason
    from (${rows}) changed`;
}
