import { sql } from 'kysely';
import type { Database } from '../../db/database.ts';
import { AppError, notFound } from '../../shared/errors.ts';
import type { StoredEvent } from '../cloud-event.ts';

/** A place in the order of events (see the migration that made it). */
export interface Place {
  xact: bigint;
  id: string;
}

export interface PlacedEvent extends StoredEvent {
  place: Place;
}

/** A reader's place at the table: it reads when it wants to and at its own speed, and is told when there is something new. */
export interface Seat {
  /** Where to begin: behind an event, or behind all that there is. */
  begin(lastEventId: string | null): Promise<Place>;
  read(after: Place): Promise<PlacedEvent[]>;
  /** Waits until there is something behind that place, the time is over or the seat is taken away; whether there is something. */
  news(after: Place, ms: number): Promise<boolean>;
  isOver(): boolean;
  leave(): void;
}

export interface Hub {
  join(orgId: string): Seat;
  /** All readers are sent home. */
  close(): void;
}

const MAX_READERS = 100;
const LOOK_MS = 1_000;
export const EVENTS_AT_ONCE = 200;
const LAST_ID = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

const LATEST = `
  select o.org_id, e.xact, e.id from unnest($1::uuid[]) o (org_id) cross join lateral (
    select e.xact, e.id from events e where e.org_id = o.org_id and e.xact < events_horizon() order by e.xact desc, e.id desc limit 1
  ) e`;

interface Waiter {
  orgId: string;
  after: Place;
  wake: (something: boolean) => void;
}

/**
 * One look a second for all readers of the process, and one read for all who stand at the same place: readers hold no connection, and
 * what they have not read yet is held nowhere but in the table.
 */
export function createHub(db: Database): Hub {
  const seats = new Set<symbol>();
  const waiters = new Set<Waiter>();
  const reads = new Map<string, Promise<PlacedEvent[]>>();
  let looking: NodeJS.Timeout | undefined;
  let closed = false;

  const look = async (): Promise<void> => {
    const organizations = [...new Set([...waiters].map(({ orgId }) => orgId))];
    // While the database is away readers wait, and hear of it when they read.
    const rows = await db.systemQuery<{ org_id: string; xact: string; id: string }>('events_latest', LATEST, [organizations]).catch(() => []);
    const latest = new Map(rows.map(({ org_id, xact, id }) => [org_id, { xact: BigInt(xact), id }]));
    for (const waiter of [...waiters]) {
      const newest = latest.get(waiter.orgId);
      if (newest && isBehind(newest, waiter.after)) waiter.wake(true);
    }
  };

  const keepLooking = (): void => {
    if (looking !== undefined) return;
    looking = setTimeout(async () => {
      if (waiters.size > 0) await look();
      looking = undefined;
      if (waiters.size > 0) keepLooking();
    }, LOOK_MS);
  };

  const read = (orgId: string, after: Place): Promise<PlacedEvent[]> => {
    const key = `${orgId} ${after.xact} ${after.id}`;
    const shared = reads.get(key) ?? readEvents(db, orgId, after).finally(() => reads.delete(key));
    reads.set(key, shared);
    return shared;
  };

  return {
    join(orgId) {
      if (closed || seats.size >= MAX_READERS)
        throw unavailable(closed ? 'The service is stopping.' : `This process has ${MAX_READERS} readers of events already.`);
      const seat = Symbol('seat');
      seats.add(seat);
      const own = new Set<Waiter>();
      const isOver = (): boolean => closed || !seats.has(seat);
      return {
        begin: (lastEventId) => beginning(db, orgId, lastEventId),
        read: (after) => read(orgId, after),
        isOver,
        news: (after, ms) => {
          if (isOver()) return Promise.resolve(false);
          return new Promise((resolve) => {
            const wake = (something: boolean): void => {
              clearTimeout(timer);
              waiters.delete(waiter);
              own.delete(waiter);
              resolve(something);
            };
            const waiter: Waiter = { orgId, after, wake };
            const timer = setTimeout(() => wake(false), ms);
            waiters.add(waiter);
            own.add(waiter);
            keepLooking();
          });
        },
        leave: () => {
          seats.delete(seat);
          for (const waiter of [...own]) waiter.wake(false);
        },
      };
    },
    close() {
      closed = true;
      clearTimeout(looking);
      for (const waiter of [...waiters]) waiter.wake(false);
    },
  };
}

function isBehind(place: Place, other: Place): boolean {
  return place.xact === other.xact ? place.id > other.id : place.xact > other.xact;
}

async function beginning(db: Database, orgId: string, lastEventId: string | null): Promise<Place> {
  return db.withTenant({ orgId }, async (tx) => {
    if (lastEventId === null) {
      const { rows } = await sql<{ xact: string }>`select events_horizon() - 1 as xact`.execute(tx);
      return { xact: BigInt(rows[0]?.xact ?? 0), id: LAST_ID };
    }
    const known = await tx.selectFrom('events').select(['xact', 'id']).where('org_id', '=', orgId).where('id', '=', lastEventId).executeTakeFirst();
    if (!known) throw notFound('event', lastEventId);
    return { xact: BigInt(known.xact), id: known.id };
  });
}

async function readEvents(db: Database, orgId: string, { xact, id }: Place): Promise<PlacedEvent[]> {
  const rows = await db.withTenant({ orgId }, (tx) =>
    tx
      .selectFrom('events')
      .select(['id', 'type', 'subject', 'occurred_at', 'data', 'xact'])
      .where('org_id', '=', orgId)
      .where(sql<boolean>`(xact, id) > (${String(xact)}::bigint, ${id}::uuid) and xact < events_horizon()`)
      .orderBy('xact')
      .orderBy('id')
      .limit(EVENTS_AT_ONCE)
      .execute(),
  );
  return rows.map(({ xact: written, ...event }) => ({ ...event, place: { xact: BigInt(written), id: event.id } }));
}

function unavailable(message: string): AppError {
  return new AppError('unavailable', `${message} Try again in a few seconds.`, { headers: { 'retry-after': '5' } });
}
