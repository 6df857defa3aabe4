import { readFileSync, statfsSync } from 'node:fs';
import { freemem } from 'node:os';

const FOLDER = '/dev/shm';
/** Several times what the tests need at most. */
const NEEDED = 8 * 2 ** 30;

/** Keeps temporary files of this process, and of those that it starts, in memory. The tests create and delete tens of thousands of files. */
export function keepTemporaryFilesInMemory(): void {
  const folder = process.env.TMPDIR ?? memoryFolder();
  if (folder !== null) process.env.TMPDIR = folder;
}

/** Null if this machine has no folder in memory with enough room. */
function memoryFolder(): string | null {
  try {
    const [, , , options = ''] =
      readFileSync('/proc/mounts', 'utf8')
        .split('\n')
        .find((line) => line.split(' ')[1] === FOLDER)
        ?.split(' ') ?? [];
    const { bavail, bsize } = statfsSync(FOLDER);
    const isUsable = options.split(',').includes('rw') && !options.split(',').includes('noexec');
    return isUsable && bavail * bsize >= NEEDED && freemem() >= NEEDED ? FOLDER : null;
  } catch {
    return null;
  }
}
