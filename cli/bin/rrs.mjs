#!/usr/bin/env node
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import module from 'node:module';
import { fileURLToPath } from 'node:url';

// This file must run on every Node version that npm supports: it finds the version that the program needs.
const REQUIRED_NODE = 24;

if (Number(process.versions.node.split('.')[0]) >= REQUIRED_NODE) {
  // Not in the shared temporary folder, which is Node's default: another user could plant code there.
  module.enableCompileCache?.(fileURLToPath(new URL('../../node_modules/.cache/rrs', import.meta.url)));
  process.removeAllListeners('warning').on('warning', (warning) => {
    if (warning.name !== 'ExperimentalWarning') process.stderr.write(`${warning.stack}\n`);
  });
  const { main } = await import('../src/main.ts');
  const { systemTerminal } = await import('../src/terminal.ts');
  process.exitCode = await main(process.argv.slice(2), { terminal: systemTerminal(), env: process.env, folder: process.cwd() });
} else {
  const pinned = pinnedNode();
  if (pinned === null) {
    process.stderr.write(
      `rrs: Node ${REQUIRED_NODE} or later is required, but this is Node ${process.versions.node}. Run "npm ci" with install scripts enabled, which installs Node ${REQUIRED_NODE}.\n`,
    );
    process.exit(2);
  }
  const child = spawn(pinned, [fileURLToPath(import.meta.url), ...process.argv.slice(2)], { stdio: 'inherit' });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  // A process killed by a signal has no exit code. It must not look like a passed gate.
  child.on('exit', (code) => process.exit(code ?? 3));
}

function pinnedNode() {
  try {
    const path = module.createRequire(import.meta.url).resolve('node/bin/node');
    return existsSync(path) ? path : null;
  } catch {
    return null;
  }
}
