#!/usr/bin/env node
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import module from 'node:module';
import { fileURLToPath } from 'node:url';
import { setFlagsFromString } from 'node:v8';
import { bundledProgram } from './bundle-stamp.mjs';

// This file must run on any Node version that npm supports. It finds the version that the program needs.
const REQUIRED = 24;
const major = Number(process.versions.node.split('.')[0]);

if (major >= REQUIRED) {
  // Threat: Node's default is the shared temporary folder, where other users could plant code for us to run.
  const cache = fileURLToPath(new URL('../../node_modules/.cache/rrs', import.meta.url));
  module.enableCompileCache?.(cache);
  // Threads read only the variable.
  process.env.NODE_COMPILE_CACHE ??= cache;
  // By default, the heap grows to four times its live size before a collection, so a large report would waste memory.
  setFlagsFromString('--heap-growing-percent=60');
  process.removeAllListeners('warning').on('warning', (warning) => {
    if (warning.name !== 'ExperimentalWarning') process.stderr.write(`${warning.stack}\n`);
  });
  const bundle = bundledProgram();
  const { main } = await (bundle === null ? import('../src/main/command-line/cli.ts') : import(bundle));
  process.exit(await main(process.argv.slice(2)));
}

const pinned = pinnedNode();
if (pinned === null) {
  process.stderr.write(
    `rrs-server: Node ${REQUIRED} or newer is required, but this is Node ${process.versions.node}. Run "npm ci" with install scripts allowed (this installs Node ${REQUIRED}), or install Node ${REQUIRED} yourself.\n`,
  );
  process.exit(1);
}
const child = spawn(pinned, ['--max-semi-space-size=8', fileURLToPath(import.meta.url), ...process.argv.slice(2)], { stdio: 'inherit' });
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
child.on('exit', (code) => process.exit(code ?? 1));

function pinnedNode() {
  try {
    const path = module.createRequire(import.meta.url).resolve('node/bin/node');
    return existsSync(path) ? path : null;
  } catch {
    return null;
  }
}
