import { sql } from 'kysely';
import type { Database } from '../../db/database.ts';
import { matchesSql } from '../patterns.ts';

const EVENT_BATCH = 1_000;
const WEBHOOK_BATCH = 100;

/**
 * Creates deliveries for new events. Each webhook stores the position up to which it has processed events, in the order of transactions.
 * The position stays below the oldest running transaction that may add events: none can appear before it later, so none is skipped. One
 * process at a time advances the position of a webhook, in the transaction that creates the deliveries.
 */
export async function fanOut(db: Database): Promise<void> {
  for (;;) {
    const { rows } = await db.withSystem((tx) =>
      sql<{ processed: number }>`
        with ready as (
          select w.org_id, w.id, w.event_types, w.seen_xact, w.seen_id, h.horizon
          from events_horizons(array(select distinct org_id from webhooks where enabled)) h join webhooks w on w.org_id = h.org_id
          -- Not exists, which may become a join that reads all events.
          cross join lateral (
            select from events e where e.org_id = w.org_id and (e.xact, e.id) > (w.seen_xact, w.seen_id) and e.xact < h.horizon
            order by e.xact, e.id limit 1
          ) next
          where w.enabled
          limit ${WEBHOOK_BATCH}
          for no key update of w skip locked
        ), fresh as materialized (
          select r.org_id, r.id as webhook_id, r.event_types, e.id, e.type, e.xact from ready r cross join lateral (
            select e.id, e.type, e.xact from events e
            where e.org_id = r.org_id and (e.xact, e.id) > (r.seen_xact, r.seen_id) and e.xact < r.horizon
            order by e.xact, e.id limit ${EVENT_BATCH}
          ) e
        ), added as (
          insert into webhook_deliveries (org_id, id, webhook_id, event_id, event_type, next_attempt_at)
          select org_id, new_id(), webhook_id, id, type, date_trunc('milliseconds', now()) from fresh where ${matchesSql(sql`event_types`, sql`type`)}
        ), last as (
          select distinct on (org_id, webhook_id) org_id, webhook_id, xact, id, count(*) over (partition by org_id, webhook_id) as processed
          from fresh order by org_id, webhook_id, xact desc, id desc
        )
        update webhooks w set seen_xact = last.xact, seen_id = last.id from last where w.org_id = last.org_id and w.id = last.webhook_id
        returning last.processed::int as processed`.execute(tx),
    );
    if (rows.length < WEBHOOK_BATCH && rows.every(({ processed }) => processed < EVENT_BATCH)) return;
  }
}
