import { randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { type FileHandle, lstat, mkdir, open, readdir, rename, rm } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { isDeepStrictEqual } from 'node:util';
import { constants, createGzip } from 'node:zlib';
import pg from 'pg';
import { to as copyTo } from 'pg-copy-streams';
import { type Static, Type } from 'typebox';
import type { BlobRef, BlobStore } from '../../blobs/blobs.ts';
import { syncFolder, withFile } from '../../blobs/files.ts';
import { spool } from '../../blobs/streams.ts';
import { openPool, SCHEMA } from '../../db/database.ts';
import { keyKinds } from '../../evidence/keys/key-files.ts';
import { CREDENTIAL_KEY } from '../../integrations/connections/secrets.ts';
import { AppError, errorCodeOf, messageOf, OperatorError } from '../../shared/errors.ts';

export const FORMAT_VERSION = 1;
export const MANIFEST = 'manifest.json';
export const JOBS = 'jobs.ndjson.gz';
const FOLDER_MODE = 0o700;
const FILE_MODE = 0o600;

const Count = Type.Integer({ minimum: 0 });
const BackupFile = Type.Object({
  path: Type.String({
    pattern:
      '^(tables/[a-z_][a-z0-9_]*\\.copy\\.gz|jobs\\.ndjson\\.gz|blobs/[0-9a-f]{2}/[0-9a-f]{64}|keys/[a-z-]+\\.pem|keys/credentials-[0-9]{13}-[0-9a-f]{8}\\.key)$',
  }),
  size: Count,
  sha256: Type.String({ pattern: '^[0-9a-f]{64}$' }),
});
export const Manifest = Type.Object({
  formatVersion: Type.Literal(FORMAT_VERSION),
  programVersion: Type.String(),
  schemaVersion: Count,
  createdAt: Type.String(),
  migrations: Type.Array(Type.Object({ version: Count, name: Type.String(), checksum: Type.String() }), { minItems: 1 }),
  tables: Type.Array(Type.Object({ table: Type.String(), columns: Type.Array(Type.String()), rows: Count })),
  jobs: Count,
  blobs: Count,
  files: Type.Array(BackupFile),
});
export type Manifest = Static<typeof Manifest>;
export type BackupFile = Static<typeof BackupFile>;

export interface BackupSummary {
  createdAt: string;
  programVersion: string;
  schemaVersion: number;
  tables: number;
  rows: number;
  jobs: number;
  blobs: number;
  keys: number;
  bytes: number;
}

interface BackupOptions {
  url: string;
  blobs: BlobStore;
  /** Where the private keys are that sign evidence: without them a restored service could not go on signing as itself. */
  keysFolder: string;
  target: string;
  version: string;
}

/** All data of the service in a new folder, as of one moment, while the service runs. The folder has its name only when it is whole. */
export async function backup({ url, blobs, keysFolder, target, version }: BackupOptions): Promise<BackupSummary> {
  const place = resolve(target);
  if (await exists(place)) throw new OperatorError(`${place} is there already. Name a folder that does not exist yet.`);
  const folder = `${place}.unfinished`;
  await createFolder(folder);
  try {
    // Made first and named last: when another backup to the same place has swept this folder away, so that its files are mixed, this one is gone.
    const manifestFile = join(folder, randomUUID());
    await (await open(manifestFile, 'wx', FILE_MODE)).close();

    const { files: copied, ...snapshot } = await copySnapshot(url, folder);
    // After the snapshot: a blob is stored before the row that names it, and never changes.
    const blobFiles = await copyBlobs(blobs, folder);
    const files = [...copied, ...blobFiles, ...(await copyKeys(keysFolder, folder))];
    const manifest: Manifest = { formatVersion: FORMAT_VERSION, programVersion: version, ...snapshot, blobs: blobFiles.length, files };

    await writeManifest(manifestFile, manifest);
    await rename(manifestFile, join(folder, MANIFEST));
    const shards = (await readdir(join(folder, 'blobs'))).map((name) => join(folder, 'blobs', name));
    for (const path of [...shards, join(folder, 'blobs'), join(folder, 'keys'), join(folder, 'tables'), folder]) await syncFolder(path);
    await rename(folder, place);
    await syncFolder(dirname(place));
    return summarize(manifest);
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    if (!(error instanceof AppError)) throw error;
    throw new OperatorError(`No backup was written to ${place}: ${error.message}`, { cause: error });
  }
}

export function summarize({ createdAt, programVersion, schemaVersion, tables, jobs, blobs, files }: Manifest): BackupSummary {
  const rows = tables.reduce((sum, table) => sum + table.rows, 0);
  const bytes = files.reduce((sum, file) => sum + file.size, 0);
  return { createdAt, programVersion, schemaVersion, tables: tables.length, rows, jobs, blobs, keys: files.filter(isKeyFile).length, bytes };
}

export function isKeyFile({ path }: BackupFile): boolean {
  return path.startsWith('keys/');
}

export function tablePath(table: string): string {
  return `tables/${table}.copy.gz`;
}

export function blobPath(sha256: string): string {
  return `blobs/${sha256.slice(0, 2)}/${sha256}`;
}

interface TableShape {
  table: string;
  columns: string[];
}

/** Live state of this database, which another one has its own of. */
const LEFT_OUT = ['schema_migrations', 'worker_heartbeats'];

/** All tables with the columns that hold data. Threat: a policy that hides rows from the system role would leave them out of a backup in silence. */
export async function describeTables(client: pg.ClientBase): Promise<TableShape[]> {
  const { rows } = await client.query<TableShape & { readable: boolean }>(
    `with policy as (
       select polrelid, polpermissive, pg_get_expr(polqual, polrelid) = 'true' as open from pg_policy
       where polcmd in ('*', 'r') and polroles && array[0, (select oid from pg_roles where rolname = 'rrs_system')]
     )
     select c.relname as table,
       array(select attname::text from pg_attribute where attrelid = c.oid and attnum > 0 and not attisdropped and attgenerated = '' order by attnum) as columns,
       has_table_privilege('rrs_system', c.oid, 'select') and (not c.relrowsecurity or
         (exists (select from policy where polrelid = c.oid and polpermissive and open)
           and not exists (select from policy where polrelid = c.oid and not polpermissive and not open))) as readable
     from pg_class c join pg_namespace n on n.oid = c.relnamespace
     where n.nspname = $1 and c.relkind in ('r', 'p') and c.relpersistence = 'p' and not c.relispartition and c.relname <> all($2)
     order by c.relname collate "C"`,
    [SCHEMA, LEFT_OUT],
  );
  const hidden = rows.filter((row) => !row.readable).map((row) => row.table);
  if (hidden.length > 0)
    throw new Error(`rrs_system may not read all rows of ${hidden.join(', ')}: a migration must grant it SELECT, with a policy "using (true)".`);
  return rows.map(({ table, columns }) => ({ table, columns }));
}

export function qualified(table: string): string {
  return `${SCHEMA}.${pg.escapeIdentifier(table)}`;
}

export function copyTarget({ table, columns }: TableShape): { table: string; columns: string } {
  return { table: qualified(table), columns: columns.map((column) => pg.escapeIdentifier(column)).join(', ') };
}

/**
 * Transactions are counted by one server and counted anew by the next. In a backup they are told from its own moment backwards, below zero:
 * in the same order, and before whatever happens after a restore.
 */
function selected({ table, columns }: TableShape): string {
  const values = columns.map((column) => {
    const name = pg.escapeIdentifier(column);
    return /(^|_)xact$/.test(column) ? `${name} - pg_snapshot_xmax(pg_current_snapshot())::text::bigint` : name;
  });
  return `select ${values.join(', ')} from ${qualified(table)}`;
}

/** Values as text that reads back to the same values on any server, and no time limits that a server has for the queries of a service. */
export const COPY_SETTINGS = `
  set local datestyle = 'ISO, YMD'; set local intervalstyle = 'postgres'; set local timezone = 'UTC'; set local client_encoding = 'UTF8';
  set local extra_float_digits = 1; set local bytea_output = 'hex'; set local array_nulls = on;
  select set_config(name, '0', true) from pg_settings
  where name in ('statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout', 'transaction_timeout')`;

// Quote and delimiter cannot occur in JSON, so that each line is the JSON itself.
const COPY_JOBS = `
  copy (
    select jsonb_build_object('task', task.identifier, 'payload', job.payload::text, 'queue', queue.queue_name, 'run_at', job.run_at,
      'attempts', job.attempts, 'max_attempts', job.max_attempts, 'key', job.key, 'priority', job.priority,
      'flags', (select jsonb_agg(flag) from jsonb_object_keys(job.flags) flag))
    from graphile_worker._private_jobs job
    join graphile_worker._private_tasks task on task.id = job.task_id
    left join graphile_worker._private_job_queues queue on queue.id = job.job_queue_id
    where job.locked_at is not null or job.attempts < job.max_attempts
    order by job.id
  ) to stdout (format csv, quote e'\\x01', delimiter e'\\x02')`;

type Snapshot = Pick<Manifest, 'createdAt' | 'schemaVersion' | 'migrations' | 'tables' | 'jobs' | 'files'>;

const UNKNOWN_ROLE = '22023';

function nothingThere(): OperatorError {
  return new OperatorError('The database is empty: there is nothing to back up. Start the service once, or correct DATABASE_URL.');
}

async function copySnapshot(url: string, folder: string): Promise<Snapshot> {
  await mkdir(join(folder, 'tables'), { mode: FOLDER_MODE });
  const pool = openPool(url, 'rrs_system', { max: 1, pipeline: false });
  try {
    const client = await pool.connect().catch((error: unknown) => {
      throw errorCodeOf(error) === UNKNOWN_ROLE ? nothingThere() : error;
    });
    try {
      return await readSnapshot(client, folder);
    } finally {
      // Not to be used again: a COPY that was broken off leaves it in the middle of an answer.
      client.release(true);
    }
  } finally {
    await pool.end();
  }
}

async function readSnapshot(client: pg.ClientBase, folder: string): Promise<Snapshot> {
  const shapes = await describeTables(client);
  if (shapes.length === 0) throw nothingThere();
  await client.query('begin isolation level repeatable read read only');
  // LOCK takes no snapshot; the query after it does. A migration can so not change a table between the snapshot and its COPY.
  await client.query(`lock table ${shapes.map(({ table }) => qualified(table)).join(', ')} in access share mode`);
  await client.query(COPY_SETTINGS);
  if (!isDeepStrictEqual(await describeTables(client), shapes)) {
    throw new OperatorError('A migration is changing the database at the moment. Try again when it is done.');
  }
  const now = await client.query<{ now: Date }>('select now()');
  const { rows: migrations } = await client.query<Snapshot['migrations'][number]>(
    `select version, name, checksum from ${SCHEMA}.schema_migrations order by version`,
  );

  const files: BackupFile[] = [];
  const copyOut = async (path: string, statement: string) => {
    const copy = copyTo(statement);
    // Asked for when the file is open: an error that comes while nobody listens yet would end the process.
    const fill = (file: FileHandle) => pipeline(client.query(copy), createGzip({ level: constants.Z_BEST_SPEED }), (bytes) => spool(bytes, file));
    files.push(await writeNew(folder, path, fill));
    return copy;
  };
  const copies = [];
  for (const shape of shapes) {
    copies.push({ ...shape, copy: await copyOut(tablePath(shape.table), `copy (${selected(shape)}) to stdout`) });
  }
  const jobs = await copyOut(JOBS, COPY_JOBS);
  // The count comes behind the data of a COPY: it is there for certain when the next statement is answered.
  await client.query('commit');
  return {
    createdAt: (now.rows[0]?.now ?? new Date()).toISOString(),
    schemaVersion: migrations.at(-1)?.version ?? 0,
    migrations,
    tables: copies.map(({ table, columns, copy }) => ({ table, columns, rows: copy.rowCount })),
    jobs: jobs.rowCount,
    files,
  };
}

async function copyBlobs(blobs: BlobStore, folder: string): Promise<BackupFile[]> {
  const files: BackupFile[] = [];
  await mkdir(join(folder, 'blobs'), { mode: FOLDER_MODE });
  await inParallel(blobs.list(), async ({ sha256 }) => {
    const path = blobPath(sha256);
    await mkdir(join(folder, dirname(path)), { recursive: true, mode: FOLDER_MODE });
    let removed = false;
    const file = await writeNew(folder, path, async (target) => {
      const content = await blobs.get(sha256);
      removed = content === null;
      return pipeline(content ?? Readable.from([]), (bytes) => spool(bytes, target));
    });
    if (removed) return rm(join(folder, path));
    if (file.sha256 !== sha256) throw new OperatorError(`The stored file ${sha256} holds other bytes than its name says. No backup was written.`);
    files.push(file);
  });
  return files.sort((a, b) => (a.path < b.path ? -1 : 1));
}

async function copyKeys(keysFolder: string, folder: string): Promise<BackupFile[]> {
  const files: BackupFile[] = [];
  await mkdir(join(folder, 'keys'), { mode: FOLDER_MODE });
  const credentialKeys = (await exists(keysFolder)) ? (await readdir(keysFolder)).filter((file) => CREDENTIAL_KEY.test(file)) : [];
  for (const file of [...Object.values(keyKinds).map((kind) => kind.file), ...credentialKeys.sort()]) {
    const place = join(keysFolder, file);
    if (await exists(place)) files.push(await writeNew(folder, `keys/${file}`, (target) => pipeline(createReadStream(place), (bytes) => spool(bytes, target))));
  }
  return files;
}

const PARALLEL = 8;

/** When one fails, the others finish what they have begun and take nothing more. */
export async function inParallel<T>(items: AsyncIterable<T> | Iterable<T>, work: (item: T) => Promise<void>): Promise<void> {
  const shared = (async function* () {
    yield* items;
  })();
  const workers = Array.from({ length: PARALLEL }, async () => {
    for await (const item of shared) await work(item);
  });
  const failed = (await Promise.allSettled(workers)).find((result) => result.status === 'rejected');
  if (failed) throw failed.reason;
}

async function writeNew(folder: string, path: string, fill: (file: FileHandle) => Promise<BlobRef>): Promise<BackupFile> {
  return withFile(
    join(folder, path),
    'wx',
    async (file) => {
      const { size, sha256 } = await fill(file);
      await file.sync();
      return { path, size, sha256 };
    },
    FILE_MODE,
  );
}

async function writeManifest(path: string, manifest: Manifest): Promise<void> {
  await withFile(path, 'r+', async (file) => {
    await file.writeFile(`${JSON.stringify(manifest, null, 1)}\n`);
    await file.sync();
  });
}

async function createFolder(path: string): Promise<void> {
  try {
    await rm(path, { recursive: true, force: true });
    await mkdir(path, { mode: FOLDER_MODE });
  } catch (error) {
    throw new OperatorError(`The folder ${dirname(path)} cannot be written (${messageOf(error)}). Name a place for the backup that can.`, { cause: error });
  }
}

async function exists(path: string): Promise<boolean> {
  try {
    await lstat(path);
    return true;
  } catch (error) {
    if (errorCodeOf(error) === 'ENOENT') return false;
    throw error;
  }
}
