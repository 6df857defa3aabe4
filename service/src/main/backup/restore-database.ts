import { createReadStream } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { isDeepStrictEqual } from 'node:util';
import { createGunzip } from 'node:zlib';
import type pg from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import { withClient } from '../../db/connection/with-client.ts';
import { SCHEMA, withOptions } from '../../db/database.ts';
import { OperatorError } from '../../shared/errors.ts';
import { JOBS, MANIFEST, type Manifest, tablePath } from './format.ts';
import { COPY_SETTINGS, copyTarget, describeTables, qualified } from './tables.ts';
import { sha256Of } from './verify.ts';

const NAME = 'rrs_restore';

function notEmpty(): OperatorError {
  return new OperatorError('The database is not empty: it contains organizations. Set DATABASE_URL to an empty database, or RRS_DATA_DIR to a new folder.');
}

export async function requireEmptyDatabase(url: string, { schemaVersion }: Manifest): Promise<void> {
  await withClient({ connectionString: url, application_name: NAME }, async (client) => {
    const { rows: tables } = await client.query<{ name: string }>('select relname as name from pg_class where relnamespace = to_regnamespace($1)', [SCHEMA]);
    const names = new Set(tables.map(({ name }) => name));
    if (!names.has('schema_migrations')) return;
    await client.query('set role rrs_system');
    if (names.has('organizations') && (await hasRows(client, 'organizations'))) throw notEmpty();
    const { rows } = await client.query<{ version: number | null }>(`select max(version) as version from ${SCHEMA}.schema_migrations`);
    const version = rows[0]?.version ?? 0;
    if (version > schemaVersion) {
      throw new OperatorError(
        `The database has schema version ${version}, which is newer than that of the backup (${schemaVersion}). Restore into a new, empty database.`,
      );
    }
  });
}

export function changedDuringRestore(path: string): OperatorError {
  return new OperatorError(`${path} was modified during the restore. The database is still empty. Run the restore again.`);
}

export async function restoreDatabase(url: string, folder: string, manifest: Manifest): Promise<void> {
  const connectionString = withOptions(url, `-c role=rrs_owner -c search_path=${SCHEMA}`);
  await withClient({ connectionString, application_name: NAME }, async (client) => {
    await client.query('begin');
    await client.query(COPY_SETTINGS);
    const tables = await tablesInForeignKeyOrder(client, manifest);
    const forced = await forcedTables(client);
    // COPY FROM is not supported with row-level security. The owner is exempt unless it is forced. The transaction hides the tables from others.
    for (const table of forced) await client.query(`alter table ${qualified(table)} no force row level security`);
    if (await hasRows(client, 'organizations')) throw notEmpty();
    // Replaces rows that a first start created, such as instance secrets, with those of the backup.
    for (const { table } of tables.toReversed()) {
      if (!(await hasRows(client, table))) continue;
      await client.query(`alter table ${qualified(table)} disable trigger user`);
      await client.query(`delete from ${qualified(table)}`);
      await client.query(`alter table ${qualified(table)} enable trigger user`);
    }
    for (const shape of tables) {
      const { table, columns } = copyTarget(shape);
      const copy = client.query(copyFrom(`copy ${table} (${columns}) from stdin`));
      await pipeline(createReadStream(join(folder, tablePath(shape.table))), createGunzip(), copy);
      if (copy.rowCount !== shape.rows) throw changedDuringRestore(tablePath(shape.table));
    }
    await endLogs(client, folder, manifest);
    await client.query('set constraints all immediate');
    for (const table of forced) await client.query(`alter table ${qualified(table)} force row level security`);
    await client.query(`analyze ${tables.map(({ table }) => qualified(table)).join(', ')}`);
    await restoreJobs(client, folder, manifest);
    await client.query('commit');
  });
}

/** The restored log may have grown after the backup, so it must not continue under the same origin. */
async function endLogs(client: pg.Client, folder: string, { createdAt }: Manifest): Promise<void> {
  const backup = { created_at: createdAt, sha256: await sha256Of(join(folder, MANIFEST)) };
  await client.query(
    `insert into ${SCHEMA}.log_endings (org_id, epoch, reason, backup)
     select org_id, max(epoch), 'restore', $1::jsonb from ${SCHEMA}.log_epochs group by org_id on conflict do nothing`,
    [backup],
  );
}

async function tablesInForeignKeyOrder(client: pg.Client, { tables }: Manifest): Promise<Manifest['tables']> {
  const shapes = tables.map(({ table, columns }) => ({ table, columns }));
  if (!isDeepStrictEqual(await describeTables(client), shapes)) {
    throw new OperatorError('The tables of the database differ from those of the backup. Restore into a new, empty database.');
  }
  const { rows: keys } = await client.query<{ from: string; to: string }>(
    `select f.relname as from, t.relname as to from pg_constraint k join pg_class f on f.oid = k.conrelid join pg_class t on t.oid = k.confrelid
     where k.contype = 'f' and k.conrelid <> k.confrelid and k.connamespace = to_regnamespace($1)`,
    [SCHEMA],
  );
  const ordered: Manifest['tables'] = [];
  let waiting = tables;
  while (waiting.length > 0) {
    const blocked = new Set(keys.filter((key) => waiting.some(({ table }) => table === key.to)).map((key) => key.from));
    const free = waiting.filter(({ table }) => !blocked.has(table));
    if (free.length === 0)
      throw new Error(`The foreign keys of ${waiting.map(({ table }) => table).join(', ')} form a cycle, so no order of restoring them works.`);
    ordered.push(...free);
    waiting = waiting.filter(({ table }) => blocked.has(table));
  }
  return ordered;
}

async function forcedTables(client: pg.Client): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    'select relname as name from pg_class where relnamespace = to_regnamespace($1) and relforcerowsecurity',
    [SCHEMA],
  );
  return rows.map(({ name }) => name);
}

async function hasRows(client: pg.Client, table: string): Promise<boolean> {
  const { rows } = await client.query(`select from ${qualified(table)} limit 1`);
  return rows.length > 0;
}

/** The queue belongs to the system role. Attempts start at zero, because earlier failures may be due to the old environment. */
async function restoreJobs(client: pg.Client, folder: string, { jobs }: Manifest): Promise<void> {
  await client.query('set local role rrs_system');
  let added = 0;
  await pipeline(createReadStream(join(folder, JOBS)), createGunzip(), async (text) => {
    for await (const lines of batchesOfLines(text)) {
      added += lines.length;
      await client.query(ADD_JOBS, [lines]);
    }
  });
  if (added !== jobs) throw changedDuringRestore(JOBS);
}

// One call per batch, because each call scans the whole queue for jobs with the same key while the table has no statistics.
const JOBS_PER_BATCH = 5_000;
const ADD_JOBS = `
  select graphile_worker.add_jobs(array_agg((task, payload::json, queue, run_at, max_attempts, key, priority, flags)::graphile_worker.job_spec))
  from unnest($1::jsonb[]) line, jsonb_to_record(line)
    job (task text, payload text, queue text, run_at timestamptz, max_attempts smallint, key text, priority smallint, flags text[])`;

/** Does not use node:readline, which treats U+2028 inside a JSON string as the end of a line. */
async function* batchesOfLines(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<string[]> {
  const decoder = new TextDecoder();
  let rest = '';
  let batch: string[] = [];
  for await (const chunk of bytes) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    batch.push(...lines);
    if (batch.length < JOBS_PER_BATCH) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}
