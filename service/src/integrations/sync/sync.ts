import { setTimeout as delay } from 'node:timers/promises';
import { type Connector, ConnectorError, defaultLimits, type FaultKind, type HttpLimits, type Json, type Sender, type Settings } from '@rrs/connectors';
import { sql } from 'kysely';
import type { BlobStore } from '../../blobs/blobs.ts';
import type { Database, TenantTx } from '../../db/database.ts';
import { emit } from '../../events/emit.ts';
import type { FindingFollower } from '../../findings/follower.ts';
import type { JobContext } from '../../jobs/jobs.ts';
import { type ConnectionRow, openCredentials } from '../connections/connections.ts';
import { type Providers, providerOf } from '../connections/providers.ts';
import type { KeyRing } from '../connections/secrets.ts';
import type { CollectEnd, CollectedBatch, CollectHost, Collector } from './collect.ts';
import { childCollector } from './collect-in-child.ts';
import { createRequestLog, type RequestCounts, type RequestLog } from './request-log.ts';
import type { RunRow } from './runs.ts';

export interface SyncDeps {
  providers: Providers;
  keys: KeyRing;
  blobs: BlobStore;
  follower: FindingFollower;
  sender: Sender;
  collector: Collector;
  limits: HttpLimits;
  /** Most batches per run, so that a vendor whose pages never end cannot run forever. */
  pages: number;
  wait(ms: number, signal: AbortSignal): Promise<void>;
}

export const syncDefaults = {
  collector: childCollector(),
  limits: defaultLimits,
  pages: 10_000,
  wait: async (ms: number, signal: AbortSignal): Promise<void> => {
    await delay(ms, undefined, { signal });
  },
};

/** How collecting ended, before anything is imported. */
export type CollectResult = CollectEnd | { end: 'broken'; kind: FaultKind; message: string } | { end: 'cancelled' };

type StopReason = 'cancelled' | 'taken over';

class RunStopped extends Error {
  readonly reason: StopReason;
  constructor(reason: StopReason) {
    super(`the run was ${reason}`);
    this.reason = reason;
  }
}

/** Whether another worker has taken over the run. This attempt must then write nothing. */
export function isTakenOver(error: unknown): boolean {
  return error instanceof RunStopped && error.reason === 'taken over';
}

export interface ClaimedRun {
  connection: ConnectionRow;
  run: RunRow;
  connector: Connector;
  settings: Settings;
}

/** Claims the run for this attempt. Null if the run has ended. */
export async function claimRun(
  { providers, keys }: Pick<SyncDeps, 'providers' | 'keys'>,
  db: Database,
  orgId: string,
  runId: string,
): Promise<ClaimedRun | null> {
  const claimed = await db.withTenant({ orgId }, async (tx) => {
    const run = await tx
      .updateTable('sync_runs')
      .set({ status: 'running', attempt: sql<number>`attempt + 1`, started_at: sql<Date>`coalesce(started_at, now())` })
      .where('org_id', '=', orgId)
      .where('id', '=', runId)
      .where('status', 'in', ['queued', 'running'])
      .returningAll()
      .executeTakeFirst();
    if (!run) return null;
    const connection = await tx.selectFrom('connections').selectAll().where('org_id', '=', orgId).where('id', '=', run.connection_id).executeTakeFirstOrThrow();
    if (run.attempt === 1) {
      const data = { connection_id: connection.id, provider: connection.provider, trigger: run.trigger, mode: run.mode };
      await emit(tx, orgId, { type: 'sync.started', subject: run.id, data });
    }
    return { run, connection };
  });
  if (!claimed) return null;
  const connector = providerOf(providers, claimed.connection.provider);
  const credentials = await openCredentials(keys, claimed.connection);
  return { ...claimed, connector, settings: { config: claimed.connection.config, credentials } as Settings };
}

/** What the kinds of connectors do differently. */
export interface BatchTarget extends Pick<CollectHost, 'wanted' | 'learn' | 'unlistOthers'> {
  /** Stores what belongs to the batch, in the transaction that also stores its checkpoint. */
  store(tx: TenantTx, batch: CollectedBatch, batchNumber: number): Promise<void>;
  /** Called once for each batch that is stored. The transaction may run more than once. */
  onStored(batch: CollectedBatch): void;
}

export async function collectBatches(deps: SyncDeps, { db, signal }: JobContext, claimed: ClaimedRun, target: BatchTarget): Promise<CollectResult> {
  const { connector, settings, run, connection } = claimed;
  const requestLog = createRequestLog();
  const stop = new AbortController();
  const stopped = AbortSignal.any([signal, stop.signal]);
  const watcher = watchRun(db, claimed, requestLog, (reason) => stop.abort(new RunStopped(reason)));
  const seen = new Set<string>([JSON.stringify(run.checkpoint ?? null)]);
  let n = run.batches;
  let hasStored = false;
  const store = async (batch: CollectedBatch): Promise<void> => {
    if (n >= deps.pages)
      throw new ConnectorError('incomplete', `${connector.name} returned more than ${n} pages, the limit of one run. Limit the connection to less data.`);
    assertStorable(connector, batch.checkpoint);
    const checkpoint = JSON.stringify(batch.checkpoint);
    const marks = [checkpoint, batch.digest].filter((mark) => mark !== null);
    if (marks.some((mark) => seen.has(mark))) throw new ConnectorError('incomplete', `${connector.name} returned the same page again instead of the next one.`);
    const counts = requestLog.drainCounts();
    const storing = db.withTenant({ orgId: run.org_id }, async (tx) => {
      await target.store(tx, batch, n);
      await storeProgress(tx, claimed, { checkpoint, batches: n + 1, records: batch.records, ...counts });
    });
    await storing.catch((error: unknown) => {
      requestLog.addCounts(counts);
      throw error;
    });
    target.onStored(batch);
    for (const mark of marks) seen.add(mark);
    n++;
    hasStored = true;
  };
  const { sender, wait, limits } = deps;
  const cursor = run.mode === 'full' ? null : ((connection.cursor ?? null) as Json);
  const isRetry = run.attempt > 1;
  const collectFrom = (checkpoint: Json) => {
    const task = { settings, limits, now: Date.now(), checkpoint, cursor, startedAt: run.started_at ?? new Date(), isRetry };
    return deps.collector.collect(connector, task, { ...target, sender, wait, onRequest: requestLog.add, store }, stopped);
  };
  const collect = async () => {
    const checkpoint = (run.checkpoint ?? null) as Json;
    try {
      return await collectFrom(checkpoint);
    } catch (error) {
      if (checkpoint === null || hasStored || !isRefusedPosition(error)) throw error;
      await db.withTenant({ orgId: run.org_id }, (tx) => forgetProgress(tx, claimed));
      n = 0;
      seen.clear();
      seen.add(JSON.stringify(null));
      return await collectFrom(null);
    }
  };
  try {
    const ended = await collect();
    assertStorable(connector, ended.cursor);
    return ended;
  } catch (error) {
    if (signal.aborted) throw error;
    const cause = stop.signal.aborted ? stop.signal.reason : error;
    if (isTakenOver(cause)) throw cause;
    if (cause instanceof RunStopped) return { end: 'cancelled' };
    if (error instanceof ConnectorError) return { end: 'broken', kind: error.kind, message: error.message };
    throw error;
  } finally {
    clearInterval(watcher);
    const counts = requestLog.drainCounts();
    await db.withTenant({ orgId: run.org_id }, (tx) => storeProgress(tx, claimed, counts)).catch(() => {});
  }
}

/** Vendors keep positions in lists for minutes or days. Each of them refuses an expired one in another way, and none of them as a lack of permission. */
function isRefusedPosition(error: unknown): boolean {
  return error instanceof ConnectorError && (error.kind === 'configuration' || error.kind === 'invalid_answer');
}

/** The run begins again. */
async function forgetProgress(tx: TenantTx, { run }: ClaimedRun): Promise<void> {
  await tx.deleteFrom('sync_run_batches').where('org_id', '=', run.org_id).where('run_id', '=', run.id).execute();
  const { numUpdatedRows } = await tx
    .updateTable('sync_runs')
    .set({ checkpoint: null, batches: 0, records: 0 })
    .where('org_id', '=', run.org_id)
    .where('id', '=', run.id)
    .where('attempt', '=', run.attempt)
    .executeTakeFirst();
  if (numUpdatedRows === 0n) throw new RunStopped('taken over');
}

/** Positions contain what vendors sent. PostgreSQL stores neither U+0000 nor half of a surrogate pair, which JSON escapes. */
function assertStorable({ name }: Connector, position: Json): void {
  if (/\\u(?:0000|d[89a-f])/.test(JSON.stringify(position)))
    throw new ConnectorError('invalid_answer', `${name} sent a page position with characters that cannot be stored.`);
}

const WATCH_MS = 1_000;

/** Stops the run if it was cancelled or taken over. Also stores request counts, which can be the only sign of progress for a long time. */
function watchRun(db: Database, claimed: ClaimedRun, requestLog: RequestLog, stop: (reason: StopReason) => void): NodeJS.Timeout {
  const { run } = claimed;
  return setInterval(() => {
    const counts = requestLog.drainCounts();
    db.withTenant({ orgId: run.org_id }, async (tx) => {
      if (counts.requests > 0) await storeProgress(tx, claimed, counts);
      return tx
        .selectFrom('sync_runs')
        .select(['cancel_requested', 'attempt', 'status'])
        .where('org_id', '=', run.org_id)
        .where('id', '=', run.id)
        .executeTakeFirst();
    })
      .then((current) => {
        if (current?.attempt !== run.attempt || current.status !== 'running') stop('taken over');
        else if (current.cancel_requested) stop('cancelled');
      })
      // A database that stays unavailable makes the next batch fail.
      .catch((error: unknown) => (isTakenOver(error) ? stop('taken over') : requestLog.addCounts(counts)));
  }, WATCH_MS);
}

interface Progress extends RequestCounts {
  checkpoint?: string;
  batches?: number;
  records?: number;
}

/** Fails if another attempt has the run, so that a worker that was wrongly considered dead cannot write. */
async function storeProgress(tx: TenantTx, { run }: ClaimedRun, progress: Progress): Promise<void> {
  const { checkpoint, batches, records = 0, requests, failed, bytes } = progress;
  const { numUpdatedRows } = await tx
    .updateTable('sync_runs')
    .set({
      ...(checkpoint === undefined ? {} : { checkpoint }),
      ...(batches === undefined ? {} : { batches }),
      records: sql<number>`records + ${records}`,
      requests: sql<number>`requests + ${requests}`,
      failed_requests: sql<number>`failed_requests + ${failed}`,
      response_bytes: sql<string>`response_bytes + ${bytes}`,
    })
    .where('org_id', '=', run.org_id)
    .where('id', '=', run.id)
    .where('attempt', '=', run.attempt)
    .executeTakeFirst();
  if (numUpdatedRows === 0n) throw new RunStopped('taken over');
}
