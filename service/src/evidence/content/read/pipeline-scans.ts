import type { Delivery } from '@rrs/evidence-format';
import { sql } from 'kysely';
import { auditTrail, type RecordedActor, recordedActor } from '../../../audit/relations.ts';
import type { TenantTx } from '../../../db/database.ts';
import type { ScanRow } from '../../../findings/facts/scan-facts.ts';
import type { PipelineIdentity } from '../../../shared/actor.ts';
import type { ToPerson } from './persons.ts';

interface TrustChange {
  at: string;
  actor: RecordedActor;
}
type TrustChanges = ReadonlyMap<string, readonly TrustChange[]>;

/** Who created and changed trusts, oldest first. A trust may be deleted; the audit trail stays. */
export async function readTrustChanges(tx: TenantTx, orgId: string, ids: readonly string[]): Promise<TrustChanges> {
  if (ids.length === 0) return new Map();
  const { rows } = await sql<{ id: string; changes: TrustChange[] }>`
    select e.object_id as id, jsonb_agg(jsonb_build_object('at', e.occurred_at, 'actor', ${recordedActor('e')}) order by e.occurred_at, e.id) as changes
    from ${auditTrail} e
    where e.org_id = ${orgId} and e.object_id = any(${[...new Set(ids)]}) and e.action in ('pipeline_trust.created', 'pipeline_trust.updated')
    group by e.object_id`.execute(tx);
  return new Map(rows.map(({ id, changes }) => [id, changes]));
}

/**
 * Threat: whoever did the work changes the pipeline on a branch of their own. On a ref that is not protected, the trust proves nothing, and is left out.
 */
export function pipelineDelivery(row: ScanRow, pipeline: PipelineIdentity, trusts: TrustChanges, toPerson: ToPerson): Delivery {
  const { trust, ...claims } = pipeline;
  const { issuer, repository, subject, ref, ref_protected } = claims;
  const by = toPerson(row.actor);
  const run = { proof: 'recorded', ...claims } as const;
  const changes = trusts.get(trust.id) ?? [];
  const [created] = changes;
  if (created === undefined || !ref_protected) return { method: 'pipeline', by, connection: null, pipeline: run };
  const changed = changes.findLast(({ at }) => new Date(at) <= row.created_at) ?? created;
  return {
    method: 'pipeline',
    by,
    connection: {
      id: trust.id,
      name: [repository ?? subject, ref].filter(Boolean).join(' '),
      provider: trust.name,
      host: new URL(issuer).host,
      settings_sha256: trust.settings_sha256,
      created_by: toPerson(created.actor),
      changed_by: toPerson(changed.actor),
      changed_at: new Date(changed.at).toISOString(),
    },
    pipeline: run,
  };
}
