import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { fromBuffer } from '../../shared/input.ts';
import { readAll } from '../../testing/reading.ts';
import { dependencyCheck } from './index.ts';

const fixture = (name: string) => fromBuffer(readFileSync(new URL(`./fixtures/${name}`, import.meta.url)), name);

test('XML: reads a vulnerability of a library inside an archive', async () => {
  const { observations, rejections } = await readAll(dependencyCheck, fixture('v4.xml'));
  expect(rejections).toEqual([]);
  expect(observations).toHaveLength(4);
  expect(observations[0]).toEqual({
    place: 'dependencies[1]/dependency[2]/vulnerabilities[1]/vulnerability[1]',
    tool: 'dependency-check',
    rule: 'CVE-2021-44228',
    external_id: null,
    title: 'CVE-2021-44228 in org.apache.logging.log4j:log4j-core',
    description: 'A lookup may load remote code.\n\nFile: /home/build/shop.war/WEB-INF/lib/log4j-core-2.14.1.jar\n\nAlso in:\n/home/build/log4j-api-2.14.1.jar',
    solution: null,
    severity: 'critical',
    tool_severity: 'CRITICAL',
    vulnerability_ids: ['CVE-2021-44228'],
    cwes: [20, 502],
    cvss: [
      { vector: 'CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:C/C:H/I:H/A:H', score: 10 },
      { vector: 'AV:N/AC:M/Au:N/C:C/I:C/A:C', score: 9.3 },
    ],
    references: ['https://logging.example.org/security'],
    asset: { type: 'repository', name: 'Example Shop', version: '3.1' },
    location: {
      component: 'org.apache.logging.log4j:log4j-core',
      version: '2.14.1',
      fixed_version: '2.15.0',
      purl: 'pkg:maven/org.apache.logging.log4j/log4j-core@2.14.1',
      path: 'shop.war: log4j-core-2.14.1.jar',
    },
    present: true,
    suppressed: false,
    first_seen: null,
    last_seen: new Date('2025-01-15T14:31:13.042Z'),
    tags: ['NVD'],
  });
});

test('XML: reads suppressed vulnerabilities, npm numbers and OSS Index weaknesses', async () => {
  const { observations } = await readAll(dependencyCheck, fixture('v4.xml'));
  expect(observations[1]).toMatchObject({
    place: 'dependencies[1]/dependency[2]/vulnerabilities[1]/suppressedVulnerability[1]',
    rule: 'CVE-2019-7238',
    severity: 'critical',
    cwes: [],
    cvss: [{ score: 9.8, version: '3.1' }],
    present: true,
    suppressed: true,
  });
  expect(observations[1]?.description).toContain('Notes: False match.');
  expect(observations[2]).toMatchObject({
    rule: '1500',
    severity: 'low',
    vulnerability_ids: [],
    location: { component: '@example/parser', version: '5.0.0', path: '@example/parser:5.0.0' },
  });
  expect(observations[3]).toMatchObject({
    severity: 'high',
    tool_severity: '8.7',
    vulnerability_ids: [],
    cwes: [400],
    cvss: [{ vector: 'CVSS:4.0/AV:N/AC:L/AT:N/PR:N/UI:N/VC:N/VI:N/VA:H/SC:N/SI:N/SA:N', score: 8.7 }],
  });
});

test('XML: reads the first versions and rejects a malformed record', async () => {
  const { observations, rejections } = await readAll(dependencyCheck, fixture('v1-malformed.xml'));
  expect(rejections).toEqual([{ place: 'dependencies[1]/dependency[1]/vulnerabilities[1]/vulnerability[1]', reason: 'name is missing' }]);
  expect(observations).toHaveLength(2);
  expect(observations[0]).toMatchObject({
    rule: 'CVE-2016-0001',
    severity: 'medium',
    tool_severity: 'Moderate',
    cwes: [79],
    cvss: [{ vector: 'AV:N/AC:L/Au:N/C:P/I:P/A:P', score: 7.5 }],
    asset: null,
    location: { component: 'org.example:library', version: '6.7.8', path: 'library.dll' },
    last_seen: new Date('2016-11-05T18:52:15.748Z'),
  });
  expect(observations[1]).toMatchObject({
    rule: 'jquery issue: 162',
    severity: 'medium',
    tool_severity: '5',
    vulnerability_ids: [],
    location: { component: 'jquery', version: '1.8.0', path: 'jquery.js' },
  });
});

test('JSON: reads vulnerabilities and rejects malformed records', async () => {
  const { observations, rejections } = await readAll(dependencyCheck, fixture('report.json'));
  expect(rejections).toEqual([
    { place: 'dependencies[1].vulnerabilities[1]', reason: 'name is missing' },
    { place: 'dependencies[1].vulnerabilities[2]', reason: 'the record is not an object' },
  ]);
  expect(observations).toHaveLength(4);
  expect(observations.map(({ place, location }) => [place, location.path])).toEqual([
    ['dependencies[1].vulnerabilities[0]', 'lodash:4.17.20'],
    ['dependencies[1].vulnerabilities[0]', '/home/build/web/package-lock.json?lodash'],
    ['dependencies[1].suppressedVulnerabilities[0]', 'lodash:4.17.20'],
    ['dependencies[1].suppressedVulnerabilities[0]', '/home/build/web/package-lock.json?lodash'],
  ]);
  expect(observations[0]).toMatchObject({
    place: 'dependencies[1].vulnerabilities[0]',
    rule: 'CVE-2021-23337',
    severity: 'high',
    cwes: [94],
    cvss: [
      { vector: 'CVSS:3.0/AV:N/AC:L/PR:H/UI:N/S:U/C:H/I:H/A:H', score: 7.2 },
      { vector: 'AV:N/AC:L/Au:S/C:P/I:P/A:P', score: 6.5 },
    ],
    references: ['https://git.example.com/lodash'],
    asset: { type: 'repository', name: 'com.example:shop' },
    location: { component: 'lodash', version: '4.17.20', fixed_version: '4.17.21', purl: 'pkg:npm/lodash@4.17.20', path: 'lodash:4.17.20' },
    last_seen: new Date('2025-01-15T14:31:13.042Z'),
  });
  expect(observations[2]).toMatchObject({
    place: 'dependencies[1].suppressedVulnerabilities[0]',
    vulnerability_ids: ['GHSA-29mw-wpgm-hmr9'],
    severity: 'unknown',
    suppressed: true,
  });
});

test('accepts a report without vulnerabilities and rejects other files', async () => {
  for (const name of ['empty.xml', 'empty.json']) expect(await readAll(dependencyCheck, fixture(name))).toMatchObject({ observations: [], rejections: [] });
  for (const foreign of ['<analysis xmlns="http://example.com/a"/>', '<bom/>', '{"dependencies":[],"vulnerabilities":[]}', '[]', ''])
    await expect(readAll(dependencyCheck, fromBuffer(foreign))).rejects.toThrow('Expected XML with the root element analysis in a Dependency-Check namespace');
});

test('a failed analyzer makes the report unfinished', async () => {
  const json = (scanInfo: object) => JSON.stringify({ reportSchema: '1.1', scanInfo, projectInfo: {}, dependencies: [] });
  const xml = (scanInfo: string) =>
    `<analysis xmlns="https://jeremylong.github.io/DependencyCheck/dependency-check.2.5.xsd"><scanInfo>${scanInfo}</scanInfo><dependencies/></analysis>`;
  const finished = async (text: string) => (await dependencyCheck.about?.(fromBuffer(text)))?.finished;
  expect(await finished(json({ engineVersion: '9' }))).toBe(true);
  expect(await finished(json({ analysisExceptions: [{ exception: { message: 'no connection' } }] }))).toBe(false);
  expect(await finished(xml('<engineVersion>9</engineVersion>'))).toBe(true);
  expect(await finished(xml('<analysisExceptions><exception><message>no connection</message></exception></analysisExceptions>'))).toBe(false);
});

test('states engine, date, NVD data and project of the run, also without vulnerabilities', async () => {
  const facts = {
    tool_version: '12.1.0',
    finished_at: new Date('2025-01-15T14:31:13Z'),
    knowledge_at: new Date('2025-01-15T10:00:00Z'),
    looked_for: ['suppressed'],
  };
  const asset = { type: 'repository', name: 'Example' };
  const dataSource = [
    { name: 'NVD API Last Checked', timestamp: '2025-01-15T14:00:00Z' },
    { name: 'NVD API Last Modified', timestamp: '2025-01-15T10:00:00Z' },
  ];
  const json = {
    reportSchema: '1.1',
    scanInfo: { engineVersion: '12.1.0', dataSource },
    projectInfo: { name: 'Example', reportDate: '2025-01-15T14:31:13Z' },
    dependencies: [{ fileName: 'a.jar' }],
  };
  expect((await readAll(dependencyCheck, fromBuffer(JSON.stringify(json)))).runs).toEqual([facts, { asset }]);
  const sources = dataSource.map(({ name, timestamp }) => `<dataSource><name>${name}</name><timestamp>${timestamp}</timestamp></dataSource>`);
  const xml = `<analysis xmlns="https://jeremylong.github.io/DependencyCheck/dependency-check.4.1.xsd"><scanInfo><engineVersion>12.1.0</engineVersion>${sources.join('')}</scanInfo>
    <projectInfo><name>Example</name><reportDate>2025-01-15T14:31:13Z</reportDate></projectInfo><dependencies><dependency><fileName>a.jar</fileName></dependency></dependencies></analysis>`;
  expect((await readAll(dependencyCheck, fromBuffer(xml))).runs).toEqual([facts, { asset }]);
});

test('keeps known exploitation and scores without metrics', async () => {
  const vulnerabilities = [{ name: 'CVE-2021-1', cvssv3: { baseScore: 9.8 }, knownExploitedVulnerability: { cveID: 'CVE-2021-1' } }];
  const json = { reportSchema: '1.1', scanInfo: {}, projectInfo: {}, dependencies: [{ fileName: 'a.jar', vulnerabilities }] };
  expect((await readAll(dependencyCheck, fromBuffer(JSON.stringify(json)))).observations).toMatchObject([
    { known_exploited: true, cvss: [{ score: 9.8, version: '3.1' }] },
  ]);
});

test('retire.js is a tool of its own, and lists only vulnerable dependencies', async () => {
  const report = (credits: string) =>
    fromBuffer(`<analysis xmlns="https://jeremylong.github.io/DependencyCheck/dependency-check.2.3.xsd"><scanInfo/>
      <projectInfo><name>shop</name><reportDate>2025-01-15T14:31:13Z</reportDate><credits>${credits}</credits></projectInfo><dependencies/></analysis>`);
  const unfinished = async (credits: string) => (await readAll(dependencyCheck, report(credits))).runs.some((run) => run.unfinished);
  expect(await dependencyCheck.about?.(report('retire.js'))).toMatchObject({ tools: ['retire.js'] });
  expect(await unfinished('retire.js')).toBe(false);
  expect(await dependencyCheck.about?.(report('This report contains data of the NVD'))).toMatchObject({ tools: null });
  expect(await unfinished('This report contains data of the NVD')).toBe(true);
});
