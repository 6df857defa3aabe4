import { setTimeout as delay } from 'node:timers/promises';
import { type DatabaseConnection, type Dialect, Kysely, PostgresAdapter, PostgresIntrospector, PostgresQueryCompiler, type QueryResult } from 'kysely';
import pg from 'pg';
import { errorCodeOf } from '../shared/errors.ts';
import { isUuid } from '../shared/ids.ts';
import { createQueues } from '../shared/one-at-a-time.ts';
import { createFairTurns, type FairTurns } from './connection/fair-turns.ts';
import { keptName } from './connection/kept-plans.ts';
import { valueTypes } from './connection/parse-values.ts';
import { openSharedConnection } from './connection/shared-connection.ts';
import { NO_LIMITS, type TransactionLimits } from './limits.ts';
import { asTransaction, isInsideTransaction } from './transaction-scope.ts';
import type { DB } from './types.ts';

declare const scope: unique symbol;
/** A transaction that sees the rows of one organization. Only `withTenant` creates one. */
export type TenantTx = Kysely<DB> & { readonly [scope]: 'tenant' };
/** A transaction across organizations: sign-in, schedules, the command line. Only `withSystem` creates one. */
export type SystemTx = Kysely<DB> & { readonly [scope]: 'system' };
export type Tx = TenantTx | SystemTx;

export interface Database {
  withTenant<T>(tenant: { orgId: string }, work: (tx: TenantTx) => Promise<T>): Promise<T>;
  withSystem<T>(work: (tx: SystemTx) => Promise<T>): Promise<T>;
  /**
   * Runs one prepared statement in the system role without a transaction, for the hot path of authentication. All callers of a lane share one
   * pipelined connection, so concurrent statements share round trips, and a slow statement delays only its own lane.
   */
  systemQuery<Row>(name: string, sql: string, values: readonly unknown[], lane?: Lane): Promise<Row[]>;
  /** A connection for COPY, which cannot share a pipelined one. Its role can only add rows to the staging tables of imports. */
  withCopyClient<T>(work: (client: pg.ClientBase) => Promise<T>): Promise<T>;
  /** The same connections, with limits for every transaction. */
  limitedTo(limits: TransactionLimits): Database;
  /** The same connections, with another way to plan statements. */
  planning(planning: Planning): Database;
  stats(): Record<'tenant' | 'system', { total: number; idle: number; waiting: number }>;
  close(): Promise<void>;
}

/**
 * How statements are planned.
 *
 * - `for_values`: for the values that are given. Best if they decide what is fast, as in lists.
 * - `for_any`: for values that occur as often as others. The statistics do not know an organization that has grown since, and a plan for it would be made for one row.
 * - `once`: for any values, and kept by the connection. For transactions with many statements on few rows, which would take longer to plan than to run.
 */
type Planning = 'for_values' | 'for_any' | 'once';

const lanes = ['authentication', 'events', 'metrics', 'readiness'] as const;
type Lane = (typeof lanes)[number];

export interface DatabaseOptions {
  url: string;
  poolSize: number;
  /** How long a request waits for a connection before it fails. Default: 5 seconds. */
  acquireMs?: number;
}

export const SCHEMA = 'rrs';
const ACQUIRE_TIMEOUT_MS = 5_000;
/** Statements of the lanes take milliseconds. */
const LANE_STATEMENT_MS = 10_000;
const LOCK_NOT_AVAILABLE = '55P03';
const LOCK_RETRY_MS = 100;
/** "Feature not supported": prepared statements that return all columns of a table fail for good when the table gets another column. */
const OUTDATED_PLAN = '0A000';
const IN_FAILED_TRANSACTION = '25P02';

export function openDatabase({ url, poolSize, acquireMs = ACQUIRE_TIMEOUT_MS }: DatabaseOptions): Database {
  const tenantPool = openPool(url, 'rrs_app', { max: poolSize, pipeline: true, acquireMs });
  // Threat: one organization sends so many requests that those of all others wait behind them for a connection.
  const turns = createFairTurns(poolSize);
  const systemPool = openPool(url, 'rrs_system', { max: poolSize, pipeline: true, acquireMs });
  const lanePool = openPool(url, 'rrs_system', { max: lanes.length, pipeline: true, settings: `-c statement_timeout=${LANE_STATEMENT_MS}` });
  const shared = new Map(lanes.map((lane) => [lane, openSharedConnection(lanePool)]));
  const importPool = openPool(url, 'rrs_import', { max: poolSize, pipeline: false });
  const within = (limits: TransactionLimits, planning: Planning): Database => ({
    withTenant: ({ orgId }, work) => {
      if (!isUuid(orgId)) throw new Error('withTenant requires the id of an organization');
      const begin = `${beginOf(limits, planning)}; set local app.org_id = '${orgId}'`;
      const take = () => turns.take(orgId, limits.acquireMs ?? acquireMs);
      return inTransaction(tenantPool, { key: orgId, take, begin, planning, retryMs: limits.retryMs }, (tx) => work(tx as TenantTx));
    },
    withSystem: (work) =>
      inTransaction(systemPool, { key: '', take: null, begin: beginOf(limits, planning), planning, retryMs: limits.retryMs }, (tx) => work(tx as SystemTx)),
    systemQuery: async (name, text, values, lane = 'authentication') => (await shared.get(lane)?.query({ name, text, values: [...values] })) ?? [],
    withCopyClient: async (work) => {
      const client = await importPool.connect();
      let broken = true;
      try {
        const result = await work(client);
        broken = false;
        return result;
      } finally {
        client.release(broken);
      }
    },
    limitedTo: (other) => within(other, planning),
    planning: (other) => within(limits, other),
    stats: () => ({ tenant: { ...poolStats(tenantPool), waiting: turns.waiting() }, system: poolStats(systemPool) }),
    close: async () => {
      for (const connection of shared.values()) connection.close();
      await Promise.all([tenantPool, systemPool, lanePool, importPool].map((pool) => pool.end()));
    },
  });
  return within(NO_LIMITS, 'for_values');
}

/** Zero is no limit. */
function beginOf({ lockMs, statementMs }: TransactionLimits, planning: Planning): string {
  return [
    'begin',
    ...(lockMs === 0 && statementMs === 0 ? [] : [`set local lock_timeout = ${lockMs}; set local statement_timeout = ${statementMs}`]),
    ...(planning !== 'for_values' ? [`set local plan_cache_mode = ${planCacheMode(planning)}`] : []),
  ].join('; ');
}

const planCacheMode = (planning: Planning): string => (planning === 'for_values' ? 'auto' : 'force_generic_plan');

/** List queries combine several bitmap scans, which must fit in work_mem. Random reads are cheap on SSDs. */
const PLANNING = '-c work_mem=32MB -c random_page_cost=1.1';

interface PoolOptions {
  max: number;
  pipeline: boolean;
  settings?: string;
  /** How long a caller waits for a connection. Zero is without a limit. */
  acquireMs?: number;
}

/** The role is the default of the session, so no statement runs with the privileges of the login. */
export function openPool(url: string, role: 'rrs_app' | 'rrs_system' | 'rrs_import', options: PoolOptions): pg.Pool {
  const { max, pipeline, settings = '', acquireMs = ACQUIRE_TIMEOUT_MS } = options;
  const pool = new pg.Pool({
    connectionString: withOptions(url, `-c role=${role} -c search_path=${SCHEMA} ${PLANNING} ${settings}`),
    max,
    pipeline,
    connectionTimeoutMillis: acquireMs,
    idleTimeoutMillis: 30_000,
    application_name: role,
    types: valueTypes,
  });
  // The pool drops an idle connection that breaks, and the next query opens another one.
  pool.on('error', () => {});
  // If a connection breaks inside a transaction, the next statement fails. Without a listener, the error event would end the process.
  pool.on('connect', (client) => client.on('error', () => {}));
  return pool;
}

/** Options in the URL would replace ours, including the role. Ours come last, and the last one wins. */
export function withOptions(url: string, options: string): string {
  const given = new URLSearchParams(url.split('?')[1]).getAll('options');
  return `${url}${url.includes('?') ? '&' : '?'}options=${encodeURIComponent([...given, options].join(' '))}`;
}

function poolStats(pool: pg.Pool) {
  return { total: pool.totalCount, idle: pool.idleCount, waiting: pool.waitingCount };
}

interface Transaction {
  /** The organization, or empty for the system. */
  key: string;
  /** Waits for the turn of the organization to use a connection. */
  take: (() => ReturnType<FairTurns['take']>) | null;
  begin: string;
  planning: Planning;
  retryMs: number;
}

/** Of the transactions of an organization that did not get their locks, one at a time tries again, so that they do not hold all connections. */
const retryOneByOne = createQueues();

async function inTransaction<T>(pool: pg.Pool, transaction: Transaction, work: (tx: Kysely<DB>) => Promise<T>): Promise<T> {
  // Waiting for a second connection while holding one can deadlock the pool.
  if (isInsideTransaction()) throw new Error('a transaction was opened inside a transaction: pass tx instead');
  const deadline = performance.now() + transaction.retryMs;
  let outdated = 0;
  for (let isRetry = false; ; ) {
    try {
      return await (isRetry ? retryOneByOne(transaction.key, () => once(pool, transaction, work)) : once(pool, transaction, work));
    } catch (error) {
      // Everything was rolled back, and the connection serves others until the next try, or was closed because its plans are outdated.
      if (errorCodeOf(error) === OUTDATED_PLAN && outdated++ < pool.options.max) continue;
      if (errorCodeOf(error) !== LOCK_NOT_AVAILABLE || performance.now() >= deadline) throw error;
      isRetry = true;
      await delay(LOCK_RETRY_MS);
    }
  }
}

async function once<T>(pool: pg.Pool, transaction: Transaction, work: (tx: Kysely<DB>) => Promise<T>): Promise<T> {
  const endTurn = await transaction.take?.();
  try {
    return await onConnection(pool, transaction, work);
  } finally {
    endTurn?.();
  }
}

async function onConnection<T>(pool: pg.Pool, { begin, planning }: Transaction, work: (tx: Kysely<DB>) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  let broken = false;
  let over = false;
  const failures: unknown[] = [];
  const state = { isOver: () => over, failed: (error: unknown) => void failures.push(error) };
  try {
    // Not awaited: the connection is pipelined, so BEGIN is sent together with the first statement.
    const begun = client.query(begin);
    begun.catch(state.failed);
    const result = await asTransaction(() => work(new Kysely<DB>({ dialect: singleConnection(client, planning, state) })));
    over = true;
    await begun;
    const committed = await client.query('commit');
    if (committed.command !== 'COMMIT') throw new Error('the transaction was rolled back: a statement failed and its error was swallowed');
    return result;
  } catch (error) {
    over = true;
    // Of statements that are under way together, one fails and the others are refused for it. Their refusal may have been noticed first.
    const cause = errorCodeOf(error) === IN_FAILED_TRANSACTION ? (failures[0] ?? error) : error;
    broken = errorCodeOf(cause) === OUTDATED_PLAN;
    await client.query('rollback').catch(() => {
      broken = true;
    });
    throw cause;
  } finally {
    client.release(broken);
  }
}

interface Statement {
  sql: string;
  parameters: readonly unknown[];
  /** The connection keeps a statement with a name prepared. See `prepared`. */
  name?: string;
  /** How the statement is planned if the connection is to keep it prepared. See `prepared` and `kept`. */
  keep?: Exclude<Planning, 'for_any'>;
}

interface TransactionState {
  isOver(): boolean;
  /** Called for each statement that fails, in the order in which they were sent. */
  failed(error: unknown): void;
}

function singleConnection(client: pg.PoolClient, planning: Planning, { isOver, failed }: TransactionState): Dialect {
  let current = planning;
  // Not awaited: it is sent together with the statement that follows.
  const plan = (wanted: Planning): void => {
    if (planning !== 'for_values' || wanted === current) return;
    current = wanted;
    client.query(`set local plan_cache_mode = ${planCacheMode(wanted)}`).catch(failed);
  };
  const connection: DatabaseConnection = {
    executeQuery: async <R>(query: Statement): Promise<QueryResult<R>> => {
      // A statement left over from a failed Promise.all: the connection may already serve another organization.
      if (isOver()) throw new Error('the transaction has ended: a statement came after its end');
      const { sql: text, parameters } = query;
      const name = query.name ?? (query.keep || planning === 'once' ? keptName(client, text) : undefined);
      plan(query.keep ?? 'for_values');
      const sent = client.query<R & pg.QueryResultRow>({ text, values: [...parameters], ...(name === undefined ? {} : { name }) });
      sent.catch(failed);
      const result = await sent;
      return { rows: result.rows ?? [], numAffectedRows: BigInt(result.rowCount ?? 0) };
    },
    // biome-ignore lint/correctness/useYield: a pipelined connection cannot keep a cursor open
    streamQuery: async function* () {
      throw new Error('streaming is not supported on a pipelined connection');
    },
  };
  const nested = async (): Promise<never> => {
    throw new Error('the transaction belongs to withTenant or withSystem');
  };
  return {
    createAdapter: () => new PostgresAdapter(),
    createQueryCompiler: () => new PostgresQueryCompiler(),
    createIntrospector: (db) => new PostgresIntrospector(db),
    createDriver: () => ({
      init: async () => {},
      acquireConnection: async () => connection,
      beginTransaction: nested,
      commitTransaction: nested,
      rollbackTransaction: nested,
      releaseConnection: async () => {},
      destroy: async () => {},
    }),
  };
}
