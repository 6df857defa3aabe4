import { sql } from 'kysely';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { withClient } from '../db/connection/with-client.ts';
import { eventually } from '../testing/eventually.ts';
import { directReader } from '../testing/findings/reader.ts';
import { startApi, type TestApi } from '../testing/http/api.ts';
import { importHandler } from './handlers.ts';
import { takeImportLock } from './import-lock.ts';

const POOL = 4;
let api: TestApi;
beforeAll(async () => {
  api = await startApi({ poolSize: POOL });
});
afterAll(() => api?.close());

async function send(name: string): Promise<string> {
  const body = JSON.stringify({ title: 'A weakness', severity: 'high', asset: { type: 'host', name } });
  const { body: made } = await api.call('POST', '/api/v1/imports?format=generic', {
    as: api.ours.owner,
    body,
    headers: { 'content-type': 'application/x-ndjson', prefer: 'wait=0' },
  });
  return (made as { id: string }).id;
}

const countStaged = async (): Promise<number> =>
  (await api.db.withTenant({ orgId: api.ours.id }, (tx) => sql<{ n: number }>`select count(*)::int as n from tenant_import_rows`.execute(tx))).rows[0]?.n ?? 0;

/** Holds the import lock, as an import does while it is applied, until the returned function is called. */
async function holdImportLock(): Promise<() => Promise<void>> {
  const ended = Promise.withResolvers<void>();
  const begun = Promise.withResolvers<void>();
  const held = api.db.withTenant({ orgId: api.ours.id }, async (tx) => {
    await takeImportLock(tx, api.ours.id);
    begun.resolve();
    await ended.promise;
  });
  await begun.promise;
  return async () => {
    ended.resolve();
    await held;
  };
}

it('requests that wait for an import leave the connections to others, and succeed after it', async () => {
  const release = await holdImportLock();
  const create = (name: string) =>
    api.call('POST', '/api/v1/findings', { as: api.ours.owner, body: { title: 'A weakness', severity: 'high', asset: { type: 'host', name } } });
  const writes = Promise.all(Array.from({ length: 3 * POOL }, (_, n) => create(`by-hand-${n}`)));
  try {
    for (let n = 0; n < 3 * POOL; n++) expect((await api.call('GET', '/api/v1/findings', { as: api.theirs.owner })).status).toBe(200);
    // Only transactions that try again are left, one at a time.
    await eventually(() => api.db.stats().tenant.idle).toBeGreaterThanOrEqual(POOL - 2);
  } finally {
    await release();
  }
  expect((await writes).map(({ status }) => status)).toEqual(Array(3 * POOL).fill(201));
});

it.each([
  ['work_items', 'POST', '/api/v1/findings', { title: 'A weakness', severity: 'high', asset: { type: 'host', name: 'upgraded.example' } }],
  ['findings', 'GET', '/api/v1/findings?total=exact', undefined],
] as const)(
  'a request that meets a migration of %s waits for its lock, although several of its statements are under way',
  async (table, method, path, body) => {
    await withClient(api.databaseUrl, async (migration) => {
      await migration.query(`begin; lock table rrs.${table} in access exclusive mode`);
      const request = api.call(method, path, { as: api.ours.owner, ...(body && { body }) });
      const attempts = new Set<string>();
      const countAttempts = async (): Promise<number> => {
        const { rows } = await migration.query<{ transaction: string }>(
          'select virtualtransaction as transaction from pg_locks where not granted and database = (select oid from pg_database where datname = current_database())',
        );
        for (const { transaction } of rows) attempts.add(transaction);
        return attempts.size;
      };
      await eventually(countAttempts).toBeGreaterThan(1);
      await migration.query('commit');
      expect((await request).status).toBeLessThan(300);
    });
  },
);

it('imports that wait for the import lock do not exhaust the connection pool', async () => {
  const waiting = POOL + 2;
  const ids = await Promise.all(Array.from({ length: waiting }, (_, n) => send(`host-${n}`)));
  const { run } = importHandler(api.blobs, api.follower, directReader);
  const context = { db: api.db, log: { info: () => {}, error: () => {} }, signal: new AbortController().signal, lastAttempt: true };
  const release = await holdImportLock();
  const imports = Promise.all(ids.map((id) => run({ org_id: api.ours.id, import_id: id }, context)));
  let released = '';
  try {
    await eventually(countStaged).toBe(waiting);
    // One import is in the transaction that will end it.
    await eventually(() => api.db.stats().tenant.idle).toBeLessThan(POOL);
    for (let n = 0; n < POOL; n++) expect((await api.call('GET', '/api/v1/findings', { as: api.ours.owner })).status).toBe(200);
    released = new Date().toISOString();
  } finally {
    await Promise.all([release(), imports]);
  }
  const { body } = await api.call('GET', '/api/v1/imports', { as: api.ours.owner });
  const { data } = body as { data: { status: string; finished_at: string }[] };
  expect(data.map(({ status }) => status)).toEqual(Array(waiting).fill('succeeded'));
  expect(data.filter(({ finished_at }) => finished_at < released)).toEqual([]);
});
