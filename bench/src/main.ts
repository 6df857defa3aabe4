import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { arch, cpus, totalmem } from 'node:os';
import { foundation } from './foundation.ts';
import { resultTable } from './results.ts';

const table = resultTable(await foundation({ rounds: 5, seconds: 4 }));
const commit = execFileSync('git', ['rev-parse', '--short', 'HEAD'], { encoding: 'utf8' }).trim();
const machine = `${cpus().length} cores (${arch()}), ${Math.round(totalmem() / 2 ** 30)} GiB, Node ${process.versions.node}`;
writeFileSync(
  new URL('../RESULTS.md', import.meta.url),
  `# Results of the benchmark

Written by \`npm run bench\`. Ratios compare two things in one run on one machine; absolute figures stand beside them only for orientation.

Commit ${commit}, ${machine}.

${table}
`,
);
process.stdout.write(`${table}\n`);
