import { sql } from 'kysely';
import type { TenantTx } from '../../db/database.ts';

/** A person known by the id of a member or of an API key without a member, or an assignee who is not a member, known by name only. */
export interface Participant {
  person: string | null;
  name: string | null;
  /** What the person did, as the rest of a sentence that starts with "you". */
  part: string;
}

/** Everybody who ever took part in the work, including former assignees and people who claimed findings that were removed later. */
export async function participantsIn(tx: TenantTx, orgId: string, itemId: string): Promise<Participant[]> {
  const { rows } = await sql<Participant>`
    with events as (
      select action, actor_id, before, after from audit_events
      where org_id = ${orgId} and ((object_type = 'work_item' and object_id = ${itemId}::uuid::text) or (action = 'artifact.added' and after->>'work_item_id' = ${itemId}::uuid::text))
    ), acted (id, part) as (
      select created_by, 'created it' from work_items where org_id = ${orgId} and id = ${itemId}
      union select actor_id, 'did the work' from events where action = 'work_item.status_changed' and after->>'status' in ('in_progress', 'awaiting_verification')
      union select actor_id, 'added an artifact to it' from events where action = 'artifact.added'
      union select h.actor_id, 'claimed findings of it as remediated' from work_item_findings l
        join finding_history h on h.org_id = ${orgId} and h.finding_id = l.finding_id and h.after->>'status' = 'remediated'
        where l.org_id = ${orgId} and l.work_item_id = ${itemId} and h.actor_type <> 'system'
    )
    select person, name, part from (
      select coalesce(k.owner_member_id::text, acted.id) as person, null as name, acted.part
      from acted left join api_keys k on k.org_id = ${orgId} and k.id::text = acted.id where acted.id is not null
      union select assignee_member_id::text, lower(assignee), 'are its assignee' from work_items where org_id = ${orgId} and id = ${itemId} and assignee is not null
      union select side->>'assignee_member_id', lower(side->>'assignee'), 'were its assignee' from events, unnest(array[before, after]) as side where side->>'assignee' is not null
    ) all_of_them order by array_position(array['are its assignee', 'claimed findings of it as remediated', 'created it', 'did the work', 'were its assignee'], part)`.execute(
    tx,
  );
  return rows;
}

/** What a person did in the work, or null if the person had no part in it. */
export function partOf(participants: readonly Participant[], { person, name }: { person: string | null; name: string }): string | null {
  const found = participants.find((one) => (one.person !== null && one.person === person) || one.name === name.toLowerCase());
  return found?.part ?? null;
}
