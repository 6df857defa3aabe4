import { sql } from 'kysely';
import type { TenantTx } from '../../db/database.ts';
import type { ArtifactRow } from '../artifacts/artifacts.ts';

/** The tickets of a work item as link artifacts, except tickets whose link was added by hand: these may have been captured. */
export async function ticketLinks(tx: TenantTx, orgId: string, itemId: string): Promise<ArtifactRow[]> {
  const { rows } = await sql<{ id: string; key: string; url: string; system: string; state: string; created_at: Date; created_by: string }>`
    select t.id, t.external_key as key, t.url, c.name as system, t.theirs->>'state_name' as state, t.created_at, t.created_by
    from tickets t join connections c on c.org_id = ${orgId} and c.id = t.connection_id
    where t.org_id = ${orgId} and t.work_item_id = ${itemId} and t.external_key is not null and t.url is not null and t.unlinked_at is null
      and not exists (select from artifacts a where a.org_id = ${orgId} and a.work_item_id = ${itemId} and a.url = t.url)
    order by t.created_at, t.id`.execute(tx);
  return rows.map(({ id, key, url, system, state, created_at, created_by }) => ({
    org_id: orgId,
    id,
    work_item_id: itemId,
    type: 'change_ticket',
    title: `${key} in ${system}`,
    description: state === null ? null : `State at the last synchronization: ${state}`,
    occurred_at: null,
    url,
    filename: null,
    media_type: null,
    size: null,
    sha256: null,
    redactions: [],
    supersedes: null,
    added_by: { type: 'system', id: null, name: created_by },
    added_at: created_at,
    superseded_by: null,
    removal: null,
    capture: null,
  }));
}
