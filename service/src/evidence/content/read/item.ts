import type { EarlierPackage } from '@rrs/evidence-format';
import { sql } from 'kysely';
import { auditTrail, type RecordedActor, recordedActor } from '../../../audit/relations.ts';
import type { TenantTx } from '../../../db/database.ts';
import { findingFacts } from '../../../findings/relations.ts';
import { findingLinks } from '../../../work-items/relations.ts';
import { earliest } from '../earliest.ts';

/** Who created the work item. */
export async function readCreator(tx: TenantTx, orgId: string, itemId: string): Promise<RecordedActor | null> {
  const { rows } = await sql<{ actor: RecordedActor }>`
    select ${recordedActor('e')} as actor from ${auditTrail} e
    where e.org_id = ${orgId} and e.object_id = ${itemId} and e.action = 'work_item.created' order by e.occurred_at limit 1`.execute(tx);
  return rows[0]?.actor ?? null;
}

interface Extent {
  /** Assets of the findings that were ever linked, and of those that are linked now. */
  assetIds: string[];
  linkedAssetIds: string[];
  firstSeen: Date | null;
}

/** What the findings of a work item are about, also those that were removed from it. */
export async function readExtent(tx: TenantTx, orgId: string, itemId: string): Promise<Extent> {
  const { rows } = await sql<{ asset_id: string; is_linked: boolean; first_seen: Date }>`
    select f.asset_id, bool_or(l.unlinked_at is null) as is_linked, min(f.first_seen) as first_seen
    from ${findingLinks} l cross join lateral (select * from ${findingFacts} f where f.org_id = ${orgId} and f.id = l.finding_id offset 0) f
    where l.org_id = ${orgId} and l.work_item_id = ${itemId} group by 1 order by 1`.execute(tx);
  const [first, ...others] = rows.map(({ first_seen }) => first_seen);
  return {
    assetIds: rows.map(({ asset_id }) => asset_id),
    linkedAssetIds: rows.flatMap(({ asset_id, is_linked }) => (is_linked ? [asset_id] : [])),
    firstSeen: first ? earliest(first, others) : null,
  };
}

/** All packages of the work item that were requested before. */
export async function readEarlier(tx: TenantTx, orgId: string, itemId: string, below: number): Promise<EarlierPackage[]> {
  const rows = await tx
    .selectFrom('evidence_packages')
    .select(['id', 'sequence', 'status', 'tagmanifest_sha256', 'log_epoch', 'log_index'])
    .where('org_id', '=', orgId)
    .where('work_item_id', '=', itemId)
    .where('sequence', '<', below)
    .orderBy('sequence')
    .execute();
  return rows.map(({ id, sequence, status, tagmanifest_sha256, log_epoch, log_index }) => ({
    package_id: id,
    sequence,
    outcome: status === 'generating' ? 'unfinished' : status,
    tagmanifest_sha256,
    log: log_epoch === null || log_index === null ? null : { epoch: log_epoch, index: Number(log_index) },
  }));
}
