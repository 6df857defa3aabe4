import { execFileSync } from 'node:child_process';
import { chmodSync, lstatSync, mkdtempSync, readFileSync, realpathSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { inject } from 'vitest';

const created: string[] = [];

/** Other users may enter it by default, because PostgreSQL runs as another user when the tests run as root. Tests of private folders pass 0o700. */
export function temporaryFolder({ mode = 0o711 } = {}): string {
  const folder = mkdtempSync(join(tmpdir(), 'rrs-acceptance-'));
  chmodSync(folder, mode);
  created.push(folder);
  return folder;
}

export async function removeFolders(): Promise<void> {
  await Promise.all(
    created.splice(0).map(async (folder) => {
      for (const outside of linkTargets(join(folder, 'data'))) await rm(outside, { recursive: true, force: true, maxRetries: 10 });
      await rm(folder, { recursive: true, force: true, maxRetries: 10 });
    }),
  );
}

/** A copy of the data folder of a service that was started once, or an empty one if parts of it are outside. */
export function usedDataDir(): string {
  const dataDir = join(temporaryFolder(), 'data');
  const used = inject('usedDataDir');
  if (linkTargets(used).length === 0) execFileSync('cp', ['-a', used, dataDir]);
  return dataDir;
}

function linkTargets(dataDir: string): string[] {
  const cluster = outside(join(dataDir, 'postgres'));
  const sockets = outside(join(dataDir, 'run'));
  return [...(cluster ? [dirname(cluster)] : []), ...(sockets ? [sockets] : [])];
}

function outside(path: string): string | null {
  try {
    return lstatSync(path).isSymbolicLink() ? realpathSync(path) : null;
  } catch {
    return null;
  }
}

export function postgresPid(dataDir: string): number | null {
  return pidIn(join(dataDir, 'postgres/postmaster.pid'));
}

export function servicePid(dataDir: string): number | null {
  return pidIn(join(dataDir, 'service.pid'));
}

function pidIn(path: string): number | null {
  try {
    return Number.parseInt(readFileSync(path, 'utf8'), 10) || null;
  } catch {
    return null;
  }
}

export function keyFile(dataDir: string): string {
  return join(dataDir, 'first-owner-key');
}

export function keyIn(dataDir: string): string {
  return readFileSync(keyFile(dataDir), 'utf8').trim();
}

/** False for a zombie: a process that ended but was not reaped by its parent. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return process.platform !== 'linux' || !/^\d+ \(.*\) Z/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}
