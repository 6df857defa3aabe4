import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  closeSync,
  existsSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { totalmem, userInfo } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { messageOf, OperatorError } from '../shared/errors.ts';
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
const AFTER_CRASH_MS = 15_000;
const POLL_MS = 15;

export async function startEmbedded(dataDir: string, log: (line: string) => void): Promise<EmbeddedPostgres> {
  const user = ownName();
  const server: Server = { ...locatePostgres(dataDir), logFile: join(dataDir, 'postgres.log') };
  removeUnfinished(server);
  if (!existsSync(join(server.cluster, 'PG_VERSION'))) await createCluster(server);
  letOnlyUsIn(server, user);
  const crashed = await stopLeftover(server);

  let stopping = false;
  let child = await launchUntil(server, crashed ? Date.now() + AFTER_CRASH_MS : 0);
  try {
    await ensureDatabase(server);
  } catch (error) {
    child.kill('SIGINT');
    throw error;
  }

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

/** PostgreSQL lets users in by name. */
function ownName(): string {
  try {
    return userInfo().username;
  } catch (error) {
    throw new OperatorError(
      `The user id ${process.getuid?.()} has no name on this machine, and the embedded PostgreSQL needs one: add it to /etc/passwd, start as another user, or set DATABASE_URL.`,
      { cause: error },
    );
  }
}

/** Made beside its place and moved there when whole, so that a crash leaves no half cluster. */
async function createCluster(server: Server): Promise<void> {
  if (existsSync(server.cluster) && !(statSync(server.cluster).isDirectory() && readdirSync(server.cluster).length === 0))
    throw new OperatorError(`${server.cluster} is in the way: it is no PostgreSQL database. Move it, or set RRS_DATA_DIR to another folder.`);
  // A name of its own each time: see removeUnfinished.
  const unfinished = mkdtempSync(`${server.cluster}.new-`);
  makeOwnedDir(unfinished, server.runner);
  const args = ['-D', unfinished, '-U', SUPERUSER, '-A', 'peer', '-E', 'UTF8', '--locale-provider=builtin', '--builtin-locale=C.UTF-8', '--locale=C'];
  const initdb = run(server, 'initdb', args);
  await ended(initdb);
  if (initdb.exitCode !== 0) throw failure(server, 'PostgreSQL could not create its database cluster');
  renameSync(unfinished, server.cluster);
}

function removeUnfinished(server: Server): void {
  const home = dirname(server.cluster);
  for (const name of readdirSync(home)) {
    if (!name.startsWith(`${basename(server.cluster)}.new-`)) continue;
    try {
      rmSync(join(home, name), { recursive: true, force: true });
    } catch {
      // The initdb of a service that was killed still writes there; the next start removes it.
    }
  }
}

/** Peer authentication: the kernel tells PostgreSQL who connects, and only the user of this process is mapped to a database user. */
function letOnlyUsIn(server: Server, user: string): void {
  writeFileSync(join(server.cluster, 'pg_hba.conf'), 'local all all peer map=rrs\n');
  writeFileSync(join(server.cluster, 'pg_ident.conf'), `rrs "${user}" ${SUPERUSER}\n`);
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
    // However we end, short of SIGKILL, it ends with us.
    const abandon = (): void => void child.kill('SIGINT');
    process.once('exit', abandon);
    child.once('exit', () => process.off('exit', abandon));
    return child;
  } finally {
    closeSync(logFd);
  }
}

/** Connections of a server that was killed outlive it for a moment, and a new one does not start beside them. */
async function launchUntil(server: Server, deadline: number): Promise<ChildProcess> {
  for (;;) {
    try {
      return await launch(server);
    } catch (error) {
      if (Date.now() > deadline) throw error;
      await delay(100);
    }
  }
}

/** Taken as it is used: a small database takes little of it. */
const MOST_BUFFERS = 2 ** 30;

async function launch(server: Server): Promise<ChildProcess> {
  const settings = {
    listen_addresses: '',
    unix_socket_directories: server.socketDir,
    unix_socket_permissions: '0700',
    max_connections: '100',
    timezone: 'UTC',
    log_timezone: 'UTC',
    jit: 'off',
    shared_buffers: `${Math.floor(Math.min(totalmem() / 4, MOST_BUFFERS) / 2 ** 20)}MB`,
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
  } catch {
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

/** A server whose service was killed goes on running: it is stopped in order, so that a new one starts from a clean cluster. Says whether one had crashed. */
async function stopLeftover(server: Server): Promise<boolean> {
  const pidFile = join(server.cluster, 'postmaster.pid');
  if (!existsSync(pidFile)) return false;
  const lines = readFileSync(pidFile, 'utf8').split('\n');
  const pid = Number(lines[0]);
  if (!Number.isInteger(pid) || pid <= 0) {
    rmSync(pidFile, { force: true });
    return true;
  }
  if (!runsOn(server.cluster, pid)) {
    // The number may belong to somebody else by now (a restarted container, say), and PostgreSQL would refuse to start over it. Our own it
    // takes for stale, and still sees by the rest of the file whether connections of the dead server are left; without the file it would not.
    writeFileSync(pidFile, [process.pid, ...lines.slice(1)].join('\n'));
    return true;
  }
  process.kill(pid, 'SIGINT');
  const deadline = Date.now() + START_TIMEOUT_MS;
  while (runsOn(server.cluster, pid)) {
    if (Date.now() > deadline) throw new OperatorError(`A PostgreSQL server of an earlier run (process ${pid}) does not stop; end it and start again.`);
    await delay(POLL_MS);
  }
  return false;
}

function runsOn(cluster: string, pid: number): boolean {
  if (process.platform !== 'linux') return spawnSync('ps', ['-o', 'command=', '-p', String(pid)], { encoding: 'utf8' }).stdout.includes(cluster);
  try {
    return readlinkSync(`/proc/${pid}/cwd`) === realpathSync(cluster);
  } catch {
    return false;
  }
}

function failure(server: Server, what: string): OperatorError {
  const tail = existsSync(server.logFile) ? readFileSync(server.logFile, 'utf8').trim().split('\n').slice(-3).join(' | ') : '';
  return new OperatorError(`${what}; the end of ${server.logFile} says: ${tail}`);
}
