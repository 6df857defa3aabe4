import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { ConsoleOptions } from '../../http/console/console.ts';
import { messageOf } from '../../shared/errors.ts';
import type { Log } from '../log.ts';

const home = dirname(createRequire(import.meta.url).resolve('@rrs/console/package.json'));
const folder = join(home, 'dist');
const program = join(home, 'scripts/build.ts');

const NOT_BUILT = 'The console is not built. Run `npm ci` or `node console/scripts/build.ts` in the folder of the service.';

/** The console of the package `@rrs/console`. */
export function openConsole() {
  const state = { isBuilding: false };
  const options: ConsoleOptions = { folder, missing: () => (state.isBuilding ? null : NOT_BUILT) };
  return {
    options,
    /**
     * Builds the console in a process of its own if its sources changed since the last build, for example after `git pull` without `npm ci`.
     * The service already runs, and does not wait for it.
     */
    buildIfStale(log: Log): { stop: () => Promise<void> } {
      if (!existsSync(program)) return { stop: async () => {} };
      state.isBuilding = !existsSync(join(folder, 'index.html'));
      const building = new AbortController();
      const done = build(log, building.signal).finally(() => {
        state.isBuilding = false;
      });
      return {
        stop: async () => {
          building.abort();
          await done;
        },
      };
    },
  };
}

async function build(log: Log, signal: AbortSignal): Promise<void> {
  try {
    const { isStale } = await import('@rrs/console/stamp');
    if (signal.aborted || !(await isStale()) || signal.aborted) return;
    log.info('building the console');
    const child = spawn(process.execPath, [program, '--if-stale'], { stdio: ['ignore', 'ignore', 'pipe'], signal });
    let errors = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      errors = (errors + text).slice(-2000);
    });
    const code = await new Promise<number | null>((resolve, reject) => {
      child.once('error', reject);
      child.once('close', resolve);
    });
    if (code === 0) log.info('built the console');
    else log.warn({ output: errors }, 'building the console failed');
  } catch (error) {
    if (!signal.aborted) log.warn({ error: messageOf(error) }, 'building the console failed');
  }
}
