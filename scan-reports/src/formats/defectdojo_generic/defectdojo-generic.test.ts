import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { detectFormat, headOf } from '../../detect.ts';
import { formats } from '../../registry.ts';
import { fromBuffer } from '../../shared/input.ts';
import { readAll } from '../../testing/reading.ts';
import { defectdojoGeneric } from './index.ts';

const read = (name: string) => readAll(defectdojoGeneric, fromBuffer(readFileSync(new URL(`fixtures/${name}`, import.meta.url)), name));

test('reads each endpoint of a finding as an asset', async () => {
  const { observations } = await read('findings.json');
  expect(observations.slice(0, 4)).toMatchObject([
    { asset: { type: 'web_application', name: 'https://shop.example.com' }, location: { url: 'https://shop.example.com/login' } },
    { asset: { type: 'host', name: 'db1.example.com' }, location: { port: 5432, protocol: 'tcp' } },
    { asset: { type: 'host', name: '192.0.2.4' }, location: { port: 8443 } },
    { asset: { type: 'web_application', name: 'http://docs.example.com' }, location: { url: 'http://docs.example.com/help' } },
  ]);
  for (const { external_id, rule } of observations.slice(0, 4)) expect([external_id, rule]).toEqual([null, 'Weak cipher suite']);
});

test('reads every field of a finding', async () => {
  const { observations, rejections } = await read('findings.json');
  expect(rejections).toEqual([]);
  expect(observations[4]).toMatchObject({
    place: 'findings[1]',
    tool: 'acme pentest',
    rule: 'JAVA-1',
    external_id: 'a2',
    description: 'A library has a known vulnerability.\n\nImpact: Remote code execution\n\nSteps to reproduce: Send a crafted request.',
    solution: 'Update the library.',
    severity: 'high',
    vulnerability_ids: ['CVE-2021-44228', 'GHSA-jfh8-c2jp-5v3q'],
    cwes: [502, 20, 400],
    cvss: [
      { score: 9.3, version: '4.0' },
      { vector: 'CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:C/C:H/I:H/A:H', score: 10 },
    ],
    references: ['https://example.com/a', 'https://example.com/b'],
    asset: null,
    location: { component: 'log4j-core', version: '2.14.1', fixed_version: '2.17.1', path: 'app/lib/log4j-core.jar' },
    first_seen: new Date('2026-10-01T00:00:00Z'),
    tags: ['payments', 'java'],
    epss: { score: 0.94, percentile: 0.999 },
    known_exploited: true,
    fix_state: 'available',
    present: true,
    suppressed: false,
  });
});

test('keeps what DefectDojo decided about a finding', async () => {
  const { observations } = await read('findings.json');
  expect(observations.slice(5)).toMatchObject([
    {
      title: 'Hard-coded password',
      suppressed: true,
      analysis: { state: 'false_positive' },
      asset: { type: 'other', name: 'billing' },
      location: { path: 'src/test.py', line: 12 },
    },
    { title: 'Old header', present: false, suppressed: false, location: { parameter: 'q' } },
    {
      title: 'Accepted',
      suppressed: true,
      analysis: { state: 'exploitable', response: 'will_not_fix' },
      location: { component: '@acme/ui', version: '1.2.3', purl: 'pkg:npm/%40acme/ui@1.2.3' },
    },
    { title: 'Copy', suppressed: false, present: true },
    { title: 'Switched off', suppressed: true, cwes: [], cvss: [], location: {} },
  ]);
  expect(observations.at(-1)).not.toHaveProperty('epss');
});

test('reads CSV, with dates that start with the day or the month', async () => {
  const { observations, rejections } = await read('table.csv');
  expect(rejections).toEqual([]);
  expect(observations).toMatchObject([
    {
      place: 'line 2',
      tool: 'defectdojo',
      title: 'Cross-site scripting, reflected',
      cwes: [79],
      asset: { type: 'web_application', name: 'https://shop.example.com' },
      first_seen: new Date('2026-02-28T00:00:00Z'),
      epss: { score: 0.00042 },
      fix_state: 'not_available',
      cvss: [{ vector: 'CVSS:3.1/AV:N/AC:L/PR:N/UI:R/S:C/C:L/I:L/A:N' }],
    },
    {
      place: 'line 4',
      severity: 'unknown',
      cwes: [],
      asset: { type: 'host', name: 'web1.example.com' },
      vulnerability_ids: ['CVE-2015-9235'],
      rule: null,
      present: false,
      first_seen: new Date('2026-02-03T00:00:00Z'),
    },
  ]);
  expect(observations[0]).not.toHaveProperty('known_exploited');
});

test('rejects single records', async () => {
  const { observations, rejections } = await read('malformed.json');
  expect(observations).toMatchObject([{ title: 'Good', tool: 'defectdojo' }]);
  expect(rejections).toEqual([
    { place: 'findings[1]', reason: 'title is missing' },
    { place: 'findings[2]', reason: 'the record is not an object' },
    { place: 'findings[3]', reason: 'title is missing' },
  ]);
});

test('names the tool of the test, wherever it is in the file', async () => {
  const about = (text: string) => defectdojoGeneric.about?.(fromBuffer(text));
  expect(await about('{"findings":[],"type":"Acme Pentest"}')).toMatchObject({ tools: ['acme pentest'], finished: true });
  expect(await about('{"type":"Generic Findings Import","findings":[]}')).toMatchObject({ tools: ['defectdojo'] });
  expect(await about('Title,Severity,Date\n')).toMatchObject({ tools: ['defectdojo'] });
});

test.each([
  ['{"findings":[{"title":"a","severity":"Low","description":"b"},{"title":"a","severity":"Low","cwe":79}]}', 'defectdojo_generic'],
  ['{"type":"Acme","findings":[{"title":"a","severity":"Low"}]}', 'defectdojo_generic'],
  ['Title,Severity,Date\na,Low,2026-01-01\n', 'defectdojo_generic'],
  ['{"findings":[{"title":"a","severity":"Low","description":"b"}]}', 'generic'],
  ['{"findings":[{"title":"a","severity":"low","solution":"b","description":"say \\"cwe\\": 79"}]}', 'generic'],
  ['Title,Severity,Description\na,low,b\n', 'generic'],
])('tells its files from those of the generic format: %s', async (text, id) => {
  expect(detectFormat(formats, await headOf(fromBuffer(text)))?.id).toBe(id);
});

test('rejects another file', async () => {
  for (const foreign of ['', 'null', '{}', '{"findings":5}', '{"findings":[{"awsAccountId":"1"}]}', '<a/>', 'a,b\n1,2\n', 'Title,Severity,Host\na,Low,b\n'])
    await expect(readAll(defectdojoGeneric, fromBuffer(foreign)), foreign).rejects.toThrow('Generic Findings Import');
});
