import { AsyncLocalStorage } from 'node:async_hooks';
import { type DatabaseConnection, type Dialect, Kysely, PostgresAdapter, PostgresIntrospector, PostgresQueryCompiler, type QueryResult } from 'kysely';
import pg from 'pg';
import { isUuid } from '../shared/ids.ts';
import type { DB } from './types.ts';

declare const scope: unique symbol;
/** A transaction that sees one organization's rows and no others. Only `withTenant` makes one. */
export type TenantTx = Kysely<DB> & { readonly [scope]: 'tenant' };
/** A transaction across organizations: sign-in, schedules, the command line. Only `withSystem` makes one. */
export type SystemTx = Kysely<DB> & { readonly [scope]: 'system' };
export type Tx = TenantTx | SystemTx;

export interface Database {
  withTenant<T>(tenant: { orgId: string }, work: (tx: TenantTx) => Promise<T>): Promise<T>;
  withSystem<T>(work: (tx: SystemTx) => Promise<T>): Promise<T>;
  /**
   * One quick statement in the system role without a transaction around it, prepared once: for the hot path of authentication.
   * All callers share one pipelined connection, so that statements that come together travel together.
   */
  systemQuery<Row>(name: string, sql: string, values: readonly unknown[]): Promise<Row[]>;
  /** A connection of the application role for COPY, which cannot share a pipelined one. It sets no tenant: only staging tables are open to it. */
  withCopyClient<T>(work: (client: pg.ClientBase) => Promise<T>): Promise<T>;
  stats(): Record<'tenant' | 'system', { total: number; idle: number; waiting: number }>;
  close(): Promise<void>;
}

export interface DatabaseOptions {
  url: string;
  poolSize: number;
}

export const SCHEMA = 'rrs';
const ACQUIRE_TIMEOUT_MS = 5_000;

export function openDatabase({ url, poolSize }: DatabaseOptions): Database {
  const tenantPool = openPool(url, 'rrs_app', { max: poolSize, pipeline: true });
  const systemPool = openPool(url, 'rrs_system', { max: poolSize, pipeline: true });
  const lane = openLane(systemPool);
  const copyPool = openPool(url, 'rrs_app', { max: poolSize, pipeline: false });
  return {
    withTenant: ({ orgId }, work) => {
      if (!isUuid(orgId)) throw new Error('withTenant needs the id of an organization');
      return inTransaction(tenantPool, `begin; set local app.org_id = '${orgId}'`, (tx) => work(tx as TenantTx));
    },
    withSystem: (work) => inTransaction(systemPool, 'begin', (tx) => work(tx as SystemTx)),
    systemQuery: async (name, text, values) => (await (await lane.client()).query({ name, text, values: values as unknown[] })).rows,
    withCopyClient: async (work) => {
      const client = await copyPool.connect();
      let broken = true;
      try {
        const result = await work(client);
        broken = false;
        return result;
      } finally {
        client.release(broken);
      }
    },
    stats: () => ({ tenant: poolStats(tenantPool), system: poolStats(systemPool) }),
    close: async () => {
      lane.close();
      await Promise.all([tenantPool.end(), systemPool.end(), copyPool.end()]);
    },
  };
}

/** A connection that is kept for everybody's short statements, and replaced when it breaks. */
function openLane(pool: pg.Pool) {
  let opening: Promise<pg.PoolClient> | null = null;
  const open = async (): Promise<pg.PoolClient> => {
    const client = await pool.connect();
    client.once('error', () => drop(client));
    return client;
  };
  const dropped = new WeakSet<pg.PoolClient>();
  const drop = (client: pg.PoolClient): void => {
    if (dropped.has(client)) return;
    dropped.add(client);
    opening = null;
    client.release(true);
  };
  return {
    client(): Promise<pg.PoolClient> {
      opening ??= open().catch((error: unknown) => {
        opening = null;
        throw error;
      });
      return opening;
    },
    close(): void {
      opening?.then(drop, () => {});
    },
  };
}

/** Lists meet several indexes at once, whose row sets must fit; and what a page costs is no turn of a disk any more. */
const PLANNING = '-c work_mem=32MB -c random_page_cost=1.1';

/** The role is set as the session's default, so a connection never has the rights of the login behind it. */
export function openPool(url: string, role: 'rrs_app' | 'rrs_system', { max, pipeline }: { max: number; pipeline: boolean }): pg.Pool {
  const pool = new pg.Pool({
    connectionString: withOptions(url, `-c role=${role} -c search_path=${SCHEMA} ${PLANNING}`),
    max,
    pipeline,
    connectionTimeoutMillis: ACQUIRE_TIMEOUT_MS,
    idleTimeoutMillis: 30_000,
    application_name: role,
  });
  // An idle connection that breaks is dropped by the pool; the next query opens another.
  pool.on('error', () => {});
  // One that breaks inside a transaction fails the next statement; without a listener its event would end the process.
  pool.on('connect', (client) => client.on('error', () => {}));
  return pool;
}

/** Options in the URL would replace those beside it, the role included: ours go behind them, where the last one wins. */
export function withOptions(url: string, options: string): string {
  const given = new URLSearchParams(url.split('?')[1]).getAll('options');
  return `${url}${url.includes('?') ? '&' : '?'}options=${encodeURIComponent([...given, options].join(' '))}`;
}

function poolStats(pool: pg.Pool) {
  return { total: pool.totalCount, idle: pool.idleCount, waiting: pool.waitingCount };
}

const insideTransaction = new AsyncLocalStorage<true>();

async function inTransaction<T>(pool: pg.Pool, begin: string, work: (tx: Kysely<DB>) => Promise<T>): Promise<T> {
  // A second connection while holding one is how a pool deadlocks on itself.
  if (insideTransaction.getStore()) throw new Error('a transaction was opened inside a transaction: pass the tx on instead');
  const client = await pool.connect();
  let broken = false;
  let over = false;
  try {
    // Not awaited: the connection is pipelined, so BEGIN travels with the first statement of the work.
    const begun = client.query(begin);
    begun.catch(() => {});
    const result = await insideTransaction.run(true, () => work(new Kysely<DB>({ dialect: singleConnection(client, () => over) })));
    over = true;
    await begun;
    const committed = await client.query('commit');
    if (committed.command !== 'COMMIT') throw new Error('the transaction was rolled back: a statement in it failed and its error was swallowed');
    return result;
  } catch (error) {
    over = true;
    await client.query('rollback').catch(() => {
      broken = true;
    });
    throw error;
  } finally {
    client.release(broken);
  }
}

function singleConnection(client: pg.PoolClient, isOver: () => boolean): Dialect {
  const connection: DatabaseConnection = {
    executeQuery: async <R>(query: { sql: string; parameters: readonly unknown[] }): Promise<QueryResult<R>> => {
      // A straggler of a failed Promise.all, say: the connection may serve another organization by now.
      if (isOver()) throw new Error('the transaction is over: a statement came after its end');
      const result = await client.query<R & pg.QueryResultRow>(query.sql, [...query.parameters]);
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
