import { AsyncLocalStorage } from 'node:async_hooks';
import { type DatabaseConnection, type Dialect, Kysely, PostgresAdapter, PostgresIntrospector, PostgresQueryCompiler, type QueryResult } from 'kysely';
import pg from 'pg';
import { isUuid } from '../shared/ids.ts';
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
   * Runs one prepared statement in the system role without a transaction, for the hot path of authentication. All callers share one pipelined
   * connection, so concurrent statements share round trips.
   */
  systemQuery<Row>(name: string, sql: string, values: readonly unknown[]): Promise<Row[]>;
  /** A connection for COPY, which cannot share a pipelined one. Its role can only add rows to the staging tables of imports. */
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
  const shared = openSharedConnection(systemPool);
  const importPool = openPool(url, 'rrs_import', { max: poolSize, pipeline: false });
  return {
    withTenant: ({ orgId }, work) => {
      if (!isUuid(orgId)) throw new Error('withTenant requires the id of an organization');
      return inTransaction(tenantPool, `begin; set local app.org_id = '${orgId}'`, (tx) => work(tx as TenantTx));
    },
    withSystem: (work) => inTransaction(systemPool, 'begin', (tx) => work(tx as SystemTx)),
    systemQuery: async (name, text, values) => (await (await shared.client()).query({ name, text, values: values as unknown[] })).rows,
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
    stats: () => ({ tenant: poolStats(tenantPool), system: poolStats(systemPool) }),
    close: async () => {
      shared.close();
      await Promise.all([tenantPool.end(), systemPool.end(), importPool.end()]);
    },
  };
}

/** One connection for the short statements of all callers. It is replaced when it breaks. */
function openSharedConnection(pool: pg.Pool) {
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

/** List queries combine several bitmap scans, which must fit in work_mem. Random reads are cheap on SSDs. */
const PLANNING = '-c work_mem=32MB -c random_page_cost=1.1';

/** The role is the default of the session, so no statement runs with the privileges of the login. */
export function openPool(url: string, role: 'rrs_app' | 'rrs_system' | 'rrs_import', { max, pipeline }: { max: number; pipeline: boolean }): pg.Pool {
  const pool = new pg.Pool({
    connectionString: withOptions(url, `-c role=${role} -c search_path=${SCHEMA} ${PLANNING}`),
    max,
    pipeline,
    connectionTimeoutMillis: ACQUIRE_TIMEOUT_MS,
    idleTimeoutMillis: 30_000,
    application_name: role,
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

const insideTransaction = new AsyncLocalStorage<true>();

async function inTransaction<T>(pool: pg.Pool, begin: string, work: (tx: Kysely<DB>) => Promise<T>): Promise<T> {
  // Waiting for a second connection while holding one can deadlock the pool.
  if (insideTransaction.getStore()) throw new Error('a transaction was opened inside a transaction: pass tx instead');
  const client = await pool.connect();
  let broken = false;
  let over = false;
  try {
    // Not awaited: the connection is pipelined, so BEGIN is sent together with the first statement.
    const begun = client.query(begin);
    begun.catch(() => {});
    const result = await insideTransaction.run(true, () => work(new Kysely<DB>({ dialect: singleConnection(client, () => over) })));
    over = true;
    await begun;
    const committed = await client.query('commit');
    if (committed.command !== 'COMMIT') throw new Error('the transaction was rolled back: a statement failed and its error was swallowed');
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
      // A statement left over from a failed Promise.all: the connection may already serve another organization.
      if (isOver()) throw new Error('the transaction has ended: a statement came after its end');
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
