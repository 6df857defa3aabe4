import { setTimeout as delay } from 'node:timers/promises';
import {
  type Connector,
  ConnectorError,
  createHttp,
  defaultLimits,
  type FaultKind,
  type HttpLimits,
  type Json,
  type RequestRecord,
  type Sender,
  type Settings,
} from '@rrs/connectors';
import { sql } from 'kysely';
import type { BlobStore } from '../../blobs/blobs.ts';
import type { Database, TenantTx } from '../../db/database.ts';
import type { FindingFollower } from '../../findings/follower.ts';
import type { JobContext } from '../../jobs/jobs.ts';
import { type ConnectionRow, openCredentials } from '../connections/connections.ts';
import type { Providers } from '../connections/providers.ts';
import type { KeyRing } from '../connections/secrets.ts';
import type { RunRow } from './runs.ts';

export interface Syncing {
  providers: Providers;
  keys: KeyRing;
  blobs: BlobStore;
  follower: FindingFollower;
  sender: Sender;
  limits: HttpLimits;
  /** Batches at most: an endless cursor ends here. */
  pages: number;
  wait(ms: number, signal: AbortSignal): Promise<void>;
}

/** What a run may take, unless a test says otherwise. */
export const defaultSyncing = {
  limits: defaultLimits,
  pages: 10_000,
  wait: async (ms: number, signal: AbortSignal): Promise<void> => {
    await delay(ms, undefined, { signal });
  },
};

/** How a run ended, before what it brought is looked at. */
export type Ending =
  | { end: 'complete' | 'changes'; cursor: Json; notes: string[] }
  | { end: 'broken'; kind: FaultKind; message: string }
  | { end: 'cancelled' };

/** Somebody cancelled it, or another worker has taken it over. */
class Stopped extends Error {
  readonly why: 'cancelled' | 'lost';
  constructor(why: 'cancelled' | 'lost') {
    super(`the run was ${why}`);
    this.why = why;
  }
}

export interface Running {
  connection: ConnectionRow;
  run: RunRow;
  connector: Connector;
  settings: Settings;
}

/** Takes the run for this attempt; null when it is not to be run (any more). */
export async function takeRun({ providers, keys }: Pick<Syncing, 'providers' | 'keys'>, db: Database, orgId: string, runId: string): Promise<Running | null> {
  const taken = await db.withTenant({ orgId }, async (tx) => {
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
    return { run, connection };
  });
  if (!taken) return null;
  const connector = providers.find(({ id }) => id === taken.connection.provider);
  if (!connector) throw new Error(`there is no connector ${taken.connection.provider}`);
  const credentials = await openCredentials(keys, taken.connection);
  return { ...taken, connector, settings: { config: taken.connection.config, credentials } as Settings };
}

/** What a connector gives, batch by batch, each kept together with its checkpoint and the account of requests. */
export interface Batches<Batch, Result> {
  start(context: { http: ReturnType<typeof createHttp>; signal: AbortSignal; checkpoint: Json; cursor: Json; startedAt: Date }): AsyncGenerator<Batch, Result>;
  keep(tx: TenantTx, batch: Batch, batchNumber: number, requests: readonly RequestRecord[]): Promise<{ records: number; checkpoint: Json }>;
  /** Of the content; null where the same again is nothing strange. */
  digest(batch: Batch): string | null;
  end(result: Result): { end: 'complete' | 'changes'; cursor: Json; notes: string[] };
}

export async function runBatches<Batch, Result>(
  syncing: Syncing,
  { db, signal }: JobContext,
  running: Running,
  batches: Batches<Batch, Result>,
): Promise<Ending> {
  const { connector, settings, run, connection } = running;
  const account = createAccount();
  const stop = new AbortController();
  const stopped = AbortSignal.any([signal, stop.signal]);
  const watching = watch(db, running, account, (why) => stop.abort(new Stopped(why)));
  const startedAt = run.started_at ?? new Date();
  const http = createHttp(connector, settings, {
    sender: syncing.sender,
    signal: stopped,
    limits: syncing.limits,
    now: Date.now,
    wait: syncing.wait,
    onRequest: account.add,
  });
  const cursor = run.mode === 'full' ? null : ((connection.cursor ?? null) as Json);
  const given = batches.start({ http, signal: stopped, checkpoint: (run.checkpoint ?? null) as Json, cursor, startedAt });
  try {
    const met = new Set<string>([JSON.stringify(run.checkpoint ?? null)]);
    for (let n = run.batches; ; n++) {
      const next = await given.next();
      if (next.done) return batches.end(next.value);
      if (n >= syncing.pages)
        throw new ConnectorError(
          'incomplete',
          `${connector.name} still had more after ${n} pages, the most that one run takes. Narrow the connection down to less.`,
        );
      const { seen, ...requests } = account.take();
      await db.withTenant({ orgId: run.org_id }, async (tx) => {
        const { records, checkpoint } = await batches.keep(tx, next.value, n, seen);
        const marks = [JSON.stringify(checkpoint), batches.digest(next.value)].filter((mark) => mark !== null);
        if (marks.some((mark) => met.has(mark))) throw new ConnectorError('incomplete', `${connector.name} sent the same page again instead of the next one.`);
        await note(tx, running, { checkpoint: JSON.stringify(checkpoint), batches: n + 1, records, ...requests });
        for (const mark of marks) met.add(mark);
      });
    }
  } catch (error) {
    if (signal.aborted) throw error;
    const reason = stop.signal.aborted ? stop.signal.reason : error;
    if (reason instanceof Stopped) {
      if (reason.why === 'lost') throw reason;
      return { end: 'cancelled' };
    }
    if (error instanceof ConnectorError) return { end: 'broken', kind: error.kind, message: error.message };
    throw error;
  } finally {
    clearInterval(watching);
    // What it still holds open, like the rest of a large answer, is let go of.
    await given.return(undefined as never).catch(() => {});
    await db.withTenant({ orgId: run.org_id }, (tx) => note(tx, running, account.take())).catch(() => {});
  }
}

const LOOK_MS = 1_000;

/** Whether it is to go on; and what it has asked for, which may be all there is to see of it for long. */
function watch(db: Database, running: Running, account: Account, stop: (why: 'cancelled' | 'lost') => void): NodeJS.Timeout {
  const { run } = running;
  return setInterval(() => {
    const news = account.count();
    db.withTenant({ orgId: run.org_id }, async (tx) => {
      if (news.requests > 0) await note(tx, running, news);
      return tx
        .selectFrom('sync_runs')
        .select(['cancel_requested', 'attempt', 'status'])
        .where('org_id', '=', run.org_id)
        .where('id', '=', run.id)
        .executeTakeFirst();
    })
      .then((now) => {
        if (now?.attempt !== run.attempt || now.status !== 'running') stop('lost');
        else if (now.cancel_requested) stop('cancelled');
      })
      // A database that is gone for a moment is met by the next batch.
      .catch((error: unknown) => (isLost(error) ? stop('lost') : account.restore(news)));
  }, LOOK_MS);
}

interface Noted {
  checkpoint?: string;
  batches?: number;
  records?: number;
  requests: number;
  failed: number;
  bytes: number;
}

/** Fails when another attempt has the run: what this one brought does not count. */
async function note(tx: TenantTx, { run }: Running, { checkpoint, batches, records = 0, requests, failed, bytes }: Noted): Promise<void> {
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
  if (numUpdatedRows === 0n) throw new Stopped('lost');
}

export type Account = ReturnType<typeof createAccount>;

interface Counts {
  requests: number;
  failed: number;
  bytes: number;
}

/** Of the requests that were made: each is counted once, by whoever asks first, and seen once, by who takes them. */
export function createAccount() {
  let seen: RequestRecord[] = [];
  let counts: Counts = { requests: 0, failed: 0, bytes: 0 };
  const restore = ({ requests, failed, bytes }: Counts): void => {
    counts = { requests: counts.requests + requests, failed: counts.failed + failed, bytes: counts.bytes + bytes };
  };
  const count = (): Counts => {
    const counted = counts;
    counts = { requests: 0, failed: 0, bytes: 0 };
    return counted;
  };
  return {
    add: (record: RequestRecord): void => {
      seen.push(record);
      const { status, error, bytes } = record;
      restore({ requests: 1, failed: error !== null || status === null || status >= 400 ? 1 : 0, bytes });
    },
    count,
    /** What could not be noted. */
    restore,
    take: () => {
      const taken = seen;
      seen = [];
      return { seen: taken, ...count() };
    },
  };
}

export function isLost(error: unknown): boolean {
  return error instanceof Stopped && error.why === 'lost';
}
