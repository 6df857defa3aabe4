import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { fromBuffer } from '../../shared/input.ts';
import { readAll } from '../../testing/reading.ts';
import { retireJs } from './index.ts';

const fixture = (name: string) => fromBuffer(readFileSync(new URL(`./fixtures/${name}`, import.meta.url)), name);

test('reads a vulnerable library in a file', async () => {
  const { observations, rejections } = await readAll(retireJs, fixture('report.json'));
  expect(rejections).toEqual([]);
  expect(observations).toHaveLength(4);
  expect(observations[0]).toEqual({
    place: 'data[0].results[0].vulnerabilities[0]',
    tool: 'retire.js',
    rule: 'CVE-2015-9251',
    external_id: null,
    title: 'Cross-domain requests may run scripts',
    description: null,
    solution: null,
    severity: 'medium',
    tool_severity: 'medium',
    vulnerability_ids: ['CVE-2015-9251', 'GHSA-rmxg-73gg-4p98'],
    cwes: [79],
    cvss: [],
    references: ['https://github.com/jquery/jquery/issues/2432'],
    asset: null,
    location: { component: 'jquery', version: '1.11.2', fixed_version: '1.12.0', purl: 'pkg:npm/jquery@1.11.2', path: 'public/js/jquery-1.11.2.min.js' },
    present: true,
    suppressed: false,
    first_seen: null,
    last_seen: new Date('2025-01-02T03:04:05.678Z'),
    tags: ['filename'],
  });
});

test('uses the identifiers of the retire.js repository if there is no public id', async () => {
  const { observations } = await readAll(retireJs, fixture('report.json'));
  expect(observations.slice(1).map(({ rule, severity, vulnerability_ids }) => ({ rule, severity, vulnerability_ids }))).toEqual([
    { rule: 'retid 73', severity: 'low', vulnerability_ids: [] },
    { rule: 'Quoteless attributes in templates', severity: 'critical', vulnerability_ids: [] },
    { rule: 'bug 11', severity: 'info', vulnerability_ids: [] },
  ]);
  expect(observations[3]?.title).toBe('Vulnerability in handlebars');
});

test('reads the simple form and rejects malformed records', async () => {
  const { observations, rejections } = await readAll(retireJs, fixture('simple-malformed.json'));
  expect(rejections).toEqual([
    { place: '[0].results[0].vulnerabilities[0]', reason: 'component is missing' },
    { place: '[0].results[1].vulnerabilities[0]', reason: 'an identifier is missing' },
    { place: '[0].results[1].vulnerabilities[1]', reason: 'the record is not an object' },
    { place: '[1]', reason: 'the record is not an object' },
  ]);
  expect(observations).toHaveLength(1);
  expect(observations[0]).toMatchObject({
    rule: 'CVE-2020-12345',
    title: 'CVE-2020-12345 in left-pad',
    references: ['https://example.com/left-pad'],
    location: { component: 'left-pad', version: '0.1.0' },
  });
});

test('accepts a report without findings and rejects another file', async () => {
  expect(await readAll(retireJs, fixture('empty.json'))).toMatchObject({ observations: [], rejections: [] });
  expect(await readAll(retireJs, fromBuffer('[]'))).toMatchObject({ observations: [], rejections: [] });
  for (const foreign of ['{"data":[{"id":"1","type":"issue"}]}', '[{"Target":"x"}]', '<analysis/>', ''])
    await expect(readAll(retireJs, fromBuffer(foreign))).rejects.toThrow(/Expected a JSON object with version, start and data, or an array/);
});

test('errors make the report unfinished', async () => {
  const about = (errors: string[]) => retireJs.about?.(fromBuffer(JSON.stringify({ version: '5.0.0', start: '2024-05-06T07:08:09Z', data: [], errors })));
  expect(await about([])).toEqual({ tools: null, finished: true, unread: [] });
  expect(await about(['Could not download the repository'])).toMatchObject({ finished: false });
});

test('states version and start of the run', async () => {
  const report = { version: '5.2.4', start: '2025-01-01T00:00:00.000Z', data: [], errors: [] };
  expect((await readAll(retireJs, fromBuffer(JSON.stringify(report)))).runs).toEqual([{ tool_version: '5.2.4', started_at: new Date('2025-01-01T00:00:00Z') }]);
});
