import { sql } from 'kysely';
import type { Database, TenantTx } from '../../db/database.ts';
import type { JobContext } from '../../jobs/jobs.ts';
import { messageOf } from '../../shared/errors.ts';
import { newId } from '../../shared/ids.ts';
import { toCloudEvent } from '../cloud-event.ts';
import type { EventDeps } from '../deps.ts';
import { type DueDelivery, dueDeliveries } from './deliveries.ts';
import { fanOut } from './fan-out.ts';
import { type Attempt, recordAttempts, type Tally } from './outcomes.ts';
import { openReceiver, receiverColumns } from './receiver.ts';
import { createSecretBox, type SecretBox } from './secrets.ts';
import { type Receiver, send } from './send.ts';

export interface DeliveryWorkerDeps extends EventDeps {
  log: JobContext['log'];
  /** Called after the outcome of deliveries was recorded. */
  onOutcome?(outcome: keyof Tally, count: number): void;
}

export interface DeliveryWorker {
  /** Creates deliveries for new events, and starts to send what is due. */
  poll(): Promise<void>;
  /** Resolves when nothing is being sent. */
  idle(): Promise<void>;
  /** Starts nothing new. Requests that take longer than the grace period are aborted, and sent again later. */
  stop(graceMs?: number): Promise<void>;
}

const POLL_MS = 1_000;
const GRACE_MS = 5_000;
const MAX_RECEIVERS = 16;
const MAX_RECEIVERS_PER_ORGANIZATION = 4;
const BATCH_SIZE = 8;
/** After this time the worker releases a receiver, so that others get a chance. */
const MAX_LEASE_USE_MS = 30_000;
/** Longer than the time a receiver is used and the slowest response after it: a lease expires only if its process has died. */
const LEASE_SECONDS = 120;

interface Lease {
  orgId: string;
  webhookId: string;
  leaseId: string;
}

/**
 * Deliveries are rows and not jobs, because thousands can wait for one receiver, which gets a few at a time. A process holds a lease
 * on the webhook while it delivers. If the process dies, the lease expires, and another process sends what was not recorded.
 */
export function createDeliveryWorker(deps: DeliveryWorkerDeps): DeliveryWorker {
  const { db, log } = deps;
  const box = createSecretBox(deps.secret);
  const active = new Map<string, { orgId: string; done: Promise<void> }>();
  const abort = new AbortController();
  /** Leases that may still be recorded, because the database went away before they were released. Otherwise the webhook would wait until they expire. */
  const unreleased = new Set<string>();
  let stopped = false;

  const begin = (lease: Lease): void => {
    const done = deliver({ ...deps, box }, lease, { isStopped: () => stopped, signal: abort.signal })
      .catch((error: unknown) => {
        unreleased.add(lease.leaseId);
        if (!abort.signal.aborted) log.error({ error: messageOf(error), webhook_id: lease.webhookId }, 'delivering events failed');
      })
      .finally(() => active.delete(lease.webhookId));
    active.set(lease.webhookId, { orgId: lease.orgId, done });
  };
  const acquire = async (full: readonly string[]): Promise<Lease[]> => {
    const leaseId = newId();
    try {
      return await acquireLeases(db, leaseId, { free: MAX_RECEIVERS - active.size, full });
    } catch (error) {
      // It may have been committed.
      unreleased.add(leaseId);
      throw error;
    }
  };

  const idle = async (): Promise<void> => {
    while (active.size > 0) await Promise.all([...active.values()].map(({ done }) => done));
  };

  return {
    async poll() {
      if (unreleased.size > 0) {
        const ids = [...unreleased];
        await releaseAll(db, ids, [...active.keys()]);
        for (const id of ids) unreleased.delete(id);
      }
      await fanOut(db);
      const byOrganization = Object.entries(Object.groupBy(active.values(), ({ orgId }) => orgId));
      const full = byOrganization.flatMap(([orgId, receivers = []]) => (receivers.length >= MAX_RECEIVERS_PER_ORGANIZATION ? [orgId] : []));
      for (const lease of await acquire(full)) begin(lease);
    },
    idle,
    async stop(graceMs = GRACE_MS) {
      stopped = true;
      const timer = setTimeout(() => abort.abort(new Error('the service is stopping')), graceMs);
      await idle();
      clearTimeout(timer);
    },
  };
}

/**
 * Polls until it is stopped. While the database is unavailable it keeps trying and logs the error once. A worker that is alone on its
 * database releases all leases at its start: their holders cannot be running.
 */
export function startDeliveryWorker(deps: DeliveryWorkerDeps, { alone = false } = {}): { stop(): Promise<void> } {
  const worker = createDeliveryWorker(deps);
  const stopping = new AbortController();
  const running = (async () => {
    for (let healthy = true, stale = alone; !stopping.signal.aborted; ) {
      try {
        if (stale) await releaseLeases(deps.db);
        stale = false;
        await worker.poll();
        healthy = true;
      } catch (error) {
        if (healthy) deps.log.error({ error: messageOf(error) }, 'polling for events failed, retrying every second');
        healthy = false;
      }
      await pause(POLL_MS, stopping.signal);
    }
  })();
  return {
    async stop() {
      stopping.abort();
      await running;
      await worker.stop();
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

async function releaseLeases(db: Database): Promise<void> {
  await db.withSystem((tx) => tx.updateTable('webhooks').set({ lease_id: null }).where('lease_id', 'is not', null).execute());
}

/** Webhooks of one poll share a lease. `active` are those that are still delivered to. */
async function releaseAll(db: Database, leases: readonly string[], active: readonly string[]): Promise<void> {
  await db.withSystem((tx) => sql`update webhooks set lease_id = null where lease_id = any(${leases}::uuid[]) and id <> all(${active}::uuid[])`.execute(tx));
}

/** Leases webhooks that have due deliveries and no lease. The limit per organization keeps one organization from blocking the others. */
async function acquireLeases(db: Database, leaseId: string, { free, full }: { free: number; full: readonly string[] }): Promise<Lease[]> {
  if (free <= 0) return [];
  const { rows } = await db.withSystem((tx) =>
    sql<{ org_id: string; id: string }>`
      with due as (
        select w.org_id, w.id, row_number() over (partition by w.org_id order by w.leased_until nulls first) as n from webhooks w
        where w.enabled and w.org_id <> all(${full}::uuid[]) and (w.lease_id is null or w.leased_until < now())
          and (w.paused_until is null or w.paused_until <= now())
          and exists (select from webhook_deliveries d where d.org_id = w.org_id and d.webhook_id = w.id and d.status = 'pending' and d.next_attempt_at <= now())
      ), chosen as (
        select w.org_id, w.id from webhooks w join due using (org_id, id)
        where due.n <= ${MAX_RECEIVERS_PER_ORGANIZATION} and (w.lease_id is null or w.leased_until < now())
        order by due.n limit ${free} for no key update of w skip locked
      )
      update webhooks w set lease_id = ${leaseId}, leased_until = now() + make_interval(secs => ${LEASE_SECONDS})
      from chosen where w.org_id = chosen.org_id and w.id = chosen.id returning w.org_id, w.id`.execute(tx),
  );
  return rows.map(({ org_id, id }) => ({ orgId: org_id, webhookId: id, leaseId }));
}

async function deliver(
  deps: DeliveryWorkerDeps & { box: SecretBox },
  lease: Lease,
  { isStopped, signal }: { isStopped: () => boolean; signal: AbortSignal },
): Promise<void> {
  const { db, outbound, publicUrl } = deps;
  const { orgId, webhookId } = lease;
  const end = performance.now() + MAX_LEASE_USE_MS;
  const attempt = async (receiver: Receiver, { id, event }: DueDelivery): Promise<Attempt> => ({
    deliveryId: id,
    outcome: await send(outbound, receiver, toCloudEvent(publicUrl(), orgId, event), signal),
  });
  try {
    while (!isStopped() && performance.now() < end) {
      const batch = await db.withTenant({ orgId }, (tx) => nextBatch(tx, deps.box, lease));
      if (batch === null || batch.due.length === 0) return;
      const settled = await Promise.allSettled(batch.due.map((delivery) => attempt(batch.receiver, delivery)));
      const attempts = settled.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
      if (attempts.length === 0) return;
      const { tally, canContinue } = await db.withTenant({ orgId }, (tx) => recordAttempts(tx, orgId, webhookId, attempts));
      for (const [outcome, count] of Object.entries(tally)) deps.onOutcome?.(outcome as keyof Tally, count);
      if (!canContinue) return;
    }
  } finally {
    await db.withTenant({ orgId }, (tx) => releaseLease(tx, lease));
  }
}

/** Extends the lease and reads the due deliveries. Reads the receiver too, because it may have been changed since the last batch. */
async function nextBatch(tx: TenantTx, box: SecretBox, { orgId, webhookId, leaseId }: Lease): Promise<{ receiver: Receiver; due: DueDelivery[] } | null> {
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
  return { receiver: openReceiver(box, orgId, webhook), due: await dueDeliveries(tx, orgId, webhookId, BATCH_SIZE) };
}

async function releaseLease(tx: TenantTx, { orgId, webhookId, leaseId }: Lease): Promise<void> {
  await tx.updateTable('webhooks').set({ lease_id: null }).where('org_id', '=', orgId).where('id', '=', webhookId).where('lease_id', '=', leaseId).execute();
}
