import { sql } from 'kysely';
import { recordAudit } from '../../audit/record.ts';
import type { TenantTx } from '../../db/database.ts';
import type { Actor } from '../../shared/actor.ts';
import { AppError } from '../../shared/errors.ts';
import { endAgain } from '../endings/end-again.ts';
import { foldAgain } from '../endings/fold-again.ts';
import type { FindingRow } from '../fields/field.ts';
import { type FindingFollower, idsSql, type SeparatedPair } from '../follower.ts';
import { takeImportLock } from '../import-lock.ts';
import { readFinding } from '../list/list.ts';
import { countPlaces } from '../merge/write-places.ts';
import { mergeFindings } from './merge-findings.ts';
import { keepOwnIds } from './named-ids.ts';
import { splitFindings } from './split-findings.ts';

interface Merge {
  id: string;
  into: string;
  reason: string;
}

/** Merges two findings of one asset that a person holds to be one. The older one stays. Returns it. */
export async function mergeByHand(tx: TenantTx, actor: Actor, follower: FindingFollower, { id, into, reason }: Merge): Promise<FindingRow> {
  const { orgId } = actor;
  await takeImportLock(tx, orgId);
  const findings = [await readFinding(tx, orgId, id), await readFinding(tx, orgId, into)] as const;
  assertMergeable(...findings);
  const [older, newer] = findings.toSorted((one, other) => one.created_at.getTime() - other.created_at.getTime() || (one.id < other.id ? -1 : 1)) as [
    FindingRow,
    FindingRow,
  ];
  const pair = { from_id: newer.id, into_id: older.id };
  await mergeFindings(tx, actor, sql`select ${pair.from_id}::uuid as from_id, ${pair.into_id}::uuid as into_id`, { kind: 'by_person', reason });
  await countPlaces(tx, orgId, idsSql([older.id]));
  await recordAudit(tx, actor, { action: 'finding.merged', objectType: 'finding', objectId: newer.id, after: { merged_into: older.id, reason } });
  await follower.moveLinks(tx, actor, [pair]);
  await follower.follow(tx, actor, idsSql([older.id]));
  return readFinding(tx, orgId, older.id);
}

function assertMergeable(one: FindingRow, other: FindingRow): void {
  if (one.id === other.id) throw new AppError('unprocessable', 'A finding cannot be merged into itself.');
  for (const { id, merged_into } of [one, other]) {
    if (merged_into !== null) throw new AppError('conflict', `The finding "${id}" is already merged into "${merged_into}". Use that one.`);
  }
  if (one.asset_id !== other.asset_id) throw new AppError('unprocessable', 'The findings are on different assets. If these are one, merge the assets first.');
}

/** Separates a finding from the one it was merged into. Returns it. */
export async function splitByHand(tx: TenantTx, actor: Actor, follower: FindingFollower, { id, reason }: { id: string; reason: string }): Promise<FindingRow> {
  const { orgId } = actor;
  await takeImportLock(tx, orgId);
  const { merged_into } = await readFinding(tx, orgId, id);
  if (merged_into === null) throw new AppError('conflict', 'The finding is not merged into another one.');
  const rule = await tx
    .selectFrom('identity_rules')
    .select(['id', 'asset_merge_id'])
    .where('org_id', '=', orgId)
    .where('a', '=', id)
    .where('revoked_at', 'is', null)
    .executeTakeFirst();
  if (!rule) throw new Error(`the merged finding ${id} has no rule`);
  if (rule.asset_merge_id !== null) throw new AppError('conflict', 'The finding was merged because its asset was. Undo the merge of the assets instead.');
  const pairs = await splitFindings(tx, actor, sql`select ${rule.id}::uuid`, { reason });
  const apart = pairs.flatMap(({ from_id, into_id }) => [from_id, into_id]);
  await keepOwnIds(tx, orgId, null, apart);
  await foldAgain(tx, actor, apart);
  await countPlaces(tx, orgId, idsSql(apart));
  await recordAudit(tx, actor, { action: 'finding.split', objectType: 'finding', objectId: id, before: { merged_into }, after: { merged_into: null, reason } });
  await restore(tx, actor, follower, pairs);
  return readFinding(tx, orgId, id);
}

async function restore(tx: TenantTx, actor: Actor, follower: FindingFollower, pairs: readonly SeparatedPair[]): Promise<void> {
  const ids = pairs.flatMap(({ from_id, into_id }) => [from_id, into_id]);
  await endAgain(tx, actor, follower, ids);
  await follower.restoreLinks(tx, actor, pairs);
  await follower.follow(tx, actor, idsSql(ids));
}
