import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, openSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { errorCodeOf, messageOf, OperatorError } from '../shared/errors.ts';
import { locatePostgres, makeOwnedDir, type PostgresHome } from './postgres-home.ts';

/** A PostgreSQL server of our own: its cluster under the data folder, a Unix socket as its only door, our user the only one let in. */
export interface EmbeddedPostgres {
  url: string;
  stop(): Promise<void>;
}

interface Server extends PostgresHome {
  logFile: string;
}

const SUPERUSER = 'rrs_admin';
const DATABASE = 'rrs';
const START_TIMEOUT_MS = 60_000;
const POLL_MS = 15;

export async function startEmbedded(dataDir: string, log: (line: string) => void): Promise<EmbeddedPostgres> {
  const server: Server = { ...locatePostgres(dataDir), logFile: join(dataDir, 'postgres.log') };
  if (!existsSync(join(server.cluster, 'PG_VERSION'))) await createCluster(server);
  letOnlyUsIn(server);
  await stopLeftover(server);

  let stopping = false;
  let child = await launch(server);
  await ensureDatabase(server);

  const supervise = async (): Promise<void> => {
    for (;;) {
      await ended(child);
      for (let wait = 100; !stopping; wait = Math.min(wait * 2, 5_000)) {
        log('PostgreSQL ended unexpectedly; starting it again');
        await delay(wait);
        try {
          child = await launch(server);
          break;
        } catch (error) {
          log(messageOf(error));
        }
      }
      if (stopping) {
        child.kill('SIGINT');
        return void (await ended(child));
      }
    }
  };
  const supervised = supervise();

  return {
    url: urlOf(server, DATABASE),
    stop: () => {
      stopping = true;
      child.kill('SIGINT');
      return supervised;
    },
  };
}

function urlOf(server: Server, database: string): string {
  return `postgresql://${SUPERUSER}@/${database}?host=${encodeURIComponent(server.socketDir)}`;
}

function ended(child: ChildProcess): Promise<unknown> {
  return child.exitCode !== null || child.signalCode !== null ? Promise.resolve() : once(child, 'exit');
}

/** Made beside its place and moved there when whole, so that a crash leaves no half cluster. */
async function createCluster(server: Server): Promise<void> {
  const unfinished = `${server.cluster}.new`;
  rmSync(unfinished, { recursive: true, force: true });
  makeOwnedDir(unfinished, server.runner);
  const args = ['-D', unfinished, '-U', SUPERUSER, '-A', 'peer', '-E', 'UTF8', '--locale-provider=builtin', '--builtin-locale=C.UTF-8', '--locale=C'];
  const initdb = run(server, 'initdb', args);
  await ended(initdb);
  if (initdb.exitCode !== 0) throw failure(server, 'PostgreSQL could not create its database cluster');
  rmSync(server.cluster, { recursive: true, force: true });
  renameSync(unfinished, server.cluster);
}

/** Peer authentication: the kernel tells PostgreSQL who connects, and only the user of this process is mapped to a database user. */
function letOnlyUsIn(server: Server): void {
  writeFileSync(join(server.cluster, 'pg_hba.conf'), 'local all all peer map=rrs\n');
  writeFileSync(join(server.cluster, 'pg_ident.conf'), `rrs "${userInfo().username}" ${SUPERUSER}\n`);
}

function run(server: Server, program: string, args: string[]): ChildProcess {
  const tooLong = existsSync(server.logFile) && statSync(server.logFile).size > 10_000_000;
  const logFd = openSync(server.logFile, tooLong ? 'w' : 'a', 0o600);
  try {
    // A session of its own, so that Ctrl-C reaches us alone and we stop the server after the last request.
    const child = spawn(join(server.bin, program), args, {
      cwd: '/',
      detached: true,
      stdio: ['ignore', logFd, logFd],
      env: { PATH: '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' },
      ...server.runner,
    });
    child.on('error', () => {});
    return child;
  } finally {
    closeSync(logFd);
  }
}

async function launch(server: Server): Promise<ChildProcess> {
  const settings = {
    listen_addresses: '',
    unix_socket_directories: server.socketDir,
    unix_socket_permissions: '0700',
    max_connections: '100',
    timezone: 'UTC',
    log_timezone: 'UTC',
    jit: 'off',
  };
  const child = run(server, 'postgres', ['-D', server.cluster, ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])]);
  const deadline = Date.now() + START_TIMEOUT_MS;
  while (!(await answers(server))) {
    if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) throw failure(server, 'PostgreSQL did not start');
    if (Date.now() > deadline) {
      child.kill('SIGINT');
      throw failure(server, 'PostgreSQL did not answer within a minute');
    }
    await delay(POLL_MS);
  }
  return child;
}

async function answers(server: Server): Promise<boolean> {
  const client = new pg.Client({ connectionString: urlOf(server, 'postgres') });
  try {
    await client.connect();
    return true;
  } catch (error) {
    if (['28000', '28P01'].includes(errorCodeOf(error) ?? '')) throw error;
    return false;
  } finally {
    await client.end().catch(() => {});
  }
}

async function ensureDatabase(server: Server): Promise<void> {
  const client = new pg.Client({ connectionString: urlOf(server, 'postgres') });
  await client.connect();
  try {
    const { rowCount } = await client.query('select from pg_database where datname = $1', [DATABASE]);
    if (rowCount === 0) await client.query(`create database ${DATABASE}`);
  } finally {
    await client.end();
  }
}

/** A server whose service was killed goes on running: it is stopped in order, so that a new one starts from a clean cluster. */
async function stopLeftover(server: Server): Promise<void> {
  const pidFile = join(server.cluster, 'postmaster.pid');
  if (!existsSync(pidFile)) return;
  const pid = Number(readFileSync(pidFile, 'utf8').split('\n')[0]);
  if (!isPostgres(pid)) {
    // The number belongs to somebody else by now (a restarted container, say); PostgreSQL would refuse to start over it.
    rmSync(pidFile, { force: true });
    return;
  }
  process.kill(pid, 'SIGINT');
  const deadline = Date.now() + START_TIMEOUT_MS;
  while (isPostgres(pid)) {
    if (Date.now() > deadline) throw new OperatorError(`A PostgreSQL server of an earlier run (process ${pid}) does not stop; end it and start again.`);
    await delay(POLL_MS);
  }
}

function isPostgres(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  if (process.platform !== 'linux') return true;
  try {
    return readFileSync(`/proc/${pid}/comm`, 'utf8').trim() === 'postgres';
  } catch {
    return false;
  }
}

function failure(server: Server, what: string): OperatorError {
  const tail = existsSync(server.logFile) ? readFileSync(server.logFile, 'utf8').trim().split('\n').slice(-3).join(' | ') : '';
  return new OperatorError(`${what}; the end of ${server.logFile} says: ${tail}`);
}
