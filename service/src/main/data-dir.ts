import { accessSync, constants, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { messageOf, OperatorError } from '../shared/errors.ts';

export function prepareDataDir(path: string): void {
  try {
    // As root the embedded PostgreSQL runs as another user, who must be able to pass through.
    mkdirSync(path, { recursive: true, mode: process.getuid?.() === 0 ? 0o711 : 0o700 });
    accessSync(path, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    throw new OperatorError(`The data folder ${path} cannot be written (${messageOf(error)}). Set RRS_DATA_DIR to a folder that you may write.`, {
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
 * One service per data folder. The lock is a file lock that SQLite takes, because the kernel gives it back however
 * the process ends, which no lock file with a process number can promise. `null`: somebody else has it.
 */
export function lockDataDir(path: string, kind: Kind): DataDirLock | null {
  const file = join(path, 'service.lock');
  const lock = new DatabaseSync(file, { timeout: 0 });
  try {
    lock.exec('begin exclusive');
  } catch (error) {
    lock.close();
    if (error instanceof Error && 'errcode' in error && error.errcode === SQLITE_BUSY) return null;
    throw new OperatorError(`The file ${file} cannot be written (${messageOf(error)}). Start as the user to whom the data folder belongs.`, { cause: error });
  }
  writeFileSync(join(path, HOLDER_FILE), `${process.pid} ${kind}\n`);
  return { release: () => lock.close() };
}

export function lockHolder(path: string): { pid: string; kind: string } {
  try {
    const [pid = '', kind = ''] = readFileSync(join(path, HOLDER_FILE), 'utf8').trim().split(' ');
    return { pid, kind };
  } catch {
    return { pid: 'unknown', kind: 'unknown' };
  }
}
