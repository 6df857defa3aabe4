import { sql } from 'kysely';
import type { TenantTx } from '../../db/database.ts';
import { handle } from '../../jobs/jobs.ts';
import { applyRanking } from '../../organizations/jobs.ts';
import { readPolicy } from '../../organizations/read-policy.ts';
import { systemActor } from '../../shared/actor.ts';
import { reopenRiskIncreased } from '../decisions/risk-increased.ts';
import { type FindingFollower, idsSql } from '../follower.ts';
import { takeImportLock } from '../import-lock.ts';
import { rerankedSql, updateShared } from '../merge/merged-values.ts';
import { dueSql } from '../sla.ts';
import { activeStatuses } from '../status.ts';

/** Recomputes severities after a person changed the ranking of sources. Deadlines follow, as after a change of the SLA. */
export const rankingChange = (follower: FindingFollower) =>
  handle(applyRanking, async ({ org_id: orgId }, { db }) => {
    await db.withTenant({ orgId }, (tx) => rerank(tx, orgId, follower));
  });

async function rerank(tx: TenantTx, orgId: string, follower: FindingFollower): Promise<void> {
  await takeImportLock(tx, orgId);
  const { sla, source_ranking } = await readPolicy(tx, orgId);
  const { rows } = await sql<{ id: string }>`${rerankedSql(orgId, source_ranking)}`.execute(tx);
  if (rows.length === 0) return;
  const actor = systemActor(orgId, 'worker');
  const ids = idsSql(rows.map(({ id }) => id));
  await updateShared(tx, { orgId, importId: null, sla, actor }, ids);
  const due = dueSql(sla, sql`f.clock_from`, sql`f.severity`, sql`f.kev`);
  await sql`
    update findings f set due_at = ${due} where f.org_id = ${orgId} and f.id in (${ids}) and f.status = any(${activeStatuses as readonly string[]}) and f.due_at is distinct from ${due}`.execute(
    tx,
  );
  const reopened = await reopenRiskIncreased(tx, actor, { ids, sla });
  if (reopened.length > 0) await follower.follow(tx, actor, idsSql(reopened));
}
