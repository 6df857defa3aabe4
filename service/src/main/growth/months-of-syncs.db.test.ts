import { type FakeVendor, fakes } from '@rrs/connectors/fakes';
import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { eraseHandler } from '../../evidence/handlers.ts';
import { useSyncs } from '../../testing/integrations/syncs.ts';
import { retention } from './retention.ts';

const syncs = useSyncs();
const snyk = fakes.find(({ id }) => id === 'snyk') as FakeVendor;
const RUNS = 8;
const DAYS_BETWEEN = 10;
/** The shortest time that a policy can keep files and runs. */
const KEPT_DAYS = 30;
/** These stay: what happened, and which reports there were. */
const HISTORY = new Set(['audit_events', 'events', 'imports', 'run_lists', 'run_assets', 'policy_history']);
const MAX_HISTORY_BYTES = 20_000;

const context = () => ({ db: syncs.api().db, log: { info: () => {}, error: () => {} }, signal: new AbortController().signal, lastAttempt: false });

async function passTime(): Promise<void> {
  const { db } = syncs.api();
  const earlier = (table: string, columns: string[]) =>
    db.withSystem((tx) =>
      sql.raw(`update ${table} set ${columns.map((column) => `${column} = ${column} - interval '${DAYS_BETWEEN} days'`).join(', ')}`).execute(tx),
    );
  await earlier('imports', ['created_at', 'started_at', 'finished_at']);
  await earlier('sync_runs', ['created_at', 'started_at', 'finished_at']);
}

/** Erases the files that retention queued for it. */
async function erase(): Promise<void> {
  const { db, blobs } = syncs.api();
  const queued = await db.systemQuery<{ payload: Record<string, never> }>(
    'queued_erasures',
    `delete from graphile_worker._private_jobs job using graphile_worker._private_tasks task where task.id = task_id and identifier = 'erase_bytes' returning job.payload`,
    [],
  );
  for (const { payload } of queued) await eraseHandler(blobs).run(payload, context());
}

async function stored(): Promise<{ files: number; bytes: number; rows: Map<string, number> }> {
  const { db, ours } = syncs.api();
  const sizes: number[] = [];
  for await (const { size } of syncs.api().blobs.list()) sizes.push(size);
  const tables = await db.systemQuery<{ name: string }>(
    'tables_with_org_id',
    `select c.relname as name from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attname = 'org_id'
     where c.relnamespace = 'rrs'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition and has_table_privilege(c.oid, 'select') order by 1`,
    [],
  );
  const counts = tables.map(async ({ name }): Promise<[string, number]> => {
    const { rows } = await db.withSystem((tx) => sql<{ n: number }>`select count(*)::int as n from ${sql.ref(name)} where org_id = ${ours.id}`.execute(tx));
    return [name, rows[0]?.n ?? 0];
  });
  return { files: sizes.length, bytes: sizes.reduce((sum, size) => sum + size, 0), rows: new Map(await Promise.all(counts)) };
}

async function syncAndPassTime(connection: string): Promise<void> {
  expect(await syncs.sync(connection, { full: true })).toMatchObject({ status: 'succeeded' });
  await passTime();
  await retention.run({}, context());
  await erase();
}

it('months of syncs leave no more than the retention policy keeps', { timeout: 90_000 }, async () => {
  const { call, ours } = syncs.api();
  const policy = { retention: { report_days: KEPT_DAYS, run_days: KEPT_DAYS } };
  expect((await call('PATCH', '/api/v1/organization', { as: ours.owner, body: { policy } })).status).toBe(200);
  const { origin } = await syncs.fake(snyk);
  const id = await syncs.connect(snyk, origin);
  const after = async (runs: number) => {
    for (let n = 0; n < runs; n++) await syncAndPassTime(id);
    return stored();
  };
  const middle = await after(RUNS / 2 + 1);
  const last = await after(RUNS / 2 - 1);

  expect(last.files).toBeLessThanOrEqual(KEPT_DAYS / DAYS_BETWEEN + 1);
  expect(last.files).toBe(middle.files);
  const runs = RUNS / 2 - 1;
  const grown = [...last.rows].filter(([name, count]) => count > (middle.rows.get(name) ?? 0)).map(([name]) => name);
  expect(grown.filter((name) => !HISTORY.has(name))).toEqual([]);
  const { rows } = await syncs
    .api()
    .db.withSystem((tx) =>
      sql<{ bytes: number }>`select coalesce(sum(pg_column_size(i.*)), 0)::int as bytes from imports i where org_id = ${ours.id}`.execute(tx),
    );
  expect((rows[0]?.bytes ?? 0) / (runs * 2)).toBeLessThan(MAX_HISTORY_BYTES);
});
