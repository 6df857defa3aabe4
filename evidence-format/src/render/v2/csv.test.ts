import fc from 'fast-check';
import { expect, test } from 'vitest';
import { sampleFinding } from '../../testing/reports/parts.ts';
import { renderCsv } from './csv.ts';

const END = 'end of the row';

/** RFC 4180, as a spreadsheet reads it. */
function parse(text: string): string[][] {
  const rows: string[][] = [];
  for (const [, quoted, bare, end] of text.matchAll(/(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/g)) {
    if (rows.length === 0 || rows.at(-1)?.at(-1) === END) rows.push([]);
    const row = rows.at(-1) as string[];
    row.push(quoted?.replaceAll('""', '"') ?? bare ?? '');
    if (end === '\r\n') row.push(END);
  }
  return rows.map((row) => row.slice(0, -1));
}

test('preserves any title and contains no formulas', () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: 'binary' }), { minLength: 1, maxLength: 4 }), (titles) => {
      const findings = titles.map((title, index) => sampleFinding(index + 1, { title }));
      const [head, ...rows] = parse([...renderCsv({ findings })].join(''));
      const at = head?.indexOf('title') ?? -1;
      const read = rows.map((row) => row[at] ?? '');
      expect(read.map((cell) => cell.replace(/^'(?=[=+\-@\t\r\n])/, ''))).toEqual(titles.map((title) => title.replace(/^'(?=[=+\-@\t\r\n])/, '')));
      expect(read.filter((cell) => /^[=+\-@\t\r\n]/.test(cell))).toEqual([]);
      expect(rows.filter((row) => row.length !== head?.length)).toEqual([]);
    }),
    { numRuns: 50 },
  );
});
