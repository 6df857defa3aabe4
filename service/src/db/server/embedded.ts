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
import { errorCodeOf, messageOf, OperatorError } from '../../shared/errors.ts';
import { withClient } from '../connection/with-client.ts';
import { locatePostgres, makeOwnedDir, type PostgresHome } from './postgres-home.ts';
import { stopServer } from './stop-server.ts';
import { watchRecovery } from './watch-recovery.ts';

/**
 * A PostgreSQL server that the service starts itself: its cluster is in the data folder, it listens on a Unix socket only, and only the operating
 * system user of this process can connect.
 */
export interface EmbeddedPostgres {
  /** For the service: the owner of the database, not a superuser. */
  url: string;
  /** For tests and for debugging. */
  superuserUrl: string;
  stop(): Promise<void>;
}

interface Server extends PostgresHome {
  logFile: string;
  isTuned: boolean;
}

const SUPERUSER = 'rrs_admin';
const LOGIN = 'rrs_login';
const DATABASE = 'rrs';
const START_TIMEOUT_MS = 60_000;
const AFTER_CRASH_MS = 15_000;
const POLL_MS = 15;
const ANSWER_MS = 5_000;

/** For tests: the programs of another version, and a server that is configured as its packages are. */
interface OtherServer {
  programs: string;
  isTuned: false;
}

export async function startEmbedded(dataDir: string, log: (line: string) => void, other?: OtherServer): Promise<EmbeddedPostgres> {
  const user = ownName();
  const server: Server = { ...locatePostgres(dataDir, other?.programs), isTuned: other?.isTuned ?? true, logFile: join(dataDir, 'postgres.log') };
  removeUnfinished(server);
  if (!existsSync(join(server.cluster, 'PG_VERSION'))) await createCluster(server);
  allowOnlyOwnUser(server, user);
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
        log('PostgreSQL ended unexpectedly. Restarting it.');
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
  const isStarted = (): boolean => child.exitCode === null && child.signalCode === null;
  void watchRecovery({
    pid: () => (isStarted() ? child.pid : undefined),
    isRefusing: async () => (await answerOf(server)) === CANNOT_CONNECT_NOW,
    isStopping: () => stopping,
    log,
  });

  return {
    url: urlOf(server, DATABASE, LOGIN),
    superuserUrl: urlOf(server, DATABASE),
    stop: () => {
      stopping = true;
      child.kill('SIGINT');
      return supervised;
    },
  };
}

function urlOf(server: Server, database: string, user = SUPERUSER): string {
  return `postgresql://${user}@/${database}?host=${encodeURIComponent(server.socketDir)}`;
}

function ended(child: ChildProcess): Promise<unknown> {
  return child.exitCode !== null || child.signalCode !== null ? Promise.resolve() : once(child, 'exit');
}

/** Peer authentication maps the name of the operating system user. */
function ownName(): string {
  try {
    return userInfo().username;
  } catch (error) {
    throw new OperatorError(
      `The user id ${process.getuid?.()} has no name on this machine, but the embedded PostgreSQL requires one. Add the user to /etc/passwd, start as another user, or set DATABASE_URL.`,
      { cause: error },
    );
  }
}

const BUILTIN_LOCALE = ['--locale-provider=builtin', '--builtin-locale=C.UTF-8'];

/** Creates the cluster in a temporary folder and then renames it, so that a crash leaves no incomplete cluster. */
async function createCluster(server: Server): Promise<void> {
  if (existsSync(server.cluster) && !(statSync(server.cluster).isDirectory() && readdirSync(server.cluster).length === 0))
    throw new OperatorError(`${server.cluster} exists but is not a PostgreSQL database. Move it, or set RRS_DATA_DIR to another folder.`);
  // A new name each time: see removeUnfinished.
  const unfinished = mkdtempSync(`${server.cluster}.new-`);
  makeOwnedDir(unfinished, server.runner);
  const args = ['-D', unfinished, '-U', SUPERUSER, '-A', 'peer', '-E', 'UTF8', ...(server.version >= 17 ? BUILTIN_LOCALE : []), '--locale=C'];
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
      // The initdb of a service that was killed is still writing there. The next start removes the folder.
    }
  }
}

/** Peer authentication: the kernel tells PostgreSQL which user connects, and only the user of this process is mapped to database users. */
function allowOnlyOwnUser(server: Server, user: string): void {
  writeFileSync(join(server.cluster, 'pg_hba.conf'), 'local all all peer map=rrs\n');
  writeFileSync(join(server.cluster, 'pg_ident.conf'), `rrs "${user}" ${SUPERUSER}\nrrs "${user}" ${LOGIN}\n`);
}

function run(server: Server, program: string, args: string[]): ChildProcess {
  const tooLong = existsSync(server.logFile) && statSync(server.logFile).size > 10_000_000;
  const logFd = openSync(server.logFile, tooLong ? 'w' : 'a', 0o600);
  try {
    // Detached, so that Ctrl-C reaches only this process, which stops the server after the last request.
    const child = spawn(join(server.bin, program), args, {
      cwd: '/',
      detached: true,
      stdio: ['ignore', logFd, logFd],
      env: { PATH: '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' },
      ...server.runner,
    });
    child.on('error', () => {});
    // The server ends with this process, except after SIGKILL.
    const abandon = (): void => void child.kill('SIGINT');
    process.once('exit', abandon);
    child.once('exit', () => process.off('exit', abandon));
    return child;
  } finally {
    closeSync(logFd);
  }
}

/** Backends of a killed server live on for a moment, and a new server does not start while they do. */
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

/** Shared buffers are allocated as they are used, so a small database needs only a few of them. */
const MAX_BUFFERS = 2 ** 30;

function tuned({ version }: Server): Record<string, string> {
  return {
    jit: 'off',
    shared_buffers: `${Math.floor(Math.min(totalmem() / 4, MAX_BUFFERS) / 2 ** 20)}MB`,
    // After one of the processes that read for others was killed, PostgreSQL 18.4 neither recovered nor stopped. Without them, every connection reads itself.
    ...(version >= 18 && { io_method: 'sync' }),
    // After a crash, PostgreSQL first writes everything to the disk. By default it opens each of its thousands of files for that.
    ...(process.platform === 'linux' && { recovery_init_sync_method: 'syncfs' }),
  };
}

async function launch(server: Server): Promise<ChildProcess> {
  const settings = {
    listen_addresses: '',
    unix_socket_directories: server.socketDir,
    unix_socket_permissions: '0700',
    max_connections: '100',
    timezone: 'UTC',
    log_timezone: 'UTC',
    ...(server.isTuned && tuned(server)),
  };
  const child = run(server, 'postgres', ['-D', server.cluster, ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])]);
  const deadline = Date.now() + START_TIMEOUT_MS;
  while ((await answerOf(server)) !== true) {
    if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) throw failure(server, 'PostgreSQL did not start');
    if (Date.now() > deadline) {
      child.kill('SIGINT');
      throw failure(server, 'PostgreSQL did not answer within a minute');
    }
    await delay(POLL_MS);
  }
  return child;
}

const CANNOT_CONNECT_NOW = '57P03';

/** Whether the server answers, or why it does not. */
async function answerOf(server: Server): Promise<true | string> {
  try {
    return await withClient({ connectionString: urlOf(server, 'postgres'), connectionTimeoutMillis: ANSWER_MS }, async () => true as const);
  } catch (error) {
    return errorCodeOf(error) ?? messageOf(error);
  }
}

async function ensureDatabase(server: Server): Promise<void> {
  await withClient(urlOf(server, 'postgres'), async (client) => {
    const login = await client.query('select from pg_roles where rolname = $1', [LOGIN]);
    if (login.rowCount === 0) await client.query(`create role ${LOGIN} login createrole`);
    const database = await client.query('select from pg_database where datname = $1', [DATABASE]);
    if (database.rowCount === 0) await client.query(`create database ${DATABASE} owner ${LOGIN}`);
  });
}

/** Stops a server that outlived its service, so that the new one starts from a clean cluster. Returns whether a server had crashed. */
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
    // The process id may belong to another program by now, for example in a restarted container, and PostgreSQL would refuse to start. It treats
    // our own id as stale, and the rest of the file still tells it whether backends of the dead server are left.
    writeFileSync(pidFile, [process.pid, ...lines.slice(1)].join('\n'));
    return true;
  }
  if (!(await stopServer(pid, () => runsOn(server.cluster, pid))))
    throw new OperatorError(`A PostgreSQL server of an earlier run (process ${pid}) does not stop. End the process and start again.`);
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
  return new OperatorError(`${what}. Last lines of ${server.logFile}: ${tail}`);
}
