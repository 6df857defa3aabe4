import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { Logger, runMigrations } from 'graphile-worker';
import pg from 'pg';
import { OperatorError } from '../shared/errors.ts';
import { withClient } from './connection/with-client.ts';
import { SCHEMA, withOptions } from './database.ts';
import { QUEUE_FUNCTIONS } from './queue-functions.ts';

const MIGRATIONS = new URL('../../migrations/', import.meta.url);
/** "RRS" in ASCII: the advisory lock that lets one process at a time migrate a database. */
const LOCK = 0x525253;

/** The version of the database, and the oldest version that a program must know to use it, for readiness. */
export const SCHEMA_VERSION = 'select max(version) as version, max(min_compatible_version) as min_compatible_version from schema_migrations';

export interface MigrationState {
  /** The version of the database. It is higher than `known` after the program was rolled back. */
  applied: number;
  /** The newest version that this program contains. */
  known: number;
}

interface Migration {
  version: number;
  name: string;
  sql: string;
  checksum: string;
  /** Programs that contain at least this version can use a database with this migration. */
  minCompatibleVersion: number;
}

const MIN_COMPATIBLE = /^-- min_compatible_version: (\d+)$/m;

export async function readMigrations(folder = MIGRATIONS): Promise<Migration[]> {
  const names = (await readdir(folder)).filter((name) => /^\d{4}-[a-z0-9-]+\.sql$/.test(name)).sort();
  return Promise.all(
    names.map(async (name) => {
      const sql = await readFile(new URL(name, folder), 'utf8');
      const version = Number(name.slice(0, 4));
      const declared = MIN_COMPATIBLE.exec(sql)?.[1];
      if (declared === undefined || Number(declared) > version) throw new Error(`${name} needs a line "-- min_compatible_version: <version>"`);
      return { version, name, sql, checksum: createHash('sha256').update(sql).digest('hex'), minCompatibleVersion: Number(declared) };
    }),
  );
}

/**
 * Migrates the database to the newest version, or to `upTo`. Several processes may call it at the same time. A database of a later version stays as it is,
 * if this program can use it.
 */
export async function migrate(url: string, { upTo = Number.POSITIVE_INFINITY, folder = MIGRATIONS } = {}): Promise<MigrationState> {
  const migrations = await readMigrations(folder);
  const known = migrations.at(-1)?.version ?? 0;
  return withClient({ connectionString: url, application_name: 'rrs_migrate' }, async (client) => {
    await client.query('select pg_advisory_lock($1)', [LOCK]);
    await requireServer(client);
    await ensureRolesAndSchemas(client);
    await client.query(`set role rrs_owner; set search_path to ${SCHEMA}`);
    const applied = await appliedMigrations(client);
    const newest = requireReadable(migrations, applied);
    // An older program must not replace the queue of a newer one.
    if (newest > known) return { applied: newest, known };
    await migrateJobQueue(url);
    for (const migration of migrations) {
      if (migration.version <= upTo && !applied.has(migration.version)) await apply(client, migration);
    }
    return { applied: Math.max(newest, ...migrations.filter((m) => m.version <= upTo).map((m) => m.version)), known };
  });
}

async function requireServer(client: pg.Client): Promise<void> {
  const { rows } = await client.query(`select current_setting('server_version_num')::int as version, current_setting('server_encoding') as encoding`);
  const { version, encoding } = rows[0] as { version: number; encoding: string };
  if (version < 150000) throw new OperatorError(`DATABASE_URL points to PostgreSQL ${Math.floor(version / 10000)}. Version 15 or newer is required.`);
  if (encoding !== 'UTF8') throw new OperatorError(`DATABASE_URL points to a database with encoding ${encoding}. Create the database with ENCODING 'UTF8'.`);
}

const ROLES = ['rrs_owner', 'rrs_app', 'rrs_system', 'rrs_import'] as const;

async function ensureRolesAndSchemas(client: pg.Client): Promise<void> {
  try {
    for (const role of ROLES) await ensureRole(client, role);
    const { rows } = await client.query(`select quote_ident(current_database()) as database`);
    const { database } = rows[0] as { database: string };
    await client.query(`
      revoke temporary on database ${database} from public;
      grant create on database ${database} to rrs_owner, rrs_system;
      create schema if not exists ${SCHEMA} authorization rrs_owner;
      create schema if not exists rrs_jobs authorization rrs_system;
      grant usage on schema ${SCHEMA} to rrs_app, rrs_system, rrs_import;
      grant usage on schema rrs_jobs to rrs_app;
    `);
  } catch (error) {
    if (!(error instanceof pg.DatabaseError) || error.code !== '42501') throw error;
    throw new OperatorError(
      `The database user of DATABASE_URL is not allowed to set up the database (${error.message}). Make it the owner of the database and grant it ` +
        `CREATEROLE, or create the roles ${ROLES.join(', ')} (NOLOGIN) and grant all of them to it.`,
      { cause: error },
    );
  }
}

/** Roles belong to the whole server, so the lock of this database does not cover them: a migrator of another database may create them now. */
async function ensureRole(client: pg.Client, role: string): Promise<void> {
  await client.query(`
    do $$ begin
      if not exists (select from pg_roles where rolname = '${role}') then create role ${role} nologin noinherit; end if;
    exception when duplicate_object or unique_violation then null;
    end $$`);
  for (let attempt = 1; ; attempt++) {
    try {
      await client.query(`
        do $$
        declare
          -- Since PostgreSQL 16 the creator of a role can grant it, but cannot SET ROLE to it yet.
          privilege text := case when current_setting('server_version_num')::int >= 160000 then 'set' else 'member' end;
        begin
          if not (select rolsuper from pg_roles where rolname = current_user) and not pg_has_role(current_user, '${role}', privilege) then
            execute format('grant ${role} to %I', current_user);
          end if;
        end $$`);
      return;
    } catch (error) {
      const concurrently = error instanceof pg.DatabaseError && (error.code === 'XX000' || error.code === '23505');
      if (!concurrently || attempt === 10) throw error;
    }
  }
}

async function migrateJobQueue(url: string): Promise<void> {
  const pool = new pg.Pool({ connectionString: withOptions(url, '-c role=rrs_system'), max: 2 });
  pool.on('error', () => {});
  pool.on('connect', (client) => client.on('error', () => {}));
  try {
    await runMigrations({ pgPool: pool, logger: new Logger(() => () => {}) });
    await pool.query(QUEUE_FUNCTIONS);
  } finally {
    await pool.end();
  }
}

interface Applied {
  version: number;
  checksum: string;
  min_compatible_version: number;
}

async function appliedMigrations(client: pg.Client): Promise<Map<number, Applied>> {
  await client.query(`
    create table if not exists schema_migrations (
      version integer primary key,
      name text not null,
      checksum text not null,
      min_compatible_version integer not null,
      applied_at timestamptz(3) not null default now()
    );
    grant select on schema_migrations to rrs_app, rrs_system;
  `);
  const { rows } = await client.query<Applied>('select version, checksum, min_compatible_version from schema_migrations');
  return new Map(rows.map((row) => [row.version, row]));
}

/** Returns the version of the database. */
function requireReadable(migrations: Migration[], applied: Map<number, Applied>): number {
  for (const migration of migrations) {
    const checksum = applied.get(migration.version)?.checksum;
    if (checksum !== undefined && checksum !== migration.checksum) {
      throw new OperatorError(`Migration ${migration.name} has changed since it was applied to this database. Restore the released file.`);
    }
  }
  const known = migrations.at(-1)?.version ?? 0;
  const newest = Math.max(0, ...applied.keys());
  const needed = Math.max(0, ...[...applied.values()].map((one) => one.min_compatible_version));
  if (needed > known) {
    throw new OperatorError(
      `The database has schema version ${newest}, which programs can use from version ${needed} on. This program supports only up to ${known}. Start a newer version of the program.`,
    );
  }
  return newest;
}

const LOCK_NOT_AVAILABLE = '55P03';
/** Requests wait behind a migration that waits for a lock, so it waits only briefly and tries again. */
const LOCK_TIMEOUT_MS = 500;
const LOCK_ATTEMPTS = 120;

async function apply(client: pg.Client, migration: Migration, attempt = 1): Promise<void> {
  const { version, name, checksum, minCompatibleVersion } = migration;
  await client.query(`begin; set local lock_timeout = ${LOCK_TIMEOUT_MS}`);
  try {
    await client.query(migration.sql);
    await client.query('insert into schema_migrations (version, name, checksum, min_compatible_version) values ($1, $2, $3, $4)', [
      version,
      name,
      checksum,
      minCompatibleVersion,
    ]);
    await client.query('commit');
  } catch (error) {
    await client.query('rollback');
    if (error instanceof pg.DatabaseError && error.code === LOCK_NOT_AVAILABLE && attempt < LOCK_ATTEMPTS) {
      await delay(LOCK_TIMEOUT_MS);
      return apply(client, migration, attempt + 1);
    }
    throw new Error(`Migration ${migration.name} failed; nothing of it was applied.`, { cause: error });
  }
}
