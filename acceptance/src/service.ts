import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { delimiter, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, vi } from 'vitest';
import { keyIn, postgresPid, removeFolders, temporaryFolder, usedDataDir } from './folders.ts';

export const checkout = fileURLToPath(new URL('../..', import.meta.url));
export const program = join(checkout, 'service/bin/rrs-server.mjs');

export interface Options {
  dataDir?: string;
  env?: Record<string, string>;
  uid?: number;
  gid?: number;
  cwd?: string;
  /** Starts the program in another way, such as npm. The arguments are appended. */
  command?: readonly [string, ...string[]];
  /** Starts a new process group, like a terminal does. */
  detached?: boolean;
  input?: string;
}

export interface Run {
  pid: number;
  dataDir: string;
  stdout(): string;
  stderr(): string;
  exit: Promise<number | string>;
  exited(): boolean;
  signal(name: NodeJS.Signals): void;
}

export interface Service extends Run {
  url: string;
  /** Printed by a first start only. */
  key: string | null;
  stop(name?: NodeJS.Signals): Promise<number | string>;
}

const running = new Map<ChildProcess, (signal: NodeJS.Signals) => void>();
const groups = new Set<number>();
const dataDirs = new Set<string>();

// Processes start slowly while other tests keep the machine busy.
vi.setConfig({ testTimeout: 180_000, hookTimeout: 180_000 });
afterAll(cleanUp);
process.once('exit', killAll);

async function cleanUp(): Promise<void> {
  const exits = [...running.keys()].map((child) => once(child, 'exit'));
  killAll();
  await Promise.all(exits);
  await removeFolders();
}

function killAll(): void {
  for (const signal of running.values()) signal('SIGKILL');
  for (const leader of groups) kill(-leader);
  for (const dataDir of dataDirs) kill(postgresPid(dataDir));
}

/** Does nothing if the process no longer exists. */
export function kill(pid: number | null, signal: NodeJS.Signals = 'SIGKILL'): void {
  try {
    if (pid !== null) process.kill(pid, signal);
  } catch {}
}

/** Without the settings of the test runner, and without the Node that npm put first in PATH. */
function cleanEnvironment(dataDir: string, env: Record<string, string> = {}): Record<string, string> {
  const path = (process.env.PATH ?? '').split(delimiter).filter((folder) => !folder.includes('node_modules'));
  return { PATH: path.join(delimiter), HOME: process.env.HOME ?? '/', PORT: '0', RRS_RATE_LIMIT: '0', RRS_DATA_DIR: dataDir, ...env };
}

export function newDataDir(): string {
  return join(temporaryFolder(), 'data');
}

export function run(args: readonly string[], options: Options = {}): Run {
  const { dataDir = newDataDir(), command = [process.execPath, program], env, input, detached = false, cwd = temporaryFolder(), uid, gid } = options;
  const [file, ...before] = command;
  const child = spawn(file, [...before, ...args], {
    cwd,
    detached,
    env: cleanEnvironment(dataDir, env),
    ...(uid === undefined ? {} : { uid }),
    ...(gid === undefined ? {} : { gid }),
  });
  const signal = (name: NodeJS.Signals): void => (detached && child.pid !== undefined ? kill(-child.pid, name) : void child.kill(name));
  running.set(child, signal);
  if (detached && child.pid !== undefined) groups.add(child.pid);
  dataDirs.add(dataDir);
  const out = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (text: string) => {
      out[name] += text;
    });
  }
  const exit = new Promise<number | string>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => resolve(code ?? signal ?? 'unknown'));
  });
  child.once('exit', () => running.delete(child));
  child.stdin.on('error', () => {}).end(input ?? '');
  return {
    pid: child.pid ?? 0,
    dataDir,
    stdout: () => out.stdout,
    stderr: () => out.stderr,
    exit,
    exited: () => child.exitCode !== null || child.signalCode !== null,
    signal,
  };
}

export interface CommandResult {
  code: number | string;
  stdout: string;
  stderr: string;
}

/** Runs a command to its end. */
export async function rrs(args: readonly string[], options: Options = {}): Promise<CommandResult> {
  const command = run(args, options);
  const code = await command.exit;
  return { code, stdout: command.stdout(), stderr: command.stderr() };
}

export async function start(options: Options & { args?: readonly string[] } = {}): Promise<Service> {
  return ready(run(options.args ?? ['start'], options));
}

/** A service that was started before, as most are. */
export async function startUsed(options: Omit<Options, 'dataDir'> = {}): Promise<Service & { key: string }> {
  const dataDir = usedDataDir();
  return { ...(await start({ ...options, dataDir })), key: keyIn(dataDir) };
}

export async function ready(started: Run): Promise<Service> {
  const printed = (): string | undefined => {
    if (started.exited()) throw new Error(`the program ended: ${started.stdout()}${started.stderr()}`);
    return printedUrl(started.stdout());
  };
  const url = await until('the URL is printed', printed, 120);
  await until('the service responds', async () => (await fetch(`${url}/healthz`).catch(() => null))?.ok);
  return {
    ...started,
    url,
    key: /(?<= )(rrs_\S+)$/m.exec(started.stdout())?.[1] ?? null,
    stop: (name = 'SIGTERM') => {
      started.signal(name);
      return started.exit;
    },
  };
}

/** The URL in the output of `rrs-server start` and `rrs-server api`. */
export function printedUrl(stdout: string): string | undefined {
  return /\bhttps?:\/\/[\w.:[\]-]+(?=\s)/.exec(stdout)?.[0];
}

const [SHORTEST_PAUSE_MS, LONGEST_PAUSE_MS] = [10, 50];

/** Polls until the result is neither false, null nor undefined. Errors are passed on. Asking often would take the processor from what is waited for. */
export async function until<T>(what: string, poll: () => T | Promise<T>, seconds = 60): Promise<NonNullable<T>> {
  const deadline = Date.now() + seconds * 1000;
  for (let pause = SHORTEST_PAUSE_MS; Date.now() < deadline; pause = Math.min(LONGEST_PAUSE_MS, pause * 1.5)) {
    const result = await poll();
    if (result !== undefined && result !== null && result !== false) return result;
    await delay(pause);
  }
  throw new Error(`timed out after ${seconds} s waiting until ${what}`);
}
