import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { DECISION_KINDS } from '../document/decisions.ts';
import { CHECK_IDS, CONCLUSIONS, GAP_CODES } from '../document/evidence.ts';
import { PROVENANCES } from '../document/scan.ts';

const page = readFileSync(new URL('../../../docs/evidence-package.md', import.meta.url), 'utf8');

/** The cells of one column of the first table after a heading. */
function column(heading: string, at: number): string[] {
  const [, section = ''] = page.split(`\n### ${heading}\n`);
  const [, table = ''] = /\n((?:\|.*\n)+)/.exec(section) ?? [];
  return table
    .trimEnd()
    .split('\n')
    .slice(2)
    .map((line) => (line.split('|')[at + 1] ?? '').trim().replaceAll('`', ''));
}

test('docs/evidence-package.md describes every gap, decision, check and provenance', () => {
  expect(column('Completeness', 0)).toEqual([...GAP_CODES]);
  expect(column('Decision register', 0)).toEqual([...DECISION_KINDS]);
  expect(column('Checks and controls', 0)).toEqual([...CHECK_IDS]);
  expect(column('Provenance', 0)).toEqual([...PROVENANCES]);
  expect(new Set(column('Conclusion', 1))).toEqual(new Set(CONCLUSIONS));
});
