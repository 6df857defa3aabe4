import { type FileHandle, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { isDeepStrictEqual } from 'node:util';
import { constants, createGzip } from 'node:zlib';
import pg from 'pg';
import { to as copyTo } from 'pg-copy-streams';
import { spool } from '../../blobs/streams.ts';
import { openPool, SCHEMA } from '../../db/database.ts';
import { errorCodeOf, OperatorError } from '../../shared/errors.ts';
import { FOLDER_MODE, writeNew } from './files.ts';
import { type BackupFile, JOBS, type Manifest, tablePath } from './format.ts';
import { COPY_SETTINGS, describeTables, qualified, type TableShape } from './tables.ts';

type Snapshot = Pick<Manifest, 'createdAt' | 'schemaVersion' | 'migrations' | 'tables' | 'jobs' | 'files'>;

const UNKNOWN_ROLE = '22023';

function emptyDatabase(): OperatorError {
  return new OperatorError('The database is empty, so there is nothing to back up. Start the service once, or correct DATABASE_URL.');
}

export async function copySnapshot(url: string, folder: string): Promise<Snapshot> {
  await mkdir(join(folder, 'tables'), { mode: FOLDER_MODE });
  const pool = openPool(url, 'rrs_system', { max: 1, pipeline: false });
  try {
    const client = await pool.connect().catch((error: unknown) => {
      throw errorCodeOf(error) === UNKNOWN_ROLE ? emptyDatabase() : error;
    });
    try {
      return await readSnapshot(client, folder);
    } finally {
      // The connection is closed, because an interrupted COPY leaves it in an undefined protocol state.
      client.release(true);
    }
  } finally {
    await pool.end();
  }
}

async function readSnapshot(client: pg.ClientBase, folder: string): Promise<Snapshot> {
  const shapes = await describeTables(client);
  if (shapes.length === 0) throw emptyDatabase();
  await client.query('begin isolation level repeatable read read only');
  // LOCK does not take a snapshot, but the next query does. So no migration can change a table between the snapshot and its COPY.
  await client.query(`lock table ${shapes.map(({ table }) => qualified(table)).join(', ')} in access share mode`);
  await client.query(COPY_SETTINGS);
  if (!isDeepStrictEqual(await describeTables(client), shapes)) {
    throw new OperatorError('A migration is changing the database. Retry when it is done.');
  }
  const now = await client.query<{ now: Date }>('select now()');
  const { rows: migrations } = await client.query<Snapshot['migrations'][number]>(
    `select version, name, checksum from ${SCHEMA}.schema_migrations order by version`,
  );

  const files: BackupFile[] = [];
  const copyOut = async (path: string, statement: string) => {
    const copy = copyTo(statement);
    // The query starts when the file is open: an error without a listener would end the process.
    const fill = (file: FileHandle) => pipeline(client.query(copy), createGzip({ level: constants.Z_BEST_SPEED }), (bytes) => spool(bytes, file));
    files.push(await writeNew(folder, path, fill));
    return copy;
  };
  const copies = [];
  for (const shape of shapes) {
    copies.push({ ...shape, copy: await copyOut(tablePath(shape.table), `copy (${selectOf(shape)}) to stdout`) });
  }
  const jobs = await copyOut(JOBS, COPY_JOBS);
  // The row count arrives after the data of a COPY. It is complete once the next statement has returned.
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

/**
 * Transaction IDs are counted per server. A backup stores them relative to its own transaction, as negative numbers, so that they keep
 * their order and precede all transactions after a restore.
 */
function selectOf({ table, columns }: TableShape): string {
  const values = columns.map((column) => {
    const name = pg.escapeIdentifier(column);
    return /(^|_)xact$/.test(column) ? `${name} - pg_snapshot_xmax(pg_current_snapshot())::text::bigint` : name;
  });
  return `select ${values.join(', ')} from ${qualified(table)}`;
}

// Quote and delimiter are characters that cannot occur in JSON, so each line is plain JSON.
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
