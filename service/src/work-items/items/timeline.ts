import { sql } from 'kysely';
import { auditTrail } from '../../audit/relations.ts';
import type { TenantTx } from '../../db/database.ts';
import { fetchPage, type PageRequest } from '../../db/pages.ts';
import { findingHistory } from '../../findings/relations.ts';
import { readItem } from './read.ts';

export interface TimelineRow {
  id: string;
  occurred_at: Date;
  actor_type: string;
  actor_id: string | null;
  actor_name: string;
  person: string | null;
  person_name: string | null;
  action: string;
  object_type: 'work_item' | 'finding';
  object_id: string;
  before: Record<string, unknown> | null;
  after: Record<string, unknown> | null;
  reason: string | null;
  import_id: string | null;
}

/** Events of the work item, including links and approvals, and the history of its findings until they were removed from it. */
export async function readTimeline(
  tx: TenantTx,
  orgId: string,
  { id, objectType }: { id: string; objectType: TimelineRow['object_type'] | null },
  page: PageRequest,
) {
  await readItem(tx, orgId, id);
  const ofItem = sql`
    select id, occurred_at, actor_type, actor_id, actor_name, person, person_name, action, object_type, object_id, before, after, null as reason, null::uuid as import_id
    from ${auditTrail} trail where org_id = ${orgId} and object_type = 'work_item' and object_id = ${id}::uuid::text`;
  const ofFindings = sql`
    select h.id, h.occurred_at, h.actor_type, h.actor_id, h.actor_name, h.person, h.person_name, 'finding.' || h.action as action, 'finding' as object_type, h.finding_id::text as object_id,
      h.before, h.after, h.reason, h.import_id
    from (
      select l.finding_id, max(coalesce(l.unlinked_at, 'infinity')) as until from work_item_findings l
      where l.org_id = ${orgId} and l.work_item_id = ${id} group by l.finding_id
    ) linked
    join ${findingHistory} h on h.org_id = ${orgId} and h.finding_id = linked.finding_id and h.occurred_at <= linked.until`;
  const parts = { work_item: ofItem, finding: ofFindings };
  const events = sql<TimelineRow>`(${objectType === null ? sql`${ofItem} union all ${ofFindings}` : parts[objectType]})`;
  const query = tx.selectFrom(events.as('timeline')).selectAll();
  return fetchPage(tx, query, { occurred_at: { column: 'occurred_at', type: 'timestamptz' } }, page);
}
