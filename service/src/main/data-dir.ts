import { accessSync, constants, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { messageOf, OperatorError } from '../shared/errors.ts';

export function prepareDataDir(path: string): void {
  try {
    // If we run as root, the embedded PostgreSQL runs as another user, who must be able to traverse the folder.
    mkdirSync(path, { recursive: true, mode: process.getuid?.() === 0 ? 0o711 : 0o700 });
    accessSync(path, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    throw new OperatorError(`Cannot write to the data folder ${path} (${messageOf(error)}). Set RRS_DATA_DIR to a writable folder.`, {
      cause: error,
    });
  }
}

export interface DataDirLock {
  release(): void;
}

const HOLDER_FILE = 'service.pid';

type Kind = 'service' | 'command';

const SQLITE_BUSY = 5;

/**
 * One service per data folder. SQLite takes a file lock, which the kernel releases however the process ends. A lock file
 * with a process ID cannot guarantee that. Returns `null` if another process holds the lock.
 */
export function lockDataDir(path: string, kind: Kind): DataDirLock | null {
  const file = join(path, 'service.lock');
  const lock = new DatabaseSync(file, { timeout: 0 });
  try {
    lock.exec('begin exclusive');
  } catch (error) {
    lock.close();
    if (error instanceof Error && 'errcode' in error && error.errcode === SQLITE_BUSY) return null;
    throw new OperatorError(`Cannot write ${file} (${messageOf(error)}). Run the service as the owner of the data folder.`, { cause: error });
  }
  replaceFile(join(path, HOLDER_FILE), `${process.pid} ${kind}\n`);
  return { release: () => lock.close() };
}

/** Other processes read these files at any time, so they are never seen half written. */
export function replaceFile(path: string, content: string): void {
  const unfinished = `${path}.new`;
  writeFileSync(unfinished, content);
  renameSync(unfinished, path);
}

export function lockHolder(path: string): { pid: string; kind: string } {
  try {
    const [pid = '', kind = ''] = readFileSync(join(path, HOLDER_FILE), 'utf8').trim().split(' ');
    return { pid, kind };
  } catch {
    return { pid: 'unknown', kind: 'unknown' };
  }
}
