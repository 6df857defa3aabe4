#!/usr/bin/env node
import { setFlagsFromString } from 'node:v8';
import { launch } from '../../scripts/launch.mjs';
import { bundledProgram } from './bundle-stamp.mjs';

await launch({ url: import.meta.url, program: 'rrs-server', failure: 1, flags: ['--max-semi-space-size=8'] }, async () => {
  // By default, the heap grows to four times its live size before a collection, so a large report would waste memory.
  setFlagsFromString('--heap-growing-percent=60');
  // A process that has had little to do for a while would otherwise also compact its heap. That takes twice as long, and callers wait for it.
  setFlagsFromString('--no-memory-reducer-favors-memory');
  const bundle = bundledProgram();
  const { main } = await (bundle === null ? import('../src/main/command-line/cli.ts') : import(bundle));
  process.exit(await main(process.argv.slice(2)));
});
