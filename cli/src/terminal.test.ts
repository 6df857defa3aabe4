import { expect, it } from 'vitest';
import { type Column, painter, printable, progress, table } from './terminal.ts';

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
