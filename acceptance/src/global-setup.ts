import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { TestProject } from 'vitest/node';

declare module 'vitest' {
  interface ProvidedContext {
    /** The data folder of a service that was started once and stopped. */
    usedDataDir: string;
  }
}

/** Most tests are about a running service, not about its first start, which takes several times as long as the next ones. */
export async function setup(project: TestProject): Promise<() => void> {
  // Otherwise each service that a test starts would find it stale and build it.
  await once(spawn(process.execPath, [bundler, '--if-stale'], { stdio: 'inherit' }), 'exit');
  const folder = mkdtempSync(join(tmpdir(), 'rrs-used-'));
  // If the tests run as root, PostgreSQL runs as another user.
  chmodSync(folder, 0o711);
  const dataDir = join(folder, 'data');
  await firstStart(dataDir);
  project.provide('usedDataDir', dataDir);
  return () => rmSync(folder, { recursive: true, force: true });
}

const bundler = fileURLToPath(new URL('../../console/scripts/build.ts', import.meta.url));
const program = fileURLToPath(new URL('../../service/bin/rrs-server.mjs', import.meta.url));

/** Starts the service on an empty folder and stops it when it is ready. */
async function firstStart(dataDir: string): Promise<void> {
  const env = { PATH: process.env.PATH ?? '', HOME: process.env.HOME ?? '/', PORT: '0', RRS_DATA_DIR: dataDir };
  const service = spawn(process.execPath, [program, 'start'], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  let printed = '';
  for (const stream of [service.stdout, service.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      printed += text;
      if (printed.includes('Press Ctrl-C')) service.kill('SIGTERM');
    });
  }
  const [code] = await once(service, 'exit');
  if (code !== 0) throw new Error(`the first start failed: ${printed}`);
}
