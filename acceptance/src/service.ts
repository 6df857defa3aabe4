import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { delimiter, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, vi } from 'vitest';
import { postgresPid, removeFolders, temporaryFolder } from './folders.ts';

export const checkout = fileURLToPath(new URL('../..', import.meta.url));
export const program = join(checkout, 'service/bin/rrs.mjs');

export interface Options {
  dataDir?: string;
  env?: Record<string, string>;
  uid?: number;
  gid?: number;
  cwd?: string;
  /** Another way to call the program, npm say; the arguments follow. */
  command?: readonly [string, ...string[]];
  /** Leads a process group of its own, as under a terminal. */
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
  /** As printed by a first start. */
  key: string | null;
  stop(name?: NodeJS.Signals): Promise<number | string>;
}

const running = new Map<ChildProcess, (signal: NodeJS.Signals) => void>();
const groups = new Set<number>();
const dataDirs = new Set<string>();

// Processes start slowly on a machine that is busy with other tests.
vi.setConfig({ testTimeout: 180_000, hookTimeout: 180_000 });
afterAll(cleanUp);
process.once('exit', killAll);

async function cleanUp(): Promise<void> {
  const gone = [...running.keys()].map((child) => once(child, 'exit'));
  killAll();
  await Promise.all(gone);
  await removeFolders();
}

function killAll(): void {
  for (const signal of running.values()) signal('SIGKILL');
  for (const leader of groups) kill(-leader);
  for (const dataDir of dataDirs) kill(postgresPid(dataDir));
}

/** Whether it was there or not. */
export function kill(pid: number | null, signal: NodeJS.Signals = 'SIGKILL'): void {
  try {
    if (pid !== null) process.kill(pid, signal);
  } catch {}
}

/** Nothing of the test runner's: neither its settings nor the Node that it put first. */
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

export interface Answer {
  code: number | string;
  stdout: string;
  stderr: string;
}

/** A command that ends by itself. */
export async function rrs(args: readonly string[], options: Options = {}): Promise<Answer> {
  const command = run(args, options);
  const code = await command.exit;
  return { code, stdout: command.stdout(), stderr: command.stderr() };
}

export async function start(options: Options & { args?: readonly string[] } = {}): Promise<Service> {
  return ready(run(options.args ?? ['start'], options));
}

export async function ready(started: Run): Promise<Service> {
  const printed = (): string | undefined => {
    if (started.exited()) throw new Error(`The program ended: ${started.stdout()}${started.stderr()}`);
    return /^ {2}Address +(http\S+)$/m.exec(started.stdout())?.[1];
  };
  const url = await until('the address is printed', printed, 120);
  await until('it answers', async () => (await fetch(`${url}/healthz`).catch(() => null))?.ok);
  return {
    ...started,
    url,
    key: /^ {2}First owner key +(rrs_\S+)$/m.exec(started.stdout())?.[1] ?? null,
    stop: (name = 'SIGTERM') => {
      started.signal(name);
      return started.exit;
    },
  };
}

/** Asks again until the answer is something; what is thrown is an answer too. */
export async function until<T>(what: string, ask: () => T | Promise<T>, seconds = 60): Promise<NonNullable<T>> {
  for (const deadline = Date.now() + seconds * 1000; Date.now() < deadline; await delay(10)) {
    const answer = await ask();
    if (answer !== undefined && answer !== null && answer !== false) return answer;
  }
  throw new Error(`Not within ${seconds} s: ${what}`);
}
