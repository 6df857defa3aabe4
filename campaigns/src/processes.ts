import { execFileSync, spawn } from 'node:child_process';
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { bundleIfStale } from '../../service/scripts/bundle.ts';
import { compileCache } from './compile-cache.ts';

const program = fileURLToPath(new URL('../../service/bin/rrs-server.mjs', import.meta.url));

export interface Service {
  url: string;
  pid: number;
  /** Settled when the process has ended, with its exit code or signal. */
  exit: Promise<number | string>;
  ended(): boolean;
  /** The last lines of its log. */
  log(): string;
  stop(): Promise<void>;
}

/** A folder that other users may enter, because PostgreSQL runs as another user when the campaign runs as root. With a copy of `used`, if given. */
export function temporaryDataDir(used?: string): { dataDir: string; remove(): void } {
  const path = mkdtempSync(join(tmpdir(), 'rrs-campaign-'));
  chmodSync(path, 0o711);
  const dataDir = join(path, 'data');
  if (used !== undefined) execFileSync('cp', ['-a', used, dataDir]);
  return { dataDir, remove: () => rmSync(path, { recursive: true, force: true, maxRetries: 10 }) };
}

const running = new Map<number, string>();
process.once('exit', () => {
  for (const [pid, dataDir] of running) for (const each of [pid, postgresPid(dataDir)]) kill(each);
});
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));

const LOG_CHARACTERS = 200_000;
let bundling: Promise<void> | undefined;

/** Starts the service. The callback gets its process id before it is ready, for kills during the start. */
export async function startService(dataDir: string, settings: Record<string, string>, onSpawn: (pid: number) => void = () => {}): Promise<Service> {
  // A start from the bundle takes a third of the time.
  bundling ??= bundleIfStale();
  await bundling;
  const path = (process.env.PATH ?? '').split(delimiter).filter((folder) => !folder.includes('node_modules'));
  const env = { PATH: path.join(delimiter), HOME: process.env.HOME ?? '/', HOST: '127.0.0.1', PORT: '0', RRS_RATE_LIMIT: '0', RRS_CONSOLE: 'off' };
  const child = spawn(process.execPath, ['--max-semi-space-size=8', program, 'start'], {
    env: { ...env, NODE_COMPILE_CACHE: compileCache, RRS_DATA_DIR: dataDir, ...settings },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const pid = child.pid ?? 0;
  running.set(pid, dataDir);
  let printed = '';
  let log = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    printed += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    log = (log + text).slice(-LOG_CHARACTERS);
  });
  const exit = new Promise<number | string>((resolve) => {
    child.once('exit', (code, signal) => {
      running.delete(pid);
      resolve(code ?? signal ?? 'unknown');
    });
  });
  const ended = (): boolean => child.exitCode !== null || child.signalCode !== null;
  onSpawn(pid);
  const url = await until('the service listens', 120, () => {
    if (ended()) throw new ServiceEnded(`the service ended while it started: ${printed}${log}`);
    return /http:\/\/127\.0\.0\.1:\d+/.exec(printed)?.[0];
  });
  const stop = async (): Promise<void> => {
    child.kill('SIGTERM');
    await exit;
  };
  return { url, pid, exit, ended, log: () => log, stop };
}

export class ServiceEnded extends Error {
  override readonly name = 'ServiceEnded';
}

/** Does nothing if the process no longer exists. */
export function kill(pid: number | null): void {
  try {
    if (pid !== null && pid > 1) process.kill(pid, 'SIGKILL');
  } catch {}
}

export function postgresPid(dataDir: string): number | null {
  try {
    return Number.parseInt(readFileSync(join(dataDir, 'postgres/postmaster.pid'), 'utf8'), 10) || null;
  } catch {
    return null;
  }
}

/** The processes that PostgreSQL started, one for each connection and some for its own work. */
export function postgresChildren(dataDir: string): number[] {
  const postmaster = postgresPid(dataDir);
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && parentOf(name) === postmaster)
    .map(Number);
}

function parentOf(pid: string): number | null {
  try {
    return Number(/^\d+ \(.*\) \S (\d+)/.exec(readFileSync(`/proc/${pid}/stat`, 'utf8'))?.[1]);
  } catch {
    return null;
  }
}

/** Polls until the result is neither false, null nor undefined. */
export async function until<T>(what: string, seconds: number, poll: () => T | Promise<T>, everyMs = 20): Promise<NonNullable<T>> {
  for (const deadline = Date.now() + seconds * 1000; Date.now() < deadline; await delay(everyMs)) {
    const result = await poll();
    if (result !== undefined && result !== null && result !== false) return result;
  }
  throw new Error(`timed out after ${seconds} s waiting until ${what}`);
}
