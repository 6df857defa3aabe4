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
/**
 * What stays of each run that changes nothing: what happened, and which reports there were. Rows in each table. Events are deleted by their age, which the test
 * does not change.
 */
const HISTORY_OF_RUN = new Map([
  ['audit_events', 5],
  ['events', 5],
  ['imports', 1],
]);
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
  await earlier('run_assets', ['started_at', 'ended_at']);
}

/** Takes the waiting jobs with this name out of the queue. */
async function taken(job: string): Promise<Record<string, never>[]> {
  const rows = await syncs
    .api()
    .db.systemQuery<{ payload: Record<string, never> }>(
      'taken_jobs',
      'delete from graphile_worker._private_jobs job using graphile_worker._private_tasks task where task.id = task_id and identifier = $1 returning job.payload',
      [job],
    );
  return rows.map(({ payload }) => payload);
}

/** What is stored for the organization and for none, and the jobs that wait. */
async function stored(): Promise<{ files: number; bytes: number; rows: Map<string, number> }> {
  const { db, ours } = syncs.api();
  const sizes: number[] = [];
  for await (const { size } of syncs.api().blobs.list()) sizes.push(size);
  const tables = await db.systemQuery<{ name: string; is_own: boolean }>(
    'tables_of_all',
    `select c.oid::regclass::text as name, exists (select from pg_attribute a where a.attrelid = c.oid and a.attname = 'org_id') as is_own
     from pg_class c join pg_namespace n on n.oid = c.relnamespace
     where (n.nspname = 'rrs' or c.oid = 'graphile_worker._private_jobs'::regclass) and c.relkind in ('r', 'p') and not c.relispartition
       and has_table_privilege(c.oid, 'select') order by 1`,
    [],
  );
  const counts = tables.map(async ({ name, is_own }): Promise<[string, number]> => {
    const own = is_own ? sql`where org_id = ${ours.id}` : sql``;
    const { rows } = await db.withSystem((tx) => sql<{ n: number }>`select count(*)::int as n from ${sql.raw(name)} ${own}`.execute(tx));
    return [name, rows[0]?.n ?? 0];
  });
  return { files: sizes.length, bytes: sizes.reduce((sum, size) => sum + size, 0), rows: new Map(await Promise.all(counts)) };
}

async function syncAndPassTime(connection: string): Promise<void> {
  expect(await syncs.sync(connection, { full: true })).toMatchObject({ status: 'succeeded' });
  expect(await taken('run_sync')).toHaveLength(1);
  await passTime();
  await retention.run({}, context());
  for (const erasure of await taken('erase_bytes')) await eraseHandler(syncs.api().blobs).run(erasure, context());
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
  // Compressed files of equal content differ by their times.
  expect(last.bytes).toBeLessThan(middle.bytes * 1.1);
  const runs = RUNS / 2 - 1;
  const grown = [...last.rows].map(([name, count]): [string, number] => [name, (count - (middle.rows.get(name) ?? 0)) / runs]);
  expect(Object.fromEntries(grown.filter(([name, rows]) => rows > (HISTORY_OF_RUN.get(name) ?? 0)))).toEqual({});
  expect(last.rows.get('sync_runs')).toBeLessThanOrEqual(KEPT_DAYS / DAYS_BETWEEN + 1);
  const { rows } = await syncs
    .api()
    .db.withSystem((tx) =>
      sql<{ bytes: number }>`select coalesce(sum(pg_column_size(i.*)), 0)::int as bytes from imports i where org_id = ${ours.id}`.execute(tx),
    );
  expect((rows[0]?.bytes ?? 0) / (runs * 2)).toBeLessThan(MAX_HISTORY_BYTES);
});
