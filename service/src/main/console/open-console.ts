import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { ConsoleOptions } from '../../http/console/console.ts';
import { messageOf } from '../../shared/errors.ts';
import type { Log } from '../log.ts';

const home = new URL('../../../../console/', import.meta.url);
const folder = fileURLToPath(new URL('dist/', home));
const program = fileURLToPath(new URL('scripts/build.ts', home));

const NOT_BUILT = 'The console is not built. Run `npm ci` or `node console/scripts/build.ts` in the folder of the service.';

/** The console next to the service. */
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
      state.isBuilding = !existsSync(new URL('dist/index.html', home));
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
