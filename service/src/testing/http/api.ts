import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openFileStore } from '../../blobs/file-store.ts';
import { type Database, openDatabase } from '../../db/database.ts';
import { instanceSecret } from '../../db/instance-secret.ts';
import { readMigrations } from '../../db/migrate.ts';
import { eventTypes } from '../../events/types.ts';
import type { App } from '../../http/app.ts';
import { createApi, follower } from '../../main/api.ts';
import { readConfig } from '../../main/config.ts';
import { createLog, type Log } from '../../main/log.ts';
import { createMetrics } from '../../main/operations.ts';
import { createGuard } from '../../net/addresses.ts';
import { createOutbound } from '../../net/request.ts';
import { createApiKey } from '../../organizations/api-keys/api-keys.ts';
import { createKeyUse } from '../../organizations/api-keys/key-use.ts';
import { createOrganization } from '../../organizations/organization.ts';
import { systemActor } from '../../shared/actor.ts';
import type { Role } from '../../shared/permissions.ts';
import { createTestDatabase, type TestDatabase } from '../postgres.ts';

export interface TestOrganization {
  id: string;
  slug: string;
  /** An API key with the role owner. */
  owner: string;
  /** Creates an API key. */
  key(role: Role): Promise<string>;
}

export interface ApiAnswer {
  status: number;
  headers: Headers;
  /** Parsed JSON, or the text of any other media type. `null` if the body is empty. */
  body: unknown;
}

export interface CallOptions {
  /** An API key, sent as a bearer token. */
  as?: string;
  /** Sent as JSON, unless it is text or bytes. */
  body?: unknown;
  headers?: Record<string, string>;
}

export interface StartApiOptions {
  /** Environment variables. There is no rate limit unless RRS_RATE_LIMIT sets one. */
  config?: Record<string, string>;
  log?: Log;
  /** Adds routes for the test. Each needs `config.access`. */
  prepare?: (app: App) => Promise<void>;
  /** Used instead of a new database. It is dropped when the API closes. */
  database?: TestDatabase;
  poolSize?: number;
  /** How long a request waits for a connection. For tests with more requests at once than a busy machine serves in the default time. */
  acquireMs?: number;
}

export type TestApi = Awaited<ReturnType<typeof startApi>>;

/** Starts the whole API as `rrs-server api` does, with its own database, a free port and two organizations. */
export async function startApi(options: StartApiOptions = {}) {
  const { config: settings = {}, log = createLog('silent'), prepare, poolSize = 10, acquireMs } = options;
  const database = options.database ?? (await createTestDatabase());
  const db = openDatabase({ url: database.url, poolSize, ...(acquireMs === undefined ? {} : { acquireMs }) });
  const blobFolder = mkdtempSync(join(tmpdir(), 'rrs-blobs-'));
  const { config } = readConfig({ RRS_RATE_LIMIT: '0', RRS_KEYS_DIR: `${blobFolder}-keys`, ...settings });
  const address = { url: '' };
  const keyUse = createKeyUse(db, () => {});
  const metrics = createMetrics(db);
  const schemaVersion = (await readMigrations()).at(-1)?.version ?? 0;
  const blobs = openFileStore(blobFolder);
  const outbound = createOutbound({ guard: createGuard(config.RRS_OUTBOUND_ALLOW) });
  const secret = await instanceSecret(db, 'signing');
  const app = await createApi({
    config,
    db,
    databaseUrl: database.url,
    log,
    blobs,
    outbound,
    secret,
    keyUse,
    publicUrl: () => config.RRS_PUBLIC_URL ?? address.url,
    operations: { db, metrics, schemaVersion, needsWorker: false },
    console: null,
    ...(prepare ? { prepare } : {}),
  });
  await app.listen({ host: '127.0.0.1', port: 0 });
  const bound = app.server.address();
  const port = bound !== null && typeof bound === 'object' ? bound.port : 0;
  address.url = `http://127.0.0.1:${port}`;

  const organization = async (slug: string): Promise<TestOrganization> => {
    const { id } = await db.withSystem((tx) => createOrganization(tx, 'test', { slug, name: slug }));
    const key = async (role: Role): Promise<string> => {
      const actor = systemActor(id, 'test');
      return (await db.withTenant(actor, (tx) => createApiKey(tx, actor, { name: `${role} of ${slug}`, role }))).token;
    };
    return { id, slug, owner: await key('owner'), key };
  };

  return {
    app,
    db,
    blobs,
    outbound,
    secret,
    blobFolder,
    follower,
    keyUse,
    metrics,
    port,
    url: address.url,
    databaseUrl: database.url,
    ours: await organization('ours'),
    theirs: await organization('theirs'),
    /** Sends an HTTP request. `path` includes the prefix, as in `/api/v1/me`. */
    call: (method: string, path: string, options: CallOptions = {}): Promise<ApiAnswer> => call(address.url, method, path, options),
    async close(): Promise<void> {
      await app.close();
      await assertKnownEvents(db);
      await keyUse.close().catch(() => {});
      outbound.close();
      await db.close().catch(() => {});
      await database.drop();
      for (const folder of [blobFolder, `${blobFolder}-keys`]) rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** The type of an event can be a SQL expression, which the compiler cannot check. */
async function assertKnownEvents(db: Database): Promise<void> {
  const unknown = await db.withSystem((tx) => tx.selectFrom('events').select('type').distinct().where('type', 'not in', eventTypes).execute()).catch(() => []);
  if (unknown.length > 0) throw new Error(`events/types.ts lacks ${unknown.map(({ type }) => type).join(', ')}`);
}

export async function call(url: string, method: string, path: string, { as, body, headers = {} }: CallOptions): Promise<ApiAnswer> {
  const raw = typeof body === 'string' || body instanceof Uint8Array;
  const response = await fetch(`${url}${path}`, {
    method,
    redirect: 'manual',
    headers: {
      ...(as === undefined ? {} : { authorization: `Bearer ${as}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: raw ? (body as string) : JSON.stringify(body) }),
  });
  const text = await response.text();
  const json = /[/+]json\b/.test(response.headers.get('content-type') ?? '');
  return { status: response.status, headers: response.headers, body: text === '' ? null : json ? JSON.parse(text) : text };
}
