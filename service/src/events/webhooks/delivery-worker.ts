import { sql } from 'kysely';
import type { Database, TenantTx } from '../../db/database.ts';
import type { JobContext } from '../../jobs/jobs.ts';
import { messageOf } from '../../shared/errors.ts';
import { newId } from '../../shared/ids.ts';
import { toCloudEvent } from '../cloud-event.ts';
import type { EventDeps } from '../deps.ts';
import { type DueDelivery, dueDeliveries } from './deliveries.ts';
import { fanOut } from './fan-out.ts';
import { type Attempt, noteAttempts, type Tally } from './outcomes.ts';
import { openReceiver, receiverColumns } from './receiver.ts';
import { createSecretBox, type SecretBox } from './secrets.ts';
import { type Receiver, send } from './send.ts';

export interface CourierDeps extends EventDeps {
  log: JobContext['log'];
  /** What became of deliveries, once it is noted. */
  onOutcome?(outcome: keyof Tally, count: number): void;
}

export interface Courier {
  /** Looks once for what is new or due and begins to deliver it. */
  round(): Promise<void>;
  /** When nothing is under way any more. */
  settled(): Promise<void>;
  /** Takes nothing new; what is under way may finish for a while, and is broken off then, to be delivered again. */
  stop(graceMs?: number): Promise<void>;
}

const ROUND_MS = 1_000;
const GRACE_MS = 5_000;
const RECEIVERS_AT_ONCE = 16;
const RECEIVERS_OF_ONE_ORGANIZATION = 4;
const EVENTS_AT_ONCE = 8;
const TURN_MS = 30_000;
/** Longer than a turn and the slowest answer after it: whoever has not come back by then is dead. */
const LEASE_SECONDS = 120;

interface Turn {
  orgId: string;
  webhookId: string;
  leaseId: string;
}

/**
 * Deliveries are rows and not jobs: thousands can wait for one receiver, which gets a few at a time. While one process delivers to a
 * receiver it holds a lease; if it dies, the lease runs out and another delivers again what was not noted.
 */
export function createCourier(deps: CourierDeps): Courier {
  const { db, log } = deps;
  const box = createSecretBox(deps.secret);
  const under = new Map<string, { orgId: string; done: Promise<void> }>();
  const stopping = new AbortController();
  let stopped = false;

  const begin = (turn: Turn): void => {
    const done = deliver({ ...deps, box }, turn, { isOver: () => stopped, signal: stopping.signal })
      .catch((error: unknown) => {
        if (!stopping.signal.aborted) log.error({ error: messageOf(error), webhook_id: turn.webhookId }, 'events could not be delivered');
      })
      .finally(() => under.delete(turn.webhookId));
    under.set(turn.webhookId, { orgId: turn.orgId, done });
  };

  const settled = async (): Promise<void> => {
    while (under.size > 0) await Promise.all([...under.values()].map(({ done }) => done));
  };

  return {
    async round() {
      await fanOut(db);
      const busy = Object.entries(Object.groupBy(under.values(), ({ orgId }) => orgId));
      const full = busy.flatMap(([orgId, some = []]) => (some.length >= RECEIVERS_OF_ONE_ORGANIZATION ? [orgId] : []));
      for (const turn of await takeTurns(db, RECEIVERS_AT_ONCE - under.size, full)) begin(turn);
    },
    settled,
    async stop(graceMs = GRACE_MS) {
      stopped = true;
      const patience = setTimeout(() => stopping.abort(new Error('the service stops')), graceMs);
      await settled();
      clearTimeout(patience);
    },
  };
}

/**
 * Round after round, until it is stopped. A database that is away is waited for; the log says so once. One that is alone on its database
 * need not wait for the leases of those before it: they are dead.
 */
export function startCourier(deps: CourierDeps, { alone = false } = {}): { stop(): Promise<void> } {
  const courier = createCourier(deps);
  const over = new AbortController();
  const going = (async () => {
    for (let well = true, inherited = alone; !over.signal.aborted; ) {
      try {
        if (inherited) await releaseAll(deps.db);
        inherited = false;
        await courier.round();
        well = true;
      } catch (error) {
        if (well) deps.log.error({ error: messageOf(error) }, 'new events could not be looked for; trying again every second');
        well = false;
      }
      await pause(ROUND_MS, over.signal);
    }
  })();
  return {
    async stop() {
      over.abort();
      await going;
      await courier.stop();
    },
  };
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const timer = setTimeout(resolve, ms);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      resolve();
    });
  });
}

async function releaseAll(db: Database): Promise<void> {
  await db.withSystem((tx) => tx.updateTable('webhooks').set({ lease_id: null }).where('lease_id', 'is not', null).execute());
}

/** Receivers for which something is due and whom nobody serves, a few of each organization, so that none has to wait for all of another's. */
async function takeTurns(db: Database, free: number, full: readonly string[]): Promise<Turn[]> {
  if (free <= 0) return [];
  const leaseId = newId();
  const { rows } = await db.withSystem((tx) =>
    sql<{ org_id: string; id: string }>`
      with due as (
        select w.org_id, w.id, row_number() over (partition by w.org_id order by w.leased_until nulls first) as n from webhooks w
        where w.enabled and w.org_id <> all(${full}::uuid[]) and (w.lease_id is null or w.leased_until < now())
          and (w.paused_until is null or w.paused_until <= now())
          and exists (select from webhook_deliveries d where d.org_id = w.org_id and d.webhook_id = w.id and d.status = 'pending' and d.next_attempt_at <= now())
      ), taken as (
        select w.org_id, w.id from webhooks w join due using (org_id, id)
        where due.n <= ${RECEIVERS_OF_ONE_ORGANIZATION} and (w.lease_id is null or w.leased_until < now())
        order by due.n limit ${free} for no key update of w skip locked
      )
      update webhooks w set lease_id = ${leaseId}, leased_until = now() + make_interval(secs => ${LEASE_SECONDS})
      from taken where w.org_id = taken.org_id and w.id = taken.id returning w.org_id, w.id`.execute(tx),
  );
  return rows.map(({ org_id, id }) => ({ orgId: org_id, webhookId: id, leaseId }));
}

async function deliver(deps: CourierDeps & { box: SecretBox }, turn: Turn, { isOver, signal }: { isOver: () => boolean; signal: AbortSignal }): Promise<void> {
  const { db, outbound, publicUrl } = deps;
  const { orgId, webhookId } = turn;
  const end = performance.now() + TURN_MS;
  const attempt = async (receiver: Receiver, { id, event }: DueDelivery): Promise<Attempt> => ({
    deliveryId: id,
    outcome: await send(outbound, receiver, toCloudEvent(publicUrl(), orgId, event), signal),
  });
  try {
    while (!isOver() && performance.now() < end) {
      const work = await db.withTenant({ orgId }, (tx) => nextBatch(tx, deps.box, turn));
      if (work === null || work.due.length === 0) return;
      const settled = await Promise.allSettled(work.due.map((delivery) => attempt(work.receiver, delivery)));
      const attempts = settled.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
      if (attempts.length === 0) return;
      const { tally, isOpen } = await db.withTenant({ orgId }, (tx) => noteAttempts(tx, orgId, webhookId, attempts));
      for (const [outcome, count] of Object.entries(tally)) deps.onOutcome?.(outcome as keyof Tally, count);
      if (!isOpen) return;
    }
  } finally {
    await db.withTenant({ orgId }, (tx) => giveBack(tx, turn));
  }
}

/** What is due, and the receiver as it is now: it may have been changed since the turn began. The lease begins anew. */
async function nextBatch(tx: TenantTx, box: SecretBox, { orgId, webhookId, leaseId }: Turn): Promise<{ receiver: Receiver; due: DueDelivery[] } | null> {
  const webhook = await tx
    .updateTable('webhooks')
    .set({ leased_until: sql<Date>`now() + make_interval(secs => ${LEASE_SECONDS})` })
    .where('org_id', '=', orgId)
    .where('id', '=', webhookId)
    .where('lease_id', '=', leaseId)
    .where('enabled', '=', true)
    .returning(receiverColumns)
    .executeTakeFirst();
  if (!webhook) return null;
  return { receiver: openReceiver(box, orgId, webhook), due: await dueDeliveries(tx, orgId, webhookId, EVENTS_AT_ONCE) };
}

async function giveBack(tx: TenantTx, { orgId, webhookId, leaseId }: Turn): Promise<void> {
  await tx.updateTable('webhooks').set({ lease_id: null }).where('org_id', '=', orgId).where('id', '=', webhookId).where('lease_id', '=', leaseId).execute();
}
