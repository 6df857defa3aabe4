import { sql } from 'kysely';
import type { Database } from '../../db/database.ts';
import { AppError, notFound } from '../../shared/errors.ts';
import type { StoredEvent } from '../cloud-event.ts';

/** A position in the order of events, which is that of their transactions (docs/adr/0015). */
export interface EventPosition {
  xact: bigint;
  id: string;
}

export interface PositionedEvent extends StoredEvent {
  position: EventPosition;
}

/** One reader of the events of an organization. It reads at its own speed. */
export interface Subscription {
  /** The position to read from: after the given event, or after all current events. */
  start(lastEventId: string | null): Promise<EventPosition>;
  /** The next batch of events after a position. */
  read(after: EventPosition): Promise<PositionedEvent[]>;
  /** Waits until there are events after a position, the time has passed or the subscription is closed. Returns whether there are events. */
  waitForEvents(after: EventPosition, ms: number): Promise<boolean>;
  isClosed(): boolean;
  close(): void;
}

export interface EventStream {
  subscribe(orgId: string): Subscription;
  /** Closes all subscriptions. */
  close(): void;
}

const MAX_SUBSCRIPTIONS = 100;
const POLL_MS = 1_000;
export const BATCH_SIZE = 200;
const LAST_ID = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

const LATEST = `
  select o.org_id, e.xact, e.id from events_horizons($1::uuid[]) o cross join lateral (
    select e.xact, e.id from events e where e.org_id = o.org_id and e.xact < o.horizon order by e.xact desc, e.id desc limit 1
  ) e`;

const horizonSql = (orgId: string) => sql`(select horizon from events_horizons(array[${orgId}::uuid]))`;

interface Waiter {
  orgId: string;
  after: EventPosition;
  wake: (found: boolean) => void;
}

/**
 * Polls once per second for all subscriptions of the process, and shares one read among subscriptions at the same position.
 * A subscription holds no database connection, and events are not buffered in memory: slow readers read them from the table.
 */
export function createEventStream(db: Database): EventStream {
  const subscriptions = new Set<symbol>();
  const waiters = new Set<Waiter>();
  const reads = new Map<string, Promise<PositionedEvent[]>>();
  let nextPoll: NodeJS.Timeout | undefined;
  let closed = false;

  const poll = async (): Promise<void> => {
    const organizations = [...new Set([...waiters].map(({ orgId }) => orgId))];
    // If the database is unavailable, subscriptions keep waiting. Their next read reports the error.
    const rows = await db.systemQuery<{ org_id: string; xact: string; id: string }>('events_latest', LATEST, [organizations], 'events').catch(() => []);
    const latest = new Map(rows.map(({ org_id, xact, id }) => [org_id, { xact: BigInt(xact), id }]));
    for (const waiter of [...waiters]) {
      const newest = latest.get(waiter.orgId);
      if (newest && isAfter(newest, waiter.after)) waiter.wake(true);
    }
  };

  const schedulePoll = (): void => {
    if (nextPoll !== undefined) return;
    nextPoll = setTimeout(async () => {
      if (waiters.size > 0) await poll();
      nextPoll = undefined;
      if (waiters.size > 0) schedulePoll();
    }, POLL_MS);
  };

  const read = (orgId: string, after: EventPosition): Promise<PositionedEvent[]> => {
    const key = `${orgId} ${after.xact} ${after.id}`;
    const shared = reads.get(key) ?? readEvents(db, orgId, after).finally(() => reads.delete(key));
    reads.set(key, shared);
    return shared;
  };

  return {
    subscribe(orgId) {
      if (closed || subscriptions.size >= MAX_SUBSCRIPTIONS)
        throw unavailable(closed ? 'The service is stopping.' : `This process already serves ${MAX_SUBSCRIPTIONS} event streams, which is the limit.`);
      const subscription = Symbol('subscription');
      subscriptions.add(subscription);
      const own = new Set<Waiter>();
      const isClosed = (): boolean => closed || !subscriptions.has(subscription);
      return {
        start: (lastEventId) => startPosition(db, orgId, lastEventId),
        read: (after) => read(orgId, after),
        isClosed,
        waitForEvents: (after, ms) => {
          if (isClosed()) return Promise.resolve(false);
          return new Promise((resolve) => {
            const wake = (found: boolean): void => {
              clearTimeout(timer);
              waiters.delete(waiter);
              own.delete(waiter);
              resolve(found);
            };
            const waiter: Waiter = { orgId, after, wake };
            const timer = setTimeout(() => wake(false), ms);
            waiters.add(waiter);
            own.add(waiter);
            schedulePoll();
          });
        },
        close: () => {
          subscriptions.delete(subscription);
          for (const waiter of [...own]) waiter.wake(false);
        },
      };
    },
    close() {
      closed = true;
      clearTimeout(nextPoll);
      for (const waiter of [...waiters]) waiter.wake(false);
    },
  };
}

function isAfter(position: EventPosition, other: EventPosition): boolean {
  return position.xact === other.xact ? position.id > other.id : position.xact > other.xact;
}

async function startPosition(db: Database, orgId: string, lastEventId: string | null): Promise<EventPosition> {
  return db.withTenant({ orgId }, async (tx) => {
    if (lastEventId === null) {
      const { rows } = await sql<{ xact: string }>`select ${horizonSql(orgId)} - 1 as xact`.execute(tx);
      return { xact: BigInt(rows[0]?.xact ?? 0), id: LAST_ID };
    }
    const known = await tx.selectFrom('events').select(['xact', 'id']).where('org_id', '=', orgId).where('id', '=', lastEventId).executeTakeFirst();
    if (!known) throw notFound('event', lastEventId);
    return { xact: BigInt(known.xact), id: known.id };
  });
}

async function readEvents(db: Database, orgId: string, { xact, id }: EventPosition): Promise<PositionedEvent[]> {
  const rows = await db.withTenant({ orgId }, (tx) =>
    tx
      .selectFrom('events')
      .select(['id', 'type', 'subject', 'occurred_at', 'data', 'xact'])
      .where('org_id', '=', orgId)
      .where(sql<boolean>`(xact, id) > (${String(xact)}::bigint, ${id}::uuid) and xact < ${horizonSql(orgId)}`)
      .orderBy('xact')
      .orderBy('id')
      .limit(BATCH_SIZE)
      .execute(),
  );
  return rows.map(({ xact: written, ...event }) => ({ ...event, position: { xact: BigInt(written), id: event.id } }));
}

function unavailable(message: string): AppError {
  return new AppError('unavailable', `${message} Retry in a few seconds.`, { headers: { 'retry-after': '5' } });
}
