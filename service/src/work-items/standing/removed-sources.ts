import { sql } from 'kysely';
import type { TenantTx } from '../../db/database.ts';
import type { SourceOnAssetRow } from '../../findings/facts/scope-facts.ts';
import { connectionFacts } from '../../integrations/relations.ts';

/** When the connections of the sources were deleted, by their ids. */
export async function readDeletions(tx: TenantTx, orgId: string, rows: readonly SourceOnAssetRow[]): Promise<ReadonlyMap<string, Date>> {
  const ids = rows.flatMap(({ connection_id }) => connection_id ?? []);
  if (ids.length === 0) return new Map();
  const { rows: deleted } = await sql<{ id: string; deleted_at: Date }>`
    select c.id, c.deleted_at from ${connectionFacts} c where c.org_id = ${orgId} and c.id::text = any(${ids}) and c.deleted_at is not null`.execute(tx);
  return new Map(deleted.map(({ id, deleted_at }) => [id, deleted_at]));
}
