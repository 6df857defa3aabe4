import { type RawBuilder, sql } from 'kysely';
import type { TenantTx } from '../../db/database.ts';
import type { FindingFollower } from '../../findings/follower.ts';
import type { Actor } from '../../shared/actor.ts';
import { followUp, linksSql } from './follow-up.ts';
import { linkFindings, moveLinks, restoreLinks } from './links.ts';
import { lockItems, lockLinksShared } from './locks.ts';
import { assertFindingsChangeable, readItem } from './read.ts';
import { rollUpItems } from './roll-up.ts';
import { doneStatuses, isClosed, type WorkItemStatus } from './status.ts';

/** Updates the work items of findings that changed. */
export const followFindings: FindingFollower = {
  follow: updateItems,
  async assertOpen(tx, orgId, id) {
    assertFindingsChangeable(await readItem(tx, orgId, id));
  },
  async onWorkItems(tx, orgId, ids) {
    const { rows } = await sql<{ id: string }>`select distinct finding_id as id from ${linksSql(orgId, ids)} l`.execute(tx);
    return rows.map(({ id }) => id);
  },
  async link(tx, actor, id, ids) {
    await linkFindings(tx, actor, id, { ids });
  },
  moveLinks,
  restoreLinks,
};

async function updateItems(tx: TenantTx, actor: Actor, ids: RawBuilder<unknown>): Promise<void> {
  const { orgId } = actor;
  await lockLinksShared(tx, orgId);
  const { rows } = await sql<{ id: string; status: WorkItemStatus }>`
    with touched as materialized (select distinct work_item_id from ${linksSql(orgId, ids)} l)
    select w.id, w.status from touched cross join lateral (
      select w.id, w.status from work_items w where w.org_id = ${orgId} and w.id = touched.work_item_id offset 0
    ) w`.execute(tx);
  if (rows.length === 0) return;
  await lockItems(tx, orgId);
  const open = rows.filter(({ status }) => !isClosed(status));
  if (open.length > 0)
    await rollUpItems(
      tx,
      actor,
      open.map(({ id }) => id),
    );
  if (rows.some(({ status }) => (doneStatuses as readonly string[]).includes(status))) await followUp(tx, actor, ids);
}
