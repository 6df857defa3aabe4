import type { Ticket } from '@rrs/connectors';
import { sql } from 'kysely';
import { recordAudit } from '../../audit/record.ts';
import type { TenantTx } from '../../db/database.ts';
import { emit } from '../../events/emit.ts';
import { systemActor } from '../../shared/actor.ts';
import { storable } from '../../shared/storable.ts';
import { MARKER, safeUrl } from './fields.ts';

export interface ListedTickets {
  orgId: string;
  connectionId: string;
  tickets: readonly Ticket[];
}

export interface Duplicate {
  key: string;
  url: string | null;
}

interface Marked extends Duplicate {
  marker: string;
  external_id: string;
}

/** Reports tickets that carry the marker of another ticket: a copy that somebody made, or one that was created twice. */
export async function recordDuplicates(tx: TenantTx, { orgId, connectionId, tickets }: ListedTickets): Promise<void> {
  const marked = tickets.flatMap(({ id, key, url, raw }) =>
    [...new Set(JSON.stringify(raw).match(MARKER))].map((marker): Marked => ({ marker, external_id: storable(id), key: storable(key), url: safeUrl(url) })),
  );
  if (marked.length === 0) return;
  const { rows } = await sql<{ id: string; work_item_id: string; external_key: string | null; duplicates: Duplicate[] }>`
    with listed as (select * from jsonb_to_recordset(${JSON.stringify(marked)}::jsonb) as l (marker text, external_id text, key text, url text)),
    found as (
      select t.id, jsonb_agg(distinct jsonb_build_object('key', l.key, 'url', l.url)) as copies
      from tickets t join listed l on l.marker = t.marker and l.external_id <> t.external_id
      where t.org_id = ${orgId} and t.connection_id = ${connectionId} and t.unlinked_at is null and t.external_id is not null
        and not t.duplicates @> jsonb_build_array(jsonb_build_object('key', l.key))
      group by t.id
    )
    update tickets t set duplicates = t.duplicates || found.copies, updated_at = now() from found
    where t.org_id = ${orgId} and t.id = found.id returning t.id, t.work_item_id, t.external_key, t.duplicates`.execute(tx);
  const actor = systemActor(orgId, 'schedule');
  for (const { id, work_item_id, external_key: key, duplicates } of rows) {
    const after = { ticket_id: id, key, duplicates };
    await recordAudit(tx, actor, { action: 'work_item.ticket_drifted', objectType: 'work_item', objectId: work_item_id, after });
    await emit(tx, orgId, { type: 'ticket.drifted', subject: id, data: { work_item_id, connection_id: connectionId, key, drift: [], duplicates } });
  }
}
