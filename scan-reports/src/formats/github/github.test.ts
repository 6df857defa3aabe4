import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { ReportError } from '../../contract.ts';
import { fromBuffer } from '../../shared/input.ts';
import { readAll } from '../../testing/reading.ts';
import { github } from './index.ts';

const read = (name: string) => readAll(github, fromBuffer(readFileSync(new URL(`fixtures/${name}`, import.meta.url)), name));

test('reads Dependabot alerts from the REST API', async () => {
  const { observations, rejections } = await read('dependabot.json');
  expect(rejections).toEqual([]);
  expect(observations[0]).toEqual({
    place: '[0]',
    tool: 'dependabot',
    rule: 'GHSA-2qrg-x229-3v8q',
    external_id: 'https://github.com/example/shop/security/dependabot/7',
    title: 'Deserialization of untrusted data',
    description: 'Long text.',
    solution: null,
    severity: 'critical',
    tool_severity: 'critical',
    vulnerability_ids: ['CVE-2019-17571', 'GHSA-2qrg-x229-3v8q'],
    cwes: [502],
    cvss: [{ vector: 'CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H', score: 9.8 }],
    references: ['https://nvd.nist.gov/vuln/detail/CVE-2019-17571'],
    asset: { type: 'repository', name: 'https://github.com/example/shop' },
    location: { component: 'left-lib', fixed_version: '2.0.2', ecosystem: 'npm', path: 'web/package-lock.json' },
    present: true,
    suppressed: false,
    first_seen: new Date('2025-01-02T03:04:05Z'),
    last_seen: null,
    tags: ['npm', 'runtime'],
    fix_state: 'available',
  });
  expect(observations.slice(1)).toMatchObject([
    {
      external_id: 'https://api.github.com/repos/example/api/dependabot/alerts/8',
      severity: 'medium',
      vulnerability_ids: ['GHSA-f6jp-j6w3-w9hm'],
      asset: { name: 'https://github.com/example/api' },
      present: true,
      suppressed: true,
      tags: ['pip', 'development', 'tolerable_risk'],
    },
    { external_id: 'https://github.com/example/shop/security/dependabot/9', present: false, suppressed: false, location: { component: 'example.org/mod' } },
  ]);
});

test('reads the same alerts from the GraphQL API', async () => {
  const { observations } = await read('graphql-repository.json');
  expect(observations).toMatchObject([
    {
      place: 'data.repository.vulnerabilityAlerts.nodes[0]',
      rule: 'GHSA-2qrg-x229-3v8q',
      external_id: 'https://github.com/example/shop/security/dependabot/7',
      severity: 'medium',
      tool_severity: 'MODERATE',
      vulnerability_ids: ['CVE-2019-17571', 'GHSA-2qrg-x229-3v8q'],
      cwes: [1321],
      cvss: [{ vector: 'CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:N/I:L/A:L', score: 6.5 }],
      asset: { type: 'repository', name: 'https://github.com/example/shop' },
      location: { component: 'left-lib', version: '1.5.0', fixed_version: '2.0.2', path: 'web/package-lock.json' },
      present: true,
      suppressed: false,
      tags: ['npm', 'runtime'],
    },
    { external_id: 'https://github.com/example/shop/security/dependabot/8', rule: 'GHSA-f6jp-j6w3-w9hm', location: { path: 'package.json' }, suppressed: true },
  ]);
  expect(observations[1]?.location).not.toHaveProperty('version');
});

test('reads alerts of several repositories without a state', async () => {
  expect((await read('graphql-search.json')).observations).toMatchObject([
    { external_id: 'RVA_example3', rule: 'CVE-2020-0001', asset: { name: 'shop' }, severity: 'high', present: true, suppressed: true },
    { external_id: 'RVA_example4', rule: 'Second', asset: { name: 'api' }, severity: 'critical', present: false, suppressed: false },
  ]);
});

test('reads several pages in one file', async () => {
  const page = { data: { repository: { url: 'https://github.com/example/shop', vulnerabilityAlerts: { nodes: [alert(1), alert(2)] } } } };
  const single = JSON.stringify(page);
  for (const text of [`${single}\n${single}\n`, `[${single},${single}]`]) {
    const { observations } = await readAll(github, fromBuffer(text));
    expect(observations.map(({ asset }) => asset?.name)).toEqual(Array(4).fill('https://github.com/example/shop'));
  }
  const rest = { state: 'open', secret_type: 'example_token', html_url: 'https://github.com/example/shop/security/secret-scanning/1' };
  for (const text of [`[[${JSON.stringify(rest)}],[${JSON.stringify(rest)}]]`, `${JSON.stringify(rest)}\n${JSON.stringify(rest)}\n`])
    expect((await readAll(github, fromBuffer(text))).observations).toHaveLength(2);
});

function alert(number: number) {
  return { number, securityVulnerability: { severity: 'LOW', package: { name: 'lib' }, advisory: { summary: 'Slow' } } };
}

test('reads code scanning alerts', async () => {
  expect((await read('code-scanning.json')).observations).toMatchObject([
    {
      tool: 'codeql',
      rule: 'js/sql-injection',
      external_id: 'https://github.com/example/shop/security/code-scanning/35',
      title: 'Database query built from user-controlled sources',
      description: 'This query depends on a user-provided value.\n\nBuilding a query from input lets an attacker change it.',
      severity: 'critical',
      cwes: [89, 943],
      references: ['https://codeql.example.com/js/sql-injection'],
      asset: { type: 'repository', name: 'https://github.com/example/shop' },
      location: { path: 'src/orders.js', line: 42, end_line: 44 },
      present: true,
      suppressed: false,
      tags: ['security'],
    },
    { severity: 'low', tool_severity: 'note', present: true, suppressed: true, tags: ['false positive'] },
    { tool: 'trivy', severity: 'medium', vulnerability_ids: ['CVE-2021-44228'], present: false },
  ]);
});

test('reads secret scanning alerts without the secrets', async () => {
  const { observations, rejections } = await read('secret-scanning.json');
  expect(observations).toMatchObject([
    {
      tool: 'github secret scanning',
      rule: 'example_api_key',
      external_id: 'https://github.com/example/shop/security/secret-scanning/2',
      title: 'Example API Key',
      severity: 'critical',
      cwes: [798],
      location: { path: 'config/settings.env', line: 3, end_line: 3 },
      present: true,
      suppressed: false,
      tags: ['secret', 'Example'],
    },
    { rule: 'example_token', severity: 'info', present: true, suppressed: true },
    { severity: 'info', present: false, suppressed: false },
    { severity: 'low', present: true },
  ]);
  expect(JSON.stringify([observations, rejections])).not.toContain('not-a-real-secret');
});

test('rejects malformed alerts and reads the rest', async () => {
  const { observations, rejections } = await read('malformed.json');
  expect(rejections).toEqual([
    { place: '[0]', reason: 'the package name is missing' },
    { place: '[1]', reason: 'the record is not a Dependabot, code scanning or secret scanning alert' },
    { place: '[2]', reason: 'rule.id is missing' },
    { place: '[3]', reason: 'secret_type is missing' },
  ]);
  expect(observations).toMatchObject([{ title: 'GHSA-4wrc-f8pq-fpqp', severity: 'high', location: { component: 'left-lib' } }]);
});

test('accepts an empty list and rejects another report', async () => {
  for (const name of ['empty.json', 'graphql-empty.json']) expect(await read(name)).toMatchObject({ observations: [], rejections: [] });
  for (const foreign of ['{}', '{"data": null, "errors": []}', '[{"Target": "alpine"}]'])
    await expect(readAll(github, fromBuffer(foreign))).rejects.toThrow(/a JSON array of Dependabot/);
  await expect(readAll(github, fromBuffer('<x/>'))).rejects.toThrow(ReportError);
});

test('keeps branch and commit of a code scanning alert', async () => {
  const alert = {
    html_url: 'https://github.com/acme/shop/security/code-scanning/1',
    state: 'open',
    rule: { id: 'js/xss' },
    tool: { name: 'CodeQL' },
    most_recent_instance: { ref: 'refs/heads/main', commit_sha: '0123', location: { path: 'a.js' } },
  };
  const { observations } = await readAll(github, fromBuffer(JSON.stringify([alert])));
  expect(observations[0]?.asset).toEqual({ type: 'repository', name: 'https://github.com/acme/shop', ref: 'refs/heads/main', commit: '0123' });
});

test('keeps EPSS, ecosystem, malware and scores without a vector of Dependabot alerts', async () => {
  const alert = {
    dependency: { package: { name: 'evil-pad', ecosystem: 'pip' } },
    security_advisory: {
      ghsa_id: 'GHSA-2222-3333-4444',
      summary: 'A',
      classification: 'malware',
      epss: { percentage: 0.00212, percentile: 0.44035 },
      cvss: { score: 9.8, vector_string: null },
    },
    security_vulnerability: {},
  };
  expect((await readAll(github, fromBuffer(JSON.stringify([alert])))).observations).toMatchObject([
    { epss: { score: 0.00212, percentile: 0.44035 }, malicious: true, cvss: [{ score: 9.8 }], location: { ecosystem: 'pypi' } },
  ]);
});

test('a GraphQL response covers repositories without alerts', async () => {
  const repository = { url: 'https://github.com/acme/shop', name: 'shop', vulnerabilityAlerts: { totalCount: 0, nodes: [] } };
  expect((await readAll(github, fromBuffer(JSON.stringify({ data: { repository } })))).runs).toEqual([
    { asset: { type: 'repository', name: 'https://github.com/acme/shop' } },
  ]);
});

test('states the tool of code scanning alerts if it is the only one', async () => {
  const alert = (tool: string) => ({ number: 1, state: 'open', rule: { id: 'a' }, tool: { name: tool }, most_recent_instance: { location: { path: 'a.js' } } });
  const runs = async (...tools: string[]) => (await readAll(github, fromBuffer(JSON.stringify(tools.map(alert))))).runs;
  expect(await runs('CodeQL', 'CodeQL')).toEqual([{ restrictions: ['tool codeql'] }]);
  expect(await runs('CodeQL', 'Semgrep OSS')).toEqual([]);
});
