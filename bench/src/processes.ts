import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export interface Server {
  url: string;
  pid: number;
  /** Time from spawn to the first response. */
  startMs: number;
  stop(): Promise<void>;
}

const programs = {
  // The same flags as `npm start`.
  service: ['--max-semi-space-size=8', fileURLToPath(new URL('../../service/bin/rrs-server.mjs', import.meta.url)), 'start'],
  bare: [fileURLToPath(new URL('./bare.ts', import.meta.url))],
  vendors: [fileURLToPath(new URL('./vendors.ts', import.meta.url))],
} as const;

export function temporaryFolder(): { path: string; remove(): void } {
  const path = mkdtempSync(join(tmpdir(), 'rrs-bench-'));
  // When running as root, the embedded PostgreSQL runs as another user, who must be able to enter the folder.
  chmodSync(path, 0o711);
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}

export async function start(program: keyof typeof programs, environment: Record<string, string>): Promise<Server> {
  const started = performance.now();
  const child = spawn(process.execPath, programs[program], {
    env: { ...process.env, HOST: '127.0.0.1', PORT: '0', ...environment },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const url = await printedUrl(child);
  await fetch(new URL('/healthz', url));
  return {
    url,
    pid: child.pid ?? 0,
    startMs: performance.now() - started,
    stop: async () => {
      child.kill('SIGTERM');
      if (child.exitCode === null) await once(child, 'exit');
    },
  };
}

async function printedUrl(child: ChildProcess): Promise<string> {
  let printed = '';
  for await (const chunk of child.stdout ?? []) {
    printed += String(chunk);
    const url = /http:\/\/127\.0\.0\.1:\d+/.exec(printed)?.[0];
    if (url) return url;
  }
  throw new Error(`the program ended before it listened: ${printed}`);
}

export function residentMiB(pid: number): number {
  return Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;
}

/** The highest memory so far of the process and of those that it started, whichever is largest. Processes that ended meanwhile do not count. */
export function peakOf(pid: number): number {
  try {
    const own = Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024;
    const children = readdirSync(`/proc/${pid}/task`).flatMap((task) => readFileSync(`/proc/${pid}/task/${task}/children`, 'utf8').match(/\d+/g) ?? []);
    return Math.max(own, ...children.map((child) => peakOf(Number(child))));
  } catch {
    return 0;
  }
}
