import { sql } from 'kysely';
import type { Database } from '../../db/database.ts';
import { matchesSql } from '../patterns.ts';

const EVENTS_AT_ONCE = 1_000;
const WEBHOOKS_AT_ONCE = 100;

/**
 * Turns new events into deliveries. Each webhook remembers how far it has seen, in the order of transactions and only below the oldest that is
 * still at work: nothing can appear behind it later, so nothing is passed over. That it has seen them and what is to be delivered
 * is written together, by one process at a time.
 */
export async function fanOut(db: Database): Promise<void> {
  for (;;) {
    const { rows } = await db.withSystem((tx) =>
      sql<{ taken: number }>`
        with ready as (
          select w.org_id, w.id, w.event_types, w.seen_xact, w.seen_id from webhooks w
          where w.enabled and exists (
            select from events e where e.org_id = w.org_id and (e.xact, e.id) > (w.seen_xact, w.seen_id) and e.xact < events_horizon()
          )
          limit ${WEBHOOKS_AT_ONCE}
          for no key update skip locked
        ), fresh as materialized (
          select r.org_id, r.id as webhook_id, r.event_types, e.id, e.type, e.xact from ready r cross join lateral (
            select e.id, e.type, e.xact from events e
            where e.org_id = r.org_id and (e.xact, e.id) > (r.seen_xact, r.seen_id) and e.xact < events_horizon()
            order by e.xact, e.id limit ${EVENTS_AT_ONCE}
          ) e
        ), added as (
          insert into webhook_deliveries (org_id, id, webhook_id, event_id, event_type, next_attempt_at)
          select org_id, new_id(), webhook_id, id, type, date_trunc('milliseconds', now()) from fresh where ${matchesSql(sql`event_types`, sql`type`)}
        ), last as (
          select distinct on (org_id, webhook_id) org_id, webhook_id, xact, id, count(*) over (partition by org_id, webhook_id) as taken
          from fresh order by org_id, webhook_id, xact desc, id desc
        )
        update webhooks w set seen_xact = last.xact, seen_id = last.id from last where w.org_id = last.org_id and w.id = last.webhook_id
        returning last.taken::int as taken`.execute(tx),
    );
    if (rows.length < WEBHOOKS_AT_ONCE && rows.every(({ taken }) => taken < EVENTS_AT_ONCE)) return;
  }
}
