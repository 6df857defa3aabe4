import { type RawBuilder, sql } from 'kysely';
import { recordAudit } from '../../audit/record.ts';
import type { TenantTx } from '../../db/database.ts';
import { emit } from '../../events/emit.ts';
import { findingFacts } from '../../findings/relations.ts';
import { activeStatuses } from '../../findings/status.ts';
import type { Actor } from '../../shared/actor.ts';
import { priorityName } from './priority.ts';
import { rollUpItems } from './roll-up.ts';
import { doneStatuses } from './status.ts';

/**
 * The work items that findings are on. `offset 0`, here and below, forces one index lookup per finding: right after a bulk link the
 * planner's statistics still say that there are few links, and it would choose a nested loop over all of them.
 */
export function linksSql(orgId: string, ids: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`(
    select changed.id as finding_id, linked.work_item_id from (${ids}) as changed (id) cross join lateral (
      select l.work_item_id from work_item_findings l where l.org_id = ${orgId} and l.finding_id = changed.id and l.unlinked_at is null offset 0
    ) linked)`;
}

/**
 * Findings that came back after their work item was done. `returned` groups them by that work item. Work items that follow one another
 * form a chain, and `ends` has the last work item of each chain, open or closed. Findings that are on an open work item are left out.
 */
function returnedSql(orgId: string, ids: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`
    returned as materialized (
      select done, array_agg(finding_id order by finding_id) as finding_ids from (
        select distinct on (l.finding_id) l.finding_id, w.id as done
        from ${linksSql(orgId, ids)} l
        cross join lateral (
          select w.id, w.closed_at from work_items w
          where w.org_id = ${orgId} and w.id = l.work_item_id and w.status = any(${doneStatuses as readonly string[]}) offset 0
        ) w
        cross join lateral (
          select from ${findingFacts} f where f.org_id = ${orgId} and f.id = l.finding_id and f.status = any(${activeStatuses as readonly string[]}) offset 0
        ) f
        where not exists (
          select from work_item_findings other
          where other.org_id = ${orgId} and other.finding_id = l.finding_id and other.unlinked_at is null
            and (select o.closed_at is null from work_items o where o.org_id = ${orgId} and o.id = other.work_item_id)
          offset 0)
        order by l.finding_id, w.closed_at desc, w.id desc
      ) last_done group by done
    ), line as (
      select done, done as id from returned
      union all
      select line.done, next.id from line join work_items next on next.org_id = ${orgId} and next.follows = line.id
    ), ends as materialized (
      select line.done, line.id from line where not exists (select from work_items next where next.org_id = ${orgId} and next.follows = line.id)
    )`;
}

interface FollowUp {
  id: string;
  title: string;
  description: string | null;
  priority: number;
  follows: string;
  assignee: string | null;
  assignee_member_id: string | null;
}

/** Closed work items are never reopened. Findings that come back go to the work item that follows, which is created if none is open. The caller must have the item lock. */
export async function followUp(tx: TenantTx, actor: Actor, ids: RawBuilder<unknown>): Promise<void> {
  const { orgId } = actor;
  const created = await sql<FollowUp>`
    with recursive ${returnedSql(orgId, ids)}
    insert into work_items (org_id, id, title, description, assignee, assignee_member_id, priority, follows, created_by, created_by_name)
    select ${orgId}, new_id(), w.title, w.description, w.assignee, w.assignee_member_id, w.priority, w.id, ${actor.person?.id ?? null}, ${actor.name}
    from (select distinct id from ends) ended join work_items w on w.org_id = ${orgId} and w.id = ended.id and w.closed_at is not null
    returning id, title, description, priority, follows, assignee, assignee_member_id`.execute(tx);
  const linked = await sql<{ id: string; linked: number }>`
    with recursive ${returnedSql(orgId, ids)}, linked as (
      insert into work_item_findings (org_id, id, work_item_id, finding_id, linked_by)
      select ${orgId}, new_id(), ends.id, unnest(returned.finding_ids), ${actor.name} from returned join ends on ends.done = returned.done
      returning work_item_id
    )
    select work_item_id as id, count(*)::int as linked from linked group by work_item_id`.execute(tx);
  await recordFollowUps(tx, actor, created.rows, linked.rows);
  await rollUpItems(
    tx,
    actor,
    linked.rows.map(({ id }) => id),
  );
}

async function recordFollowUps(tx: TenantTx, actor: Actor, created: readonly FollowUp[], linked: readonly { id: string; linked: number }[]) {
  const changes = [
    ...created.map(({ id, priority, ...after }) => ({ action: 'work_item.created' as const, id, after: { ...after, priority: priorityName(priority) } })),
    ...linked.map(({ id, linked }) => ({ action: 'work_item.findings_linked' as const, id, after: { linked, reason: 'the findings came back' } })),
  ];
  for (let at = 0; at < changes.length; at += 1_000) {
    const some = changes.slice(at, at + 1_000);
    await recordAudit(tx, actor, ...some.map(({ action, id, after }) => ({ action, objectType: 'work_item', objectId: id, after })));
    await emit(tx, actor.orgId, ...some.map(({ action, id, after }) => ({ type: action, subject: id, data: after })));
  }
}
