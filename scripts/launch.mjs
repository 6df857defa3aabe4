import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import module from 'node:module';
import { fileURLToPath } from 'node:url';

// This file must run on every Node version that npm supports: it finds the version that the program needs.
const REQUIRED = 24;

/**
 * Runs a program on the pinned Node, which removes the types of the sources. `failure` is the exit code if there is no such Node, and if a signal ended it,
 * which must not look like a result.
 */
export async function launch({ url, program, failure, flags = [], otherwise = '' }, run) {
  if (Number(process.versions.node.split('.')[0]) >= REQUIRED) {
    // Threat: Node's default is the shared temporary folder, where other users could plant code for us to run.
    const cache = fileURLToPath(new URL('../node_modules/.cache/rrs', import.meta.url));
    module.enableCompileCache?.(cache);
    // Threads read the variable. They would compile everything again otherwise, each time one starts.
    process.env.NODE_COMPILE_CACHE ??= cache;
    process.removeAllListeners('warning').on('warning', (warning) => {
      if (warning.name !== 'ExperimentalWarning') process.stderr.write(`${warning.stack}\n`);
    });
    return run();
  }
  const pinned = pinnedNode(url);
  if (pinned === null) {
    process.stderr.write(
      `${program}: Node ${REQUIRED} or newer is required, but this is Node ${process.versions.node}. Run "npm ci" with install scripts allowed (this installs Node ${REQUIRED}), or install Node ${REQUIRED} yourself${otherwise}.\n`,
    );
    process.exit(failure);
  }
  const child = spawn(pinned, [...flags, fileURLToPath(url), ...process.argv.slice(2)], { stdio: 'inherit' });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  child.on('exit', (code) => process.exit(code ?? failure));
}

function pinnedNode(url) {
  try {
    const path = module.createRequire(url).resolve('node/bin/node');
    return existsSync(path) ? path : null;
  } catch {
    return null;
  }
}
