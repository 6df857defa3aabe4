#!/usr/bin/env node
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import module from 'node:module';
import { fileURLToPath } from 'node:url';

// Runs on any Node that npm runs on, to find the one that the program needs.
const NEEDED = 24;

if (Number(process.versions.node.split('.')[0]) >= NEEDED) {
  // Beside the packages: in the shared temporary folder, Node's own choice, anybody could lay code for us to run.
  module.enableCompileCache?.(fileURLToPath(new URL('../../node_modules/.cache/rrs', import.meta.url)));
  process.removeAllListeners('warning').on('warning', (warning) => {
    if (warning.name !== 'ExperimentalWarning') process.stderr.write(`${warning.stack}\n`);
  });
  const { main } = await import('../src/cli/cli.ts');
  process.exitCode = await main(process.argv.slice(2), {
    out: (text) => process.stdout.write(text),
    err: (text) => process.stderr.write(text),
    color: process.stdout.isTTY === true && process.stdout.hasColors(),
  });
} else {
  const pinned = pinnedNode();
  if (pinned === null) {
    process.stderr.write(
      `rrs-verify: Node ${NEEDED} or newer is needed and this is ${process.versions.node}: run "npm ci" with install scripts allowed (it brings Node ${NEEDED} along), or open rrs-verify.html in a browser.\n`,
    );
    process.exit(2);
  }
  const child = spawn(pinned, [fileURLToPath(import.meta.url), ...process.argv.slice(2)], { stdio: 'inherit' });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  // Killed by a signal is no verdict.
  child.on('exit', (code) => process.exit(code ?? 2));
}

function pinnedNode() {
  try {
    const path = module.createRequire(import.meta.url).resolve('node/bin/node');
    return existsSync(path) ? path : null;
  } catch {
    return null;
  }
}
