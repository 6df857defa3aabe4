import { sql } from 'kysely';
import type { TenantTx } from '../../db/database.ts';
import { readPolicy } from '../../organizations/read-policy.ts';
import { idsSql } from '../follower.ts';
import type { HistoryActor } from '../history.ts';
import { updateShared } from '../merge/merged-values.ts';

/** Merges what is left of several statements after one of them ended or moved. */
export async function foldAgain(tx: TenantTx, actor: HistoryActor, ids: readonly string[]): Promise<void> {
  const { sla } = await readPolicy(tx, actor.orgId);
  await updateShared(
    tx,
    { orgId: actor.orgId, importId: null, sla, actor },
    sql`select s.finding_id from sightings s where s.org_id = ${actor.orgId} and s.finding_id in (${idsSql(ids)}) and s.said is not null`,
  );
}
