import { expect, test } from 'vitest';
import { csvCell } from './csv.ts';

test.each([
  ['plain', 'plain'],
  ['=1+1', "'=1+1"],
  ['+1', "'+1"],
  ['-1', "'-1"],
  ['@SUM(A1)', "'@SUM(A1)"],
  ["'=1", "''=1"],
  ["'quoted'", "'quoted'"],
  ['\t=1', "'\t=1"],
  ['\r=1', '"\'\r=1"'],
  ['a "b", c', '"a ""b"", c"'],
  ['=HYPERLINK("x","y")', '"\'=HYPERLINK(""x"",""y"")"'],
  ['two\nlines', '"two\nlines"'],
  [-1.5, '-1.5'],
  [true, 'true'],
  [null, ''],
  [['=a', 'b'], "'=a; b"],
])('%j becomes %j', (value, cell) => {
  expect(csvCell(value)).toBe(cell);
});
