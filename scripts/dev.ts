import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** `npm run dev`: the service on a persistent development database. It restarts when a source file changes. */
const root = fileURLToPath(new URL('..', import.meta.url));

/** Environment variables take precedence. */
const environment = {
  RRS_DATA_DIR: join(root, '.dev-data'),
  RRS_RATE_LIMIT: '0',
  // The bundle would not notice changes.
  RRS_BUNDLE: 'off',
  // Webhooks and connections may call servers on this machine.
  RRS_OUTBOUND_ALLOW: '127.0.0.1,::1',
  ...process.env,
};

process.stdout.write(`
Development mode
  Data folder        ${environment.RRS_DATA_DIR}  (delete it to start with an empty database)
  First owner key    ${join(environment.RRS_DATA_DIR, 'first-owner-key')}

`);

// The console is built again when one of its sources changes. Without its packages, the service runs without it.
const bundler = spawn(process.execPath, [join(root, 'console/scripts/build.ts'), '--watch'], { cwd: root, stdio: ['ignore', 'inherit', 'inherit'] });
const watcher = spawn(
  process.execPath,
  ['--watch', '--watch-preserve-output', '--enable-source-maps', '--max-semi-space-size=8', join(root, 'service/bin/rrs-server.mjs'), 'start'],
  { cwd: root, env: environment, stdio: 'inherit' },
);
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => watcher.kill(signal));
watcher.on('exit', (code) => {
  bundler.kill();
  process.exitCode = code ?? 1;
});
