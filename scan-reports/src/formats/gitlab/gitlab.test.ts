import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { ReportError } from '../../contract.ts';
import { fromBuffer } from '../../shared/input.ts';
import { readAll } from '../../testing/reading.ts';
import { gitlab } from './index.ts';

const read = (name: string) => readAll(gitlab, fromBuffer(readFileSync(new URL(`fixtures/${name}`, import.meta.url)), name));

test('reads SAST reports', async () => {
  const { observations, rejections } = await read('gl-sast-report-v15.json');
  expect(rejections).toEqual([]);
  expect(observations[0]).toEqual({
    place: 'vulnerabilities[0]',
    tool: 'semgrep',
    rule: 'java_sql.injection',
    external_id: null,
    title: 'Improper neutralization of SQL',
    description: 'The query is made of input.',
    solution: 'Use parameters.',
    severity: 'high',
    tool_severity: 'High',
    vulnerability_ids: [],
    cwes: [89],
    cvss: [],
    references: ['https://rules.example.com/java_sql.injection', 'https://cwe.mitre.org/data/definitions/89.html'],
    asset: null,
    location: {
      path: 'src/main/java/shop/Orders.java',
      line: 96,
      end_line: 98,
      resource: 'shop.Orders.find',
      fingerprint: 'scope_offset_compressed:src/main/java/shop/Orders.java|Orders[0]|find[0]:4',
    },
    present: true,
    suppressed: false,
    first_seen: null,
    last_seen: new Date('2025-01-01T00:00:10Z'),
    tags: ['sast', 'flagged-as-likely-false-positive'],
  });
  expect(observations[1]).toMatchObject({ rule: 'node_username', severity: 'unknown', cwes: [798], location: { path: 'data/create.js', line: 246 } });
});

test('reads the first version, which is a list', async () => {
  expect((await read('gl-sast-report-v1.json')).observations).toMatchObject([
    {
      place: '[0]',
      tool: 'find_sec_bugs',
      rule: 'PREDICTABLE_RANDOM',
      title: 'Predictable random number generator',
      severity: 'medium',
      location: { path: 'src/App.java', line: 47 },
    },
    { tool: 'bandit', rule: 'Use of assert', severity: 'low', references: ['https://bandit.example.com/assert'], location: { path: 'python/a.py', line: 12 } },
  ]);
});

test('reads dependency and container scanning reports', async () => {
  expect((await read('gl-dependency-scanning-report.json')).observations).toMatchObject([
    {
      tool: 'gemnasium',
      rule: 'ffb814a0-404c-11eb-b378-0242ac130002',
      vulnerability_ids: ['CVE-2020-29652'],
      cvss: [{ vector: 'CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:N/I:N/A:H' }],
      asset: null,
      location: { component: 'example.org/crypto', version: 'v1.2.0', fixed_version: '1.2.3, 2.0.1', path: 'service/go.sum' },
    },
  ]);
  expect((await read('gl-container-scanning-report-v14.json')).observations).toMatchObject([
    {
      tool: 'trivy',
      rule: 'CVE-2019-3462',
      vulnerability_ids: ['CVE-2019-3462'],
      asset: {
        type: 'container_image',
        name: 'registry.example.com/shop/web@sha256:bc09fe2e0721dfaeee79364115aeedf2174cce0947b9ae5fe7c33312ee019a4e',
        identifiers: [{ kind: 'digest', value: 'sha256:bc09fe2e0721dfaeee79364115aeedf2174cce0947b9ae5fe7c33312ee019a4e' }],
      },
      location: { component: 'apt', version: '1.4.8', fixed_version: '1.4.9' },
    },
    {
      tool: 'gitlab',
      title: 'RHSA-2020:0111 in systemd-219-62.el7',
      severity: 'unknown',
      vulnerability_ids: ['RHSA-2020:0111'],
      location: { component: 'systemd', version: '219-62.el7', resource: 'default/Deployment/web/app' },
    },
  ]);
});

test('reads DAST reports without the evidence', async () => {
  const { observations } = await read('gl-dast-report.json');
  expect(observations).toMatchObject([
    {
      tool: 'zaproxy',
      rule: '10038',
      external_id: null,
      severity: 'medium',
      cwes: [16],
      vulnerability_ids: [],
      asset: { type: 'web_application', name: 'https://app.example.com:8443' },
      location: { url: 'https://app.example.com:8443/v1/tree/10', method: 'GET', parameter: 'x' },
      last_seen: new Date('2025-04-23T15:46:40.644Z'),
    },
  ]);
  expect(JSON.stringify(observations)).not.toContain('4111');
});

test('reads secret detection reports without the secrets', async () => {
  const { observations } = await read('gl-secret-detection-report.json');
  expect(observations).toMatchObject([
    {
      tool: 'gitleaks',
      rule: 'Password in URL',
      severity: 'critical',
      cwes: [798],
      description: 'Found *** in a file.\n\nCommit 0123456789abcdef',
      location: { path: 'README.md', line: 5, end_line: 5 },
    },
  ]);
  expect(JSON.stringify(observations)).not.toMatch(/not-a-real-secret|1a5d44a2dca19669/);
});

test('reads coverage and API fuzzing reports', async () => {
  expect((await read('gl-fuzzing-report.json')).observations).toMatchObject([
    {
      rule: 'CWE-129',
      cwes: [129],
      description: 'panic: runtime error',
      asset: null,
      location: { resource: 'parse.func6', fingerprint: 'Index-out-of-range parse.func6 parse Fuzz' },
    },
    {
      rule: 'status-500',
      asset: { type: 'web_application', name: 'http://api.example.com' },
      location: { url: 'http://api.example.com/users', method: 'POST' },
    },
  ]);
});

test('rejects malformed vulnerabilities and reads the rest', async () => {
  const { observations, rejections } = await read('malformed.json');
  expect(rejections).toEqual([
    { place: 'vulnerabilities[0]', reason: 'location is missing' },
    { place: 'vulnerabilities[1]', reason: 'location is missing' },
    { place: 'vulnerabilities[2]', reason: 'identifiers is missing' },
  ]);
  expect(observations).toMatchObject([{ rule: 'Whole', location: { path: 'a.js', line: 3 } }]);
});

test('accepts a report without findings and rejects a failed scan and another report', async () => {
  expect(await read('empty.json')).toMatchObject({ observations: [], rejections: [] });
  const failed = '{"version": "15.0.6", "vulnerabilities": [], "scan": {"type": "sast", "status": "failure"}}';
  await expect(readAll(gitlab, fromBuffer(failed))).rejects.toThrow(/The scan failed/);
  for (const foreign of ['{}', '', '{"auditReportVersion": 2, "vulnerabilities": {"a": {}}}', '[{"Target": "alpine"}]'])
    await expect(readAll(gitlab, fromBuffer(foreign))).rejects.toThrow(/a JSON object with version, scan and vulnerabilities/);
  await expect(readAll(gitlab, fromBuffer('<x/>'))).rejects.toThrow(ReportError);
});

test('states times, version and rules of the scan', async () => {
  const scan = {
    scanner: { id: 'semgrep', name: 'Semgrep', version: '1.90.0' },
    type: 'sast',
    status: 'success',
    start_time: '2025-01-01T00:00:00',
    end_time: '2025-01-01T00:00:10',
    primary_identifiers: [{ type: 'semgrep_id', name: 'java_sql.injection', value: 'java_sql.injection' }],
  };
  const { runs } = await readAll(gitlab, fromBuffer(JSON.stringify({ version: '15.0.6', vulnerabilities: [], scan })));
  expect(runs).toEqual([
    {
      tool_version: '1.90.0',
      started_at: new Date('2025-01-01T00:00:00Z'),
      finished_at: new Date('2025-01-01T00:00:10Z'),
      checks: ['java_sql.injection'],
      restrictions: ['scan type sast'],
    },
  ]);
});

test('a DAST report covers the applications that it requested', async () => {
  const resource = (url: string) => ({ method: 'GET', url, type: 'url' });
  const scan = { type: 'dast', scanned_resources: [resource('https://app.example.com/a'), resource('https://app.example.com/b'), resource('nothing')] };
  const { runs } = await readAll(gitlab, fromBuffer(JSON.stringify({ version: '15.0.6', vulnerabilities: [], scan })));
  expect(runs).toMatchObject([
    { restrictions: ['scan type dast'] },
    { asset: { type: 'web_application', name: 'https://app.example.com' } },
    { asset: { name: 'http://nothing' } },
  ]);
});

test('reads ecosystems from the dependency files and the operating system', async () => {
  const entry = (location: object) => ({ identifiers: [{ type: 'cve', value: 'CVE-2020-29652' }], name: 'A', location });
  const dependency = { package: { name: 'crypto' }, version: '1' };
  const report = {
    version: '15.0.6',
    vulnerabilities: [
      entry({ file: 'service/go.sum', dependency }),
      entry({ image: 'shop:1', operating_system: 'debian:10', dependency }),
      entry({ file: 'other.lock', dependency }),
      entry({ file: 'web/yarn.lock', dependency }),
      entry({ file: 'service/go.sum' }),
    ],
    dependency_files: [{ package_manager: 'go', path: 'service/go.sum', dependencies: [] }],
  };
  const { observations } = await readAll(gitlab, fromBuffer(JSON.stringify(report)));
  expect(observations.map(({ location }) => location.ecosystem)).toEqual(['golang', 'deb', undefined, 'npm', undefined]);
});
