import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readdir, readFile, stat } from 'node:fs/promises';
import { basename, join, relative, resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { isDeepStrictEqual } from 'node:util';
import { createGunzip } from 'node:zlib';
import pg from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import { Check } from 'typebox/schema';
import type { BlobStore } from '../../blobs/blobs.ts';
import { SCHEMA, withOptions } from '../../db/database.ts';
import { migrate, readMigrations } from '../../db/migrate.ts';
import { prepareKeyFolder, writePrivate } from '../../evidence/keys/key-files.ts';
import { AppError, errorCodeOf, messageOf, OperatorError } from '../../shared/errors.ts';
import {
  type BackupFile,
  type BackupSummary,
  blobPath,
  COPY_SETTINGS,
  copyTarget,
  describeTables,
  FORMAT_VERSION,
  inParallel,
  isKeyFile,
  JOBS,
  MANIFEST,
  Manifest,
  qualified,
  summarize,
  tablePath,
} from './backup.ts';

interface RestoreOptions {
  url: string;
  blobs: BlobStore;
  keysFolder: string;
  source: string;
}

/** Changes nothing unless the whole backup is sound; and until the very end the database has no organization, so that it can be tried again. */
export async function restore({ url, blobs, keysFolder, source }: RestoreOptions): Promise<BackupSummary> {
  const folder = resolve(source);
  const manifest = await verify(folder);
  await requireKnownSchema(manifest);
  await blobs.check();
  await requireEmptyDatabase(url, manifest);
  await restoreKeys(keysFolder, folder, manifest);
  await migrate(url, { upTo: manifest.schemaVersion });
  // Before the rows that name them, and outside of the transaction, which is not to wait for an object store.
  await restoreBlobs(blobs, folder, manifest);
  await restoreDatabase(url, folder, manifest);
  try {
    await migrate(url);
  } catch (error) {
    throw new OperatorError(
      `The backup was restored with its schema version ${manifest.schemaVersion}, but a later migration failed (${messageOf(error)}). "rrs migrate" tries again.`,
      { cause: error },
    );
  }
  return summarize(manifest);
}

async function verify(folder: string): Promise<Manifest> {
  const manifest = await readManifest(folder);
  const faults = [...contradictions(manifest), ...(await fileFaults(folder, manifest.files))].sort();
  if (faults.length > 0) throw new OperatorError(`The backup ${folder} is damaged: ${faults.join('; ')}. Nothing was restored; use another backup.`);
  return manifest;
}

async function readManifest(folder: string): Promise<Manifest> {
  const path = join(folder, MANIFEST);
  const text = await readFile(path, 'utf8').catch((error: unknown) => {
    const why = errorCodeOf(error) === 'ENOENT' ? `it has no ${MANIFEST}` : `its ${MANIFEST} cannot be read (${messageOf(error)})`;
    throw new OperatorError(`${folder} is not a backup: ${why}. Name the folder that "rrs backup" wrote.`, { cause: error });
  });
  const manifest = parsed(text);
  const format = typeof manifest === 'object' && manifest !== null && 'formatVersion' in manifest ? manifest.formatVersion : undefined;
  if (typeof format === 'number' && format !== FORMAT_VERSION) {
    throw new OperatorError(
      `The backup ${folder} has format ${format}, this program knows only ${FORMAT_VERSION}. Use the version of the program that wrote it, or a newer one.`,
    );
  }
  if (!Check(Manifest, manifest))
    throw new OperatorError(`The backup ${folder} is damaged: ${MANIFEST} is not readable. Nothing was restored; use another backup.`);
  return manifest;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function contradictions({ tables, migrations, schemaVersion, blobs, files }: Manifest): string[] {
  const blobFiles = files.filter(({ path }) => path.startsWith('blobs/'));
  const keys = files.filter(isKeyFile).map(({ path }) => path);
  const expected = [...tables.map(({ table }) => tablePath(table)), JOBS, ...blobFiles.map(({ sha256 }) => blobPath(sha256)), ...keys].sort();
  const listed = files.map(({ path }) => path).sort();
  const sound =
    isDeepStrictEqual(listed, expected) && new Set(listed).size === listed.length && blobFiles.length === blobs && migrations.at(-1)?.version === schemaVersion;
  return sound ? [] : [`${MANIFEST} contradicts itself`];
}

async function fileFaults(folder: string, files: readonly BackupFile[]): Promise<string[]> {
  const faults: string[] = [];
  const present = new Map<string, boolean>();
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isDirectory()) present.set(relative(folder, join(entry.parentPath, entry.name)), entry.isFile());
  }
  await inParallel(files, async ({ path, size, sha256 }) => {
    const plain = present.get(path);
    present.delete(path);
    if (plain === undefined) return void faults.push(`${path} is missing`);
    if (!plain) return void faults.push(`${path} is not a plain file`);
    const found = await stat(join(folder, path));
    if (found.size !== size) faults.push(`${path} has ${found.size} bytes instead of ${size}`);
    else if ((await sha256Of(join(folder, path))) !== sha256) faults.push(`${path} was changed`);
  });
  present.delete(MANIFEST);
  return [...faults, ...[...present.keys()].map((path) => `${path} does not belong to it`)];
}

async function sha256Of(path: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  return hash.digest('hex');
}

async function requireKnownSchema({ schemaVersion, programVersion, migrations }: Manifest): Promise<void> {
  const known = await readMigrations();
  const newest = known.at(-1)?.version ?? 0;
  if (schemaVersion > newest) {
    throw new OperatorError(
      `The backup has schema version ${schemaVersion}, this program knows only ${newest}. Use version ${programVersion} of the program, or a newer one.`,
    );
  }
  const ours = known.filter(({ version }) => version <= schemaVersion).map(({ version, name, checksum }) => ({ version, name, checksum }));
  if (!isDeepStrictEqual(ours, migrations)) {
    throw new OperatorError(
      `The migrations up to version ${schemaVersion} are not those of the backup. Use version ${programVersion} of the program to restore it.`,
    );
  }
}

function notEmpty(): OperatorError {
  return new OperatorError(
    'The database has organizations already; a backup is restored into an empty database only. Create another one, and set DATABASE_URL to it, or RRS_DATA_DIR to a new folder.',
  );
}

async function requireEmptyDatabase(url: string, { schemaVersion }: Manifest): Promise<void> {
  await withClient(url, async (client) => {
    const { rows: tables } = await client.query<{ name: string }>('select relname as name from pg_class where relnamespace = to_regnamespace($1)', [SCHEMA]);
    const names = new Set(tables.map(({ name }) => name));
    if (!names.has('schema_migrations')) return;
    await client.query('set role rrs_system');
    if (names.has('organizations') && (await hasRows(client, 'organizations'))) throw notEmpty();
    const { rows } = await client.query<{ version: number | null }>(`select max(version) as version from ${SCHEMA}.schema_migrations`);
    const version = rows[0]?.version ?? 0;
    if (version > schemaVersion) {
      throw new OperatorError(
        `The database has schema version ${version} already, the backup ${schemaVersion}: its rows would not fit. Restore it into a new, empty database.`,
      );
    }
  });
}

async function restoreBlobs(blobs: BlobStore, folder: string, { files }: Manifest): Promise<void> {
  await inParallel(files, async ({ path, sha256 }) => {
    if (path !== blobPath(sha256)) return;
    const stored = await pipeline(createReadStream(join(folder, path)), (content) => blobs.put(content)).catch((error: unknown) => {
      if (!(error instanceof AppError)) throw error;
      throw new OperatorError(`The file ${path} of the backup could not be stored: ${error.message} The database is still empty; restore again.`, {
        cause: error,
      });
    });
    if (stored.sha256 !== sha256) throw changedMeanwhile(path);
  });
}

/** Only into their places when those are empty or hold the same: a key that is overwritten is gone for ever. */
async function restoreKeys(keysFolder: string, folder: string, { files }: Manifest): Promise<void> {
  const keys = files.filter(isKeyFile);
  const places = keys.map(({ path, sha256 }) => ({ from: join(folder, path), to: join(keysFolder, basename(path)), sha256 }));
  const absent: typeof places = [];
  for (const place of places) {
    const present = await sha256Of(place.to).catch((error: unknown) => {
      if (errorCodeOf(error) === 'ENOENT') return null;
      throw error;
    });
    if (present === null) absent.push(place);
    else if (present !== place.sha256) {
      throw new OperatorError(`${place.to} is another signing key than that of the backup. Move it away, or set RRS_KEYS_DIR to a new folder.`);
    }
  }
  if (absent.length > 0) await prepareKeyFolder(keysFolder);
  for (const { from, to } of absent) await writePrivate(to, await readFile(from, 'utf8'));
}

function changedMeanwhile(path: string): OperatorError {
  return new OperatorError(`${path} was changed while the backup was being restored. The database is still empty; restore again.`);
}

async function restoreDatabase(url: string, folder: string, manifest: Manifest): Promise<void> {
  await withClient(withOptions(url, `-c role=rrs_owner -c search_path=${SCHEMA}`), async (client) => {
    await client.query('begin');
    await client.query(COPY_SETTINGS);
    const tables = await tablesInForeignKeyOrder(client, manifest);
    const forced = await forcedTables(client);
    // COPY is refused under row security, from which an owner is free unless it is forced. Nobody else sees the tables meanwhile.
    for (const table of forced) await client.query(`alter table ${qualified(table)} no force row level security`);
    if (await hasRows(client, 'organizations')) throw notEmpty();
    // What a first start has made, instance secrets say: those of the backup hold.
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
      if (copy.rowCount !== shape.rows) throw changedMeanwhile(tablePath(shape.table));
    }
    await client.query('set constraints all immediate');
    for (const table of forced) await client.query(`alter table ${qualified(table)} force row level security`);
    await client.query(`analyze ${tables.map(({ table }) => qualified(table)).join(', ')}`);
    await restoreJobs(client, folder, manifest);
    await client.query('commit');
  });
}

async function tablesInForeignKeyOrder(client: pg.Client, { tables }: Manifest): Promise<Manifest['tables']> {
  const shapes = tables.map(({ table, columns }) => ({ table, columns }));
  if (!isDeepStrictEqual(await describeTables(client), shapes)) {
    throw new OperatorError('The tables of the database are not those of the backup. Restore it into a new, empty database.');
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
      throw new Error(`The foreign keys of ${waiting.map(({ table }) => table).join(', ')} form a circle, in which no table can be restored first.`);
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

/** The queue belongs to the system role. Attempts are counted anew: those before the backup met another world. */
async function restoreJobs(client: pg.Client, folder: string, { jobs }: Manifest): Promise<void> {
  await client.query('set local role rrs_system');
  let added = 0;
  await pipeline(createReadStream(join(folder, JOBS)), createGunzip(), async (text) => {
    for await (const lines of batchesOfLines(text)) {
      added += lines.length;
      await client.query(ADD_JOBS, [lines]);
    }
  });
  if (added !== jobs) throw changedMeanwhile(JOBS);
}

// All of a batch by one call: each call looks through the whole queue for jobs with the same key while the table has no statistics.
const JOBS_AT_ONCE = 5_000;
const ADD_JOBS = `
  select graphile_worker.add_jobs(array_agg((task, payload::json, queue, run_at, max_attempts, key, priority, flags)::graphile_worker.job_spec))
  from unnest($1::jsonb[]) line, jsonb_to_record(line)
    job (task text, payload text, queue text, run_at timestamptz, max_attempts smallint, key text, priority smallint, flags text[])`;

/** Not by node:readline, to which U+2028 inside a JSON string ends a line. */
async function* batchesOfLines(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<string[]> {
  const decoder = new TextDecoder();
  let rest = '';
  let batch: string[] = [];
  for await (const chunk of bytes) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    batch.push(...lines);
    if (batch.length < JOBS_AT_ONCE) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}

async function withClient<T>(url: string, use: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url, application_name: 'rrs_restore' });
  // One that breaks fails the statement under way; without a listener its event would end the process.
  client.on('error', () => {});
  await client.connect();
  try {
    return await use(client);
  } finally {
    await client.end();
  }
}
