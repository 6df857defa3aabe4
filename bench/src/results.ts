import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { arch, cpus, totalmem } from 'node:os';

export interface Result {
  id: string;
  what: string;
  figure: string;
  bar: string;
  met: boolean;
}

export function resultTable(results: readonly Result[]): string {
  const rows = results.map(({ id, what, figure, bar, met }) => `| ${id} | ${what} | ${figure} | ${bar} | ${met ? 'yes' : '**no**'} |`);
  return ['| id | measurement | result | goal | met |', '|---|---|---|---|---|', ...rows].join('\n');
}

const file = new URL('../RESULTS.md', import.meta.url);

const INTRODUCTION = `# Benchmark results

Written by \`npm run bench\`, or by \`npm run bench <part>\` for one part. The ratios compare two measurements of the same run on the same machine. The absolute figures are for orientation only.
`;

/** Replaces the section of one part in RESULTS.md, and leaves those of the other parts as they are. */
export function keepResults(part: string, table: string): void {
  const commit = execFileSync('git', ['rev-parse', '--short', 'HEAD'], { encoding: 'utf8' }).trim();
  const machine = `${cpus().length} cores (${arch()}), ${Math.round(totalmem() / 2 ** 30)} GiB, Node ${process.versions.node}`;
  const sections = new Map(existsSync(file) ? sectionsIn(readFileSync(file, 'utf8')) : []);
  sections.set(part, `Commit ${commit}, ${machine}.\n\n${table}\n`);
  writeFileSync(file, [INTRODUCTION, ...[...sections].map(([name, text]) => `## ${name}\n\n${text}`)].join('\n'));
}

function sectionsIn(text: string): [name: string, text: string][] {
  return text
    .split(/^## /m)
    .slice(1)
    .map((section) => {
      const [name = '', ...lines] = section.trim().split('\n');
      return [name, `${lines.join('\n').trim()}\n`];
    });
}
