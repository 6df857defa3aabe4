import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';

const EVERY_MS = 5_000;
/** Recovering takes as long as there is to recover, but never without computing, reading or writing for so long. */
const STALLED_MS = 20_000;

interface Watched {
  /** The process id of the server. Undefined while there is none. */
  pid(): number | undefined;
  /** Whether it refuses connections, because it starts or recovers. */
  isRefusing(): Promise<boolean>;
  isStopping(): boolean;
  log(line: string): void;
  /** Changes while the server recovers. Null if that cannot be known. */
  progress?: (server: number) => string | null;
}

/**
 * Ends a server that recovers from a crash and makes no progress, so that it is started again. If its checkpointer and then the process that recovers are
 * killed while it recovers, PostgreSQL 18.4 starts no other one, and refuses connections forever.
 */
export async function watchRecovery(
  { pid, isRefusing, isStopping, log, progress = progressOf }: Watched,
  { everyMs = EVERY_MS, stalledMs = STALLED_MS } = {},
): Promise<void> {
  let seen = '';
  let since = performance.now();
  for (; !isStopping(); await delay(everyMs, undefined, { ref: false })) {
    const server = pid();
    const now = server !== undefined && (await isRefusing()) ? progress(server) : null;
    if (now === null || now !== seen) {
      seen = now ?? '';
      since = performance.now();
    } else if (server !== undefined && performance.now() - since > stalledMs) {
      log('PostgreSQL does not recover from a crash. Ending it.');
      for (const one of [server, ...childrenOf(server)]) end(one);
      since = performance.now();
    }
  }
}

/**
 * How much the process that recovers has computed, read and written, and those that read for it. Null if one of them waits for a disk, or on a system without
 * `/proc`. On a slow disk it computes so little that the counter, which counts hundredths of a second, may not change for long.
 */
function progressOf(server: number): string | null {
  if (process.platform !== 'linux') return null;
  const children = childrenOf(server);
  const named = (name: string): number[] => children.filter((pid) => read(pid, 'cmdline').includes(name));
  const recovering = named('startup');
  if (recovering.length === 0) return `${server} has no process that recovers`;
  const all = [...recovering, ...named('io worker')].map((pid) => ({ pid, ...statOf(pid), transferred: read(pid, 'io').replaceAll(/\s+/g, ' ') }));
  if (all.some(({ state }) => state === 'D')) return null;
  return all.map(({ pid, computed, transferred }) => `${pid} has computed ${computed} and transferred ${transferred}`).join();
}

function childrenOf(server: number): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => statOf(pid).parent === server);
}

/** See proc_pid_stat(5). The name of the program, in parentheses, may contain spaces. */
function statOf(pid: number): { state: string; parent: number; computed: number } {
  const [state = '', parent = '', ...rest] = read(pid, 'stat')
    .replace(/^.*\) /s, '')
    .split(' ');
  return { state, parent: Number(parent), computed: Number(rest[9]) + Number(rest[10]) };
}

function read(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    // It has ended in the meantime.
    return '';
  }
}

function end(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended in the meantime.
  }
}
