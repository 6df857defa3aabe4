import type { Static } from 'typebox';
import { recordAudit } from '../audit/record.ts';
import type { TenantTx } from '../db/database.ts';
import { emit } from '../events/emit.ts';
import type { Actor } from '../shared/actor.ts';
import { newId } from '../shared/ids.ts';
import type { AssetFollower, AssetRow } from './assets.ts';
import { addKeys, assertUnknown } from './own-keys.ts';
import { describeAsset } from './recognize/describe.ts';
import type { AssetCreate } from './schemas.ts';

/** Creates an asset before a scan names it. Reports that name it later are recognized by the same rules as if a report had created it. */
export async function createAsset(tx: TenantTx, actor: Actor, follower: AssetFollower, input: Static<typeof AssetCreate>): Promise<AssetRow> {
  const { orgId } = actor;
  await follower.prepare(tx, orgId);
  const { type, name, criticality, exposure, owner = null, tags = [] } = input;
  const described = describeAsset({ type, name });
  await assertUnknown(tx, orgId, described);
  const asset = await tx
    .insertInto('assets')
    .values({
      org_id: orgId,
      id: newId(),
      type,
      name: described.name,
      name_rank: described.nameRank,
      ...(criticality ? { criticality } : {}),
      ...(exposure ? { exposure } : {}),
      owner,
      tags,
    })
    .returningAll()
    .executeTakeFirstOrThrow();
  await addKeys(tx, asset, described.keys);
  const after = { type, name: asset.name, criticality: asset.criticality, exposure: asset.exposure, owner, tags };
  await recordAudit(tx, actor, { action: 'asset.created', objectType: 'asset', objectId: asset.id, after });
  await emit(tx, orgId, { type: 'asset.created', subject: asset.id, data: after });
  return asset;
}
