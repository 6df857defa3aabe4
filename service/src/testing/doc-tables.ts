import { readFileSync } from 'node:fs';

/** The rows of the first table after a heading in a page of docs/, without the code marks of the cells. */
export function documentedRows(page: string, heading: string): string[][] {
  const text = readFileSync(new URL(`../../../docs/${page}`, import.meta.url), 'utf8');
  const [, section = ''] = text.split(`\n${heading}\n`);
  const [, table = ''] = /\n((?:\|.*\n)+)/.exec(section) ?? [];
  const cells = (line: string) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim().replaceAll('`', ''));
  return table.trimEnd().split('\n').slice(2).map(cells);
}
