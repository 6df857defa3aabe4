#!/usr/bin/env node
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import module from 'node:module';
import { fileURLToPath } from 'node:url';
import { setFlagsFromString } from 'node:v8';

// Runs on any Node that npm runs on, to find the one that the program needs.
const NEEDED = 24;
const major = Number(process.versions.node.split('.')[0]);

if (major >= NEEDED) {
  // Beside the packages: in the shared temporary folder, Node's own choice, anybody could lay code for us to run.
  module.enableCompileCache?.(fileURLToPath(new URL('../../node_modules/.cache/rrs', import.meta.url)));
  // Left alone, the heap grows to four times what is in use before it is tidied: a large report would cost memory that nothing holds.
  setFlagsFromString('--heap-growing-percent=60');
  process.removeAllListeners('warning').on('warning', (warning) => {
    if (warning.name !== 'ExperimentalWarning') process.stderr.write(`${warning.stack}\n`);
  });
  const { main } = await import('../src/main/cli.ts');
  process.exit(await main(process.argv.slice(2)));
}

const pinned = pinnedNode();
if (pinned === null) {
  process.stderr.write(
    `rrs: Node ${NEEDED} or newer is needed and this is ${process.versions.node}: run "npm ci" with install scripts allowed (it brings Node ${NEEDED} along), or install Node ${NEEDED}.\n`,
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
