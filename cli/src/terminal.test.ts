import { expect, it } from 'vitest';
import { type Column, painter, printable, progress, table, wrap } from './terminal.ts';

interface Row {
  severity: string;
  title: string;
}
const columns: Column<Row>[] = [
  { title: 'severity', value: ({ severity }) => severity, style: ({ severity }) => severity },
  { title: 'title', value: ({ title }) => title },
];
const rows = [
  { severity: 'critical', title: 'A title that is too long' },
  { severity: 'low', title: 'Größe' },
];

it('a table has aligned columns, and the last one is cut to the width of the terminal', () => {
  expect(table(rows, columns, { color: false, width: 25 })).toBe('SEVERITY  TITLE\ncritical  A title that i…\nlow       Größe\n');
  expect(table(rows, columns, { color: false, width: Number.POSITIVE_INFINITY })).toContain('A title that is too long');
});

it('a column before the last one is cut if there would be no room for the last one', () => {
  const wide = columns.map((column) => ({ ...column, isCut: true }));
  const long = [{ severity: 'an-asset-with-a-long-name', title: 'A title' }];
  expect(table(long, wide, { color: false, width: 24 })).toBe('SEVERITY         TITLE\nan-asset-with-…  A title\n');
  expect(table(long, wide, { color: false, width: 10 })).toBe('SEVERITY      TITLE\nan-asset-wi…  A title\n');
  expect(table(long, wide, { color: false, width: 80 })).toContain('an-asset-with-a-long-name  A title');
});

it('a long text is continued below its beginning, unless there is no room for it', () => {
  expect(wrap('  --a  ', 'one two three four five six seven', { width: 32 })).toBe('  --a  one two three four five\n       six seven');
  expect(wrap('  --a  ', 'one two three', { width: 20 })).toBe('  --a  one two three');
  expect(wrap('  --a  ', 'one two three', { width: Number.POSITIVE_INFINITY })).toBe('  --a  one two three');
});

it('colors are only for terminals that show them', () => {
  expect(table(rows, columns, { color: true, width: 80 })).toContain('\u001b[35mcritical\u001b[0m  A title');
  expect(painter({ color: false })('x', 'red')).toBe('x');
});

it('control characters and changes of direction in texts of reports are not printed', () => {
  expect(printable('a\u001b[2Jb\u202ec\r\nd')).toBe('a [2Jb c  d');
});

it('progress is written over, and only on a terminal', () => {
  const written: string[] = [];
  const terminal = { out: () => {}, err: (text: string) => void written.push(text), color: false, width: 80 };
  const line = progress({ ...terminal, live: true });
  line.show('10 %');
  line.show('10 %');
  line.clear();
  progress({ ...terminal, live: false }).show('20 %');
  expect(written).toEqual(['\r\u001b[K10 %', '\r\u001b[K']);
});
