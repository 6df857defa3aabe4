import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseOrigin } from '@rrs/evidence-format';
import { syncFolder, withFile } from '../../blobs/files.ts';
import { errorCodeOf, messageOf, OperatorError } from '../../shared/errors.ts';

/**
 * Threat: an older copy of the database would continue the log from an earlier state, and the log would sign two different trees of one size.
 * The marks next to the keys remember how far the log has come. Backups do not contain them, so that a restored database cannot bring its own.
 * Processes with separate copies of the key folder have separate marks: a mark that is behind the database is normal.
 */
export interface LogMark {
  origin: string;
  size: number;
  /** In hexadecimal. */
  root: string;
}

const FOLDER = 'log-marks';
/** Says that the folder has no marks because there was no log when it was created. Deleted with the first mark. */
const NO_LOG_YET = 'no-log-yet';
const LINE = /^(\S+) ([1-9]\d*) ([0-9a-f]{64})$/;
/** Several processes append to a file, so the highest mark is among the last lines but is not always the last one. */
const TAIL_BYTES = 64 * 1024;

/** Called after the leaf was committed and before a checkpoint of it is signed. */
export async function writeMark(keysDir: string, orgId: string, { origin, size, root }: { origin: string; size: number; root: Uint8Array }): Promise<void> {
  const folder = join(keysDir, FOLDER);
  try {
    const created = await mkdir(folder, { recursive: true, mode: 0o700 });
    await withFile(
      join(folder, orgId),
      'a',
      async (file) => {
        // Starts with a line feed, because a crash can leave an incomplete line.
        await file.appendFile(`\n${origin} ${size} ${Buffer.from(root).toString('hex')}\n`);
        await file.sync();
      },
      0o600,
    );
    await rm(join(folder, NO_LOG_YET), { force: true });
    await syncFolder(folder);
    if (created !== undefined) await syncFolder(keysDir);
  } catch (error) {
    throw new OperatorError(
      `The service cannot write to ${folder} (${messageOf(error)}), where it remembers the size of the transparency log. Make the folder writable.`,
      { cause: error },
    );
  }
}

/** Called at start while the database has no log, so that the logs of other processes are not taken for ones whose marks are lost. */
export async function expectNoMarks(keysDir: string): Promise<void> {
  const folder = join(keysDir, FOLDER);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  if ((await readdir(folder)).length === 0) await writeFile(join(folder, NO_LOG_YET), '', { mode: 0o600 });
}

/** Whether this copy of the key folder has no memory of any log. */
export async function marksAreLost(keysDir: string): Promise<boolean> {
  try {
    return (await readdir(join(keysDir, FOLDER))).length === 0;
  } catch (error) {
    if (errorCodeOf(error) === 'ENOENT') return true;
    throw error;
  }
}

/** The highest mark of each origin. */
export async function readMarks(keysDir: string, orgId: string): Promise<Map<string, LogMark>> {
  const marks = new Map<string, LogMark>();
  for (const line of (await readTail(join(keysDir, FOLDER, orgId))).split('\n')) {
    const [, origin, size, root] = LINE.exec(line) ?? [];
    if (origin === undefined || root === undefined) continue;
    const mark = { origin, size: Number(size), root };
    if (mark.size >= (marks.get(origin)?.size ?? 0)) marks.set(origin, mark);
  }
  return marks;
}

export function highestEpoch(marks: ReadonlyMap<string, LogMark>): number {
  return Math.max(0, ...[...marks.keys()].map((origin) => parseOrigin(origin).epoch));
}

async function readTail(path: string): Promise<string> {
  try {
    return await withFile(path, 'r', async (file) => {
      const { size } = await file.stat();
      const start = Math.max(0, size - TAIL_BYTES);
      const { buffer, bytesRead } = await file.read(Buffer.alloc(size - start), 0, size - start, start);
      const text = buffer.toString('utf8', 0, bytesRead);
      return start === 0 ? text : text.slice(text.indexOf('\n'));
    });
  } catch (error) {
    if (errorCodeOf(error) === 'ENOENT') return '';
    throw error;
  }
}
