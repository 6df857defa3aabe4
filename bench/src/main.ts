import { parseArgs } from 'node:util';
import { webConsole } from './console.ts';
import { evidence } from './evidence.ts';
import { foundation } from './foundation.ts';
import { histories } from './histories.ts';
import { imports, largeReport } from './imports.ts';
import { growth } from './lists/growth.ts';
import { lists } from './lists/lists.ts';
import { keepResults, resultTable } from './results.ts';
import { epssFiles } from './stalls/scores.ts';
import { stalls } from './stalls/stalls.ts';
import { syncs } from './syncs.ts';
import { truth } from './truth.ts';

const { values: options, positionals: chosen } = parseArgs({ allowPositionals: true, options: { reports: { type: 'string' }, most: { type: 'boolean' } } });
const benchmarks = {
  foundation: () => foundation({ rounds: 5, seconds: 4 }),
  imports: () => imports({ findings: 100_000, rounds: 2 }),
  memory: () => largeReport({ mebibytes: 1024 }),
  lists: () => lists({ findings: 200_000, others: 9, small: 10_000, seconds: 4, tries: 5 }),
  growth: () => growth({ findings: [10_000, 100_000, 1_000_000, ...(options.most ? [5_000_000] : [])], imported: 10_000, every: 1, tries: 3 }),
  syncs: () => syncs({ findings: 100_000, records: 1_000, rounds: 4, seconds: 4 }),
  stalls: () => stalls({ mebibytes: 1024, sealed: 10_000, files: 12, mebibytesEach: 64 }),
  scores: () => epssFiles({ scores: 300_000, findings: 1_000_000 }),
  evidence: () => evidence({ findings: 1_000, files: 16, mebibytesEach: 64, rounds: 2 }),
  histories: () => histories({ findings: 10_000, rounds: 7 }),
  console: () => webConsole({ findings: 200_000, scrolled: 10_000, kept: 50_000, loads: 5, presses: 200 }),
  truth: () => truth({ worlds: 6, rescans: 11, everyPair: 1, builds: 8, reports: options.reports ?? null }),
};
for (const [name, measure] of Object.entries(benchmarks)) {
  if (chosen.length > 0 && !chosen.includes(name)) continue;
  const table = resultTable(await measure());
  process.stdout.write(`${table}\n`);
  keepResults(name, table);
}
