import { sql } from 'kysely';
import type { SystemTx } from '../db/database.ts';
import { firstIdAt } from '../shared/ids.ts';

/** Deletes a batch of events that were created before a time, and returns how many there were. Keeps those that a webhook has yet to receive. */
export async function deleteOldEvents(tx: SystemTx, orgId: string, before: Date, limit: number): Promise<number> {
  const { numAffectedRows } = await sql`
    delete from events where org_id = ${orgId} and id in (
      select e.id from events e
      where e.org_id = ${orgId} and e.id < ${firstIdAt(before)}
        and not exists (select from webhooks w where w.org_id = e.org_id and w.enabled and (w.seen_xact, w.seen_id) < (e.xact, e.id))
        and not exists (select from webhook_deliveries d where d.org_id = e.org_id and d.event_id = e.id and d.status = 'pending')
      order by e.id limit ${limit}
    )`.execute(tx);
  return Number(numAffectedRows ?? 0);
}
