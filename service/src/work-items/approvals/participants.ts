import { sql } from 'kysely';
import { auditTrail } from '../../audit/relations.ts';
import type { TenantTx } from '../../db/database.ts';
import { findingHistory } from '../../findings/relations.ts';

/** A person, or an assignee who is not a member and is known by name only. */
export interface Participant {
  person: string | null;
  name: string | null;
  /** What the person did, as the rest of a sentence that starts with "you". */
  part: string;
}

/** Everybody who ever took part in the work, including former assignees and people who claimed findings that were removed later. */
export async function participantsIn(tx: TenantTx, orgId: string, itemId: string): Promise<Participant[]> {
  const { rows } = await sql<Participant>`
    with acts as (
      select action, person, before, after from ${auditTrail} trail
      where org_id = ${orgId} and ((object_type = 'work_item' and object_id = ${itemId}::uuid::text) or (action = 'artifact.added' and after->>'work_item_id' = ${itemId}::uuid::text))
    ), acted (person, part) as (
      select created_by, 'created it' from work_items where org_id = ${orgId} and id = ${itemId}
      union select person, 'did the work' from acts where action = 'work_item.status_changed' and after->>'status' in ('in_progress', 'awaiting_verification') and not after ? 'findings'
      union select person, 'added an artifact to it' from acts where action = 'artifact.added'
      union select h.person, 'claimed findings of it as remediated' from work_item_findings l
        join ${findingHistory} h on h.org_id = ${orgId} and h.finding_id = l.finding_id and h.after->>'status' = 'remediated'
        where l.org_id = ${orgId} and l.work_item_id = ${itemId}
    )
    select person, name, part from (
      select person, null as name, part from acted where person is not null
      union select assignee_member_id::text, lower(assignee), 'are its assignee' from work_items where org_id = ${orgId} and id = ${itemId} and assignee is not null
      union select side->>'assignee_member_id', lower(side->>'assignee'), 'were its assignee' from acts, unnest(array[before, after]) as side where side->>'assignee' is not null
    ) all_of_them order by array_position(array['are its assignee', 'claimed findings of it as remediated', 'created it', 'did the work', 'were its assignee'], part)`.execute(
    tx,
  );
  return rows;
}

/** What somebody did in the work, as a clause, or null if nothing is known. `names` are those of the person and of the credential. */
export function partOf(participants: readonly Participant[], { person, names }: { person: string | null; names: readonly (string | null)[] }): string | null {
  const called = names.flatMap((name) => (name === null ? [] : [name.toLowerCase()]));
  const found = participants.find((one) => (one.person !== null && one.person === person) || (one.name !== null && called.includes(one.name)));
  return found ? `you ${found.part}` : null;
}
