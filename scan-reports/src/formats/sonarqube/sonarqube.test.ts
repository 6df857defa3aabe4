import { expect, test } from 'vitest';
import { fromBuffer } from '../../shared/input.ts';
import { readFixtures } from '../../testing/fixtures.ts';
import { readAll } from '../../testing/reading.ts';
import { sonarqube } from './index.ts';

const fixtures = new Map(readFixtures('sonarqube').map(({ name, bytes }) => [name, bytes]));
const read = (name: string) => readAll(sonarqube, fromBuffer(fixtures.get(name) ?? '', name));
const asset = { type: 'repository', name: 'shop' };

test('reads issues from the API', async () => {
  const { observations, rejections } = await read('api-issues.json');
  expect(rejections).toEqual([]);
  expect(observations[0]).toEqual({
    place: 'issues[0]',
    tool: 'sonarqube',
    rule: 'typescript:S5144',
    external_id: 'AX-made-up-1',
    title: 'Do not construct the address from user-controlled data.',
    description: null,
    solution: null,
    severity: 'critical',
    tool_severity: 'BLOCKER',
    vulnerability_ids: [],
    cwes: [],
    cvss: [],
    references: [],
    asset,
    location: { path: 'src/api/fetch.ts', line: 15, end_line: 17 },
    present: true,
    suppressed: false,
    first_seen: new Date('2024-01-29T13:50:11Z'),
    last_seen: null,
    tags: ['vulnerability', 'cwe', 'owasp-a10'],
  });
  expect(observations.slice(3)).toMatchObject([
    {
      external_id: 'AX-made-up-4',
      title: 'Standard outputs should not be used directly to log anything',
      severity: 'low',
      tool_severity: 'LOW',
      present: false,
      suppressed: false,
    },
    { external_id: 'AX-made-up-5', severity: 'info', cwes: [259], present: true, suppressed: true },
  ]);
});

test('reads vulnerable dependencies of the Dependency-Check plug-in', async () => {
  const { observations } = await read('api-issues.json');
  expect(observations[1]).toMatchObject({
    title: 'CVE-2021-44228 in made-up-lib',
    severity: 'medium',
    vulnerability_ids: ['CVE-2021-44228'],
    cwes: [120, 787],
    asset,
    location: { component: 'made-up-lib', version: '1.1.2' },
  });
  expect(observations[2]).toMatchObject({
    severity: 'high',
    vulnerability_ids: ['CVE-2023-52428', 'GHSA-2222-3333-4444'],
    location: { component: 'made-up-jwt-9.24.4.jar', path: 'pom.xml' },
    present: true,
    suppressed: true,
  });
});

test('reads hotspots from the API', async () => {
  const { observations, rejections } = await read('api-hotspots.json');
  expect(rejections).toEqual([]);
  expect(observations).toMatchObject([
    {
      place: 'hotspots[0]',
      rule: 'typescript:S6268',
      external_id: 'HS-made-up-1',
      severity: 'high',
      asset,
      location: { path: 'src/app.component.ts', line: 47 },
      present: true,
      suppressed: false,
      tags: ['security_hotspot', 'xss'],
    },
    { rule: 'others', severity: 'low', present: true, suppressed: true },
    { rule: 'Web:S5725', severity: 'medium', present: false },
  ]);
});

test('reads an array of pages', async () => {
  const pages = `[${fixtures.get('api-hotspots.json')},${fixtures.get('api-hotspots.json')}]`;
  const { observations } = await readAll(sonarqube, fromBuffer(pages));
  expect(observations.map(({ place }) => place)).toEqual([0, 1].flatMap((page) => [0, 1, 2].map((index) => `[${page}].hotspots[${index}]`)));
});

test('reads JSON of sonar-report', async () => {
  const { observations, rejections } = await read('sonar-report.json');
  expect(rejections).toEqual([]);
  expect(observations).toMatchObject([
    {
      rule: 'python:S4502',
      external_id: 'SR-made-up-1',
      title: 'Disabling CSRF protections is security-sensitive',
      description: 'Make sure disabling CSRF protection is safe here.\n\nRequests may be forged.\nCWE-352',
      severity: 'high',
      cwes: [352],
      asset,
      location: { path: 'app/main.py', line: 8 },
      last_seen: new Date('2024-01-18T00:00:00Z'),
    },
    { rule: 'python:S9999', title: 'Unknown rule.', severity: 'low', cwes: [] },
  ]);
});

test('reads HTML of sonar-report and rejects a row without a rule', async () => {
  const { observations, rejections } = await read('sonar-report.html');
  expect(rejections).toEqual([{ place: 'issue 2', reason: 'rule is missing' }]);
  expect(observations).toMatchObject([
    {
      place: 'issue 1',
      rule: 'java:S2975',
      external_id: 'SH-made-up-1',
      title: '"clone" should not be overridden',
      description: 'Remove this "clone" implementation <now>.',
      severity: 'critical',
      cwes: [],
      asset: { type: 'repository', name: 'Shop & more' },
      location: { path: 'src/main/java/Copy.java', line: 190 },
      last_seen: new Date('2019-08-02T00:00:00Z'),
    },
    { place: 'issue 3', rule: 'java:S1148', title: 'Use a logger to log this exception.', severity: 'medium', cwes: [489] },
  ]);
  expect(observations[1]?.location).toEqual({ path: 'src/main/java/Main.java' });
});

test('rejects malformed issues and reads the rest', async () => {
  const { observations, rejections } = await read('malformed.json');
  expect(rejections).toEqual([
    { place: 'issues[0]', reason: 'rule is missing' },
    { place: 'issues[1]', reason: 'rule is missing' },
  ]);
  expect(observations).toMatchObject([{ external_id: 'AX-made-up-7', severity: 'unknown', tool_severity: 'ODD' }]);
});

test('accepts a response without issues and rejects other files', async () => {
  expect(await read('empty.json')).toMatchObject({ observations: [], rejections: [] });
  await expect(readAll(sonarqube, fromBuffer('{"issues": [{"fields": {}}]}'))).rejects.toThrow(/issues or hotspots and paging/);
  await expect(readAll(sonarqube, fromBuffer('<html><title>Other Report</title></html>'))).rejects.toThrow(/Expected/);
  await expect(readAll(sonarqube, fromBuffer('PK\u0003\u0004'))).rejects.toThrow(/ZIP archive/);
  const html = fixtures.get('sonar-report.html') ?? Buffer.alloc(0);
  await expect(readAll(sonarqube, fromBuffer(html.subarray(0, html.length - 60)))).rejects.toThrow(/not complete/);
});

test('states date and project of a report, also without issues', async () => {
  const report = { date: '2025-01-01', projectName: 'shop', sonarBaseURL: 'https://sonar.example.com', rules: [], issues: [] };
  expect((await readAll(sonarqube, fromBuffer(JSON.stringify(report)))).runs).toEqual([
    { finished_at: new Date('2025-01-01T00:00:00Z') },
    { asset: { type: 'repository', name: 'shop' } },
  ]);
});

test('keeps the branch or pull request of an issue, and the score of a dependency', async () => {
  const issue = (more: object) => ({ rule: 'a:b', project: 'shop', message: 'x', ...more });
  const issues = [issue({ branch: 'dev' }), issue({ pullRequest: '17' }), issue({ message: 'Filename: lib:1.0 | Reference: CVE-2021-1 | CVSS Score: 6.4' })];
  const { observations } = await readAll(sonarqube, fromBuffer(JSON.stringify({ paging: {}, issues })));
  expect(observations.map(({ asset }) => asset?.ref)).toEqual(['dev', 'pr-17', undefined]);
  expect(observations[2]?.cvss).toEqual([{ score: 6.4 }]);
});

test('states whether a response has only issues or only hotspots', async () => {
  const page = (list: string, ...records: object[]) => JSON.stringify({ paging: { pageIndex: 1, pageSize: 100, total: records.length }, [list]: records });
  const restrictions = async (text: string) => (await readAll(sonarqube, fromBuffer(text))).runs.flatMap((run) => run.restrictions ?? []);
  expect(await restrictions(page('issues'))).toEqual(['list issues']);
  expect(await restrictions(page('hotspots'))).toEqual(['list hotspots']);
  const both = `[${page('issues', { key: 'a' })},${page('hotspots', { key: 'b' })}]`;
  expect(await restrictions(both)).toEqual([]);
  expect(await restrictions(JSON.stringify({ sonarBaseURL: 'https://sonar.example.com', rules: [], issues: [] }))).toEqual([]);
});
