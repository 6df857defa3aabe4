import { expect, it } from 'vitest';
import { addFilters, chipText, type Filter, parseFilters, suggest, typedValue } from './filters.ts';

const filters: readonly Filter[] = [
  { name: 'q', label: 'Text' },
  { name: 'severity', label: 'Severity', options: ['critical', 'high', 'low'], isList: true },
  { name: 'kev', label: 'Known to be exploited', options: ['true', 'false'] },
  { name: 'asset', label: 'Asset' },
];

it('reads filters and words to search for', () => {
  expect(parseFilters('severity:critical,high kev:true asset:"web 1" log4j core', filters)).toEqual({
    tokens: [
      { name: 'severity', value: 'critical,high' },
      { name: 'kev', value: 'true' },
      { name: 'asset', value: 'web 1' },
      { name: 'q', value: 'log4j core' },
    ],
    unknown: [],
  });
});

it('names filters that do not exist, but takes addresses for words', () => {
  expect(parseFilters('colour:red https://example.com', filters)).toEqual({ tokens: [{ name: 'q', value: 'https://example.com' }], unknown: ['colour'] });
});

it('adds values to a list, and replaces others', () => {
  const query = { severity: 'critical', asset: 'web' };
  const tokens = [
    { name: 'severity', value: 'high,critical' },
    { name: 'asset', value: 'db' },
  ];
  expect(addFilters(query, tokens, filters)).toEqual({ severity: 'critical,high', asset: 'db' });
});

it('completes names and values', () => {
  expect(suggest('se', filters).map(({ text }) => text)).toEqual(['severity:', 'asset:']);
  expect(suggest('kev:true severity:critical,h', filters).map(({ text }) => text)).toEqual(['kev:true severity:critical,high']);
});

it('completes values that the API knows, in quotes if they have spaces', () => {
  const known: Filter[] = [{ name: 'owner', label: 'Owner', isList: true, known: 'owner' }];
  expect(typedValue('kev:true owner:Ada,team p', known)).toBeNull();
  expect(typedValue('kev:true owner:Ada,pa', known)).toEqual({ filter: known[0], field: 'owner', prefix: 'pa' });
  expect(suggest('owner:Ada,pa', known, ['Payments team', 'paula']).map(({ text }) => text)).toEqual(['owner:"Ada,Payments team"', 'owner:Ada,paula']);
});

it('writes chips as people read them', () => {
  expect(filters.slice(1).map((filter, index) => chipText(filter, ['critical,high', 'false', 'web'][index] ?? ''))).toEqual([
    'Severity: critical or high',
    'Not known to be exploited',
    'Asset: web',
  ]);
});

it('writes values that people call otherwise by their names, and keeps those of the API in the query', () => {
  const source: Filter = { name: 'source', label: 'Source', isList: true, known: 'source' };
  const nameOf = (_filter: Filter, value: string) => ({ report_url: 'Report storage', manual: 'People' })[value] ?? value;
  expect(chipText(source, 'report_url,manual', nameOf)).toBe('Source: Report storage or People');
  expect(suggest('source:rep', [source], ['report_url'], nameOf)).toMatchObject([{ label: 'Report storage', text: 'source:report_url' }]);
});
