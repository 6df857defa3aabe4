import type { AssetScope, SourceOnAsset } from '@rrs/evidence-format';
import { type RawBuilder, sql } from 'kysely';
import { type AssetScopeRow, assetScopes } from '../../../assets/relations.ts';
import { auditTrail, type RecordedActor, recordedActor } from '../../../audit/relations.ts';
import type { TenantTx } from '../../../db/database.ts';
import { readOtherOpen, type SourceOnAssetRow } from '../../../findings/facts/scope-facts.ts';
import { readDeletions } from '../../../work-items/standing/removed-sources.ts';
import type { ToPerson } from './persons.ts';

const NONE_OPEN = [0, 0, 0, 0, 0, 0] as const;

/** The assets of the selected findings, and what else is open there. */
export async function readAssets(tx: TenantTx, orgId: string, assetIds: readonly string[], findingIds: RawBuilder<unknown>): Promise<AssetScope[]> {
  const open = new Map((await readOtherOpen(tx, orgId, findingIds)).map((row) => [row.asset_id, row]));
  const { rows } = await sql<AssetScopeRow>`
    select a.id, a.type, a.name, a.owner, a.criticality, a.exposure, a.retired_at, a.versions from ${assetScopes} a
    where a.org_id = ${orgId} and a.id = any(${assetIds as string[]}::uuid[]) order by a.id`.execute(tx);
  return rows.map(({ retired_at, ...asset }) => {
    const { counts = NONE_OPEN, alike = [] } = open.get(asset.id) ?? {};
    const [unknown, info, low, medium, high, critical] = counts;
    return { ...asset, retired_at: retired_at?.toISOString() ?? null, other_open: { critical, high, medium, low, info, unknown }, other_open_alike: alike };
  });
}

interface Removal {
  id: string;
  occurred_at: Date;
  actor: RecordedActor;
}

/** What each source last said about each asset. A source is removed when a person retires it or deletes its connection. */
export async function readSources(tx: TenantTx, orgId: string, rows: readonly SourceOnAssetRow[], toPerson: ToPerson): Promise<SourceOnAsset[]> {
  const connectionIds = rows.flatMap(({ connection_id }) => connection_id ?? []);
  const deletedAt = await readDeletions(tx, orgId, rows);
  const { rows: removals } = await sql<Removal>`
    select distinct on (e.object_id) e.object_id as id, e.occurred_at, ${recordedActor('e')} as actor from ${auditTrail} e
    where e.org_id = ${orgId} and e.object_id = any(${[...connectionIds, ...rows.map(({ source_id }) => source_id)]}) and e.action in ('source.retired', 'connection.deleted')
    order by e.object_id, e.occurred_at desc`.execute(tx);
  const removedBy = new Map(removals.map((removal) => [removal.id, removal]));
  return rows.map(({ asset_id, source_id, source, kind, connection_id, last_scan_at, last_complete_at, retired_at }) => {
    const deletion = deletedAt.get(connection_id ?? '');
    const removedAt = deletion ?? retired_at;
    const removal = removedAt ? removedBy.get(deletion ? (connection_id ?? '') : source_id) : undefined;
    return {
      asset_id,
      source,
      kind,
      last_scan_at: last_scan_at?.toISOString() ?? null,
      last_complete_at: last_complete_at?.toISOString() ?? null,
      removed_at: removedAt?.toISOString() ?? null,
      removed_by: removal ? toPerson(removal.actor) : null,
    };
  });
}
