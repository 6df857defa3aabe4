import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { fromBuffer } from '../../shared/input.ts';
import { readAll } from '../../testing/reading.ts';
import { rrsNdjson } from './index.ts';

const read = (name: string) => readAll(rrsNdjson, fromBuffer(readFileSync(new URL(`fixtures/${name}`, import.meta.url)), name));

test('reads everything that identifies and describes a finding', async () => {
  const { observations, rejections } = await read('findings.ndjson');
  expect(rejections).toEqual([]);
  expect(observations[0]).toEqual({
    place: 'line 1',
    tool: 'trivy',
    rule: 'CVE-2021-44228',
    external_id: '0199a000-0000-7000-8000-000000000001',
    title: 'Apache Log4j2 JNDI features',
    description: 'JNDI features\ncan be abused.',
    solution: 'Update to 2.17.1.',
    severity: 'critical',
    tool_severity: null,
    vulnerability_ids: ['CVE-2021-44228', 'GHSA-jfh8-c2jp-5v3q'],
    cwes: [502, 20],
    cvss: [{ vector: 'CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:C/C:H/I:H/A:H', score: 10 }],
    references: ['https://logging.apache.org/security.html'],
    asset: { type: 'container_image', name: 'registry.example.com/shop:1.4', stated: { id: '0199a000-0000-7000-8000-0000000000aa' } },
    location: {
      component: 'org.apache.logging.log4j:log4j-core',
      version: '2.14.1',
      fixed_version: '2.17.1',
      purl: 'pkg:maven/org.apache.logging.log4j/log4j-core@2.14.1',
      path: 'app/lib/log4j-core.jar',
    },
    present: true,
    suppressed: false,
    first_seen: new Date('2026-10-01T00:00:00Z'),
    last_seen: new Date('2026-11-01T00:00:00Z'),
    tags: ['payments'],
    epss: { score: 0.94, percentile: 0.999, date: '2026-11-14' },
    known_exploited: true,
    fix_published_date: '2021-12-10',
  });
});

test('keeps the weakness that identifies the finding', async () => {
  const { observations } = await read('findings.ndjson');
  expect(observations.map(({ tool, rule, vulnerability_ids }) => [tool, rule, vulnerability_ids])).toEqual([
    ['trivy', 'CVE-2021-44228', ['CVE-2021-44228', 'GHSA-jfh8-c2jp-5v3q']],
    ['semgrep', 'python.lang.eval', []],
    ['trivy', null, ['CVE-2020-0001', 'CVE-2020-0002']],
    ['trivy', 'SNYK-JAVA-LOG4J-1', ['CVE-2020-0003', 'GHSA-2345-6789-cfgh']],
    ['nessus', '12345', ['CVE-2019-0001', 'CVE-2019-0002']],
    ['zap', '10020', []],
    ['trivy', null, ['RHSA-2020:0111']],
  ]);
});

test('keeps the version of a score without a vector', async () => {
  expect((await read('findings.ndjson')).observations[3]?.cvss).toEqual([{ score: 7.5, version: '3.1' }]);
});

test('keeps what people decided', async () => {
  const { observations } = await read('findings.ndjson');
  expect(observations.map(({ present, suppressed, analysis }) => [present, suppressed, analysis])).toEqual([
    [true, false, undefined],
    [true, true, { state: 'not_affected', justification: 'code_not_reachable', detail: 'Dead code' }],
    [true, true, { state: 'exploitable', response: 'will_not_fix', detail: 'Not used' }],
    [true, false, undefined],
    [false, false, undefined],
    [true, true, undefined],
    [true, false, undefined],
  ]);
  expect(observations[1]?.location).toEqual({ path: 'src/a.py', line: 7, end_line: 9, fingerprint: 'abc' });
});

test('rejects single lines and other files', async () => {
  expect((await read('malformed.ndjson')).rejections).toEqual([
    { place: 'line 2', reason: 'title is missing' },
    { place: 'line 3', reason: 'the record is not an object' },
    { place: 'line 4', reason: 'the record is not valid JSON' },
  ]);
  for (const foreign of ['', '[]', '{}', '{"title":"a","severity":"low"}\n{"title":"b","severity":"low"}'])
    await expect(readAll(rrsNdjson, fromBuffer(foreign)), foreign).rejects.toThrow('Expected an NDJSON export');
});
