import { describe, expect, test } from 'vitest';
import { ReportError } from '../../contract.ts';
import { detectFormat, headOf } from '../../detect.ts';
import { formats } from '../../registry.ts';
import { fromBuffer } from '../../shared/input.ts';
import { readFixtures } from '../../testing/fixtures.ts';
import { readAll } from '../../testing/reading.ts';
import { sarif } from './index.ts';

async function read(name: string) {
  const fixture = readFixtures('sarif').find((one) => one.name === name);
  return await readAll(sarif, fromBuffer(fixture?.bytes ?? '', name));
}

test('resolves everything that a result refers to, anywhere in the file', async () => {
  const { observations, rejections } = await read('references.sarif');
  expect(rejections).toEqual([]);
  const repository = { type: 'repository', name: 'https://git.example.com/team/app' };
  expect(observations).toMatchObject([
    {
      place: 'runs[0].results[0]',
      tool: 'example scan',
      rule: 'example/sql-injection',
      external_id: null,
      title: 'SQL injection',
      description: 'name comes from request[0] of {user}.\n\nA query is built from what a user sent.',
      solution: 'Use parameters.',
      severity: 'high',
      tool_severity: '8.8',
      cwes: [89, 943],
      references: ['https://scan.example.com/rules/sql-injection'],
      asset: repository,
      location: {
        path: 'src/lib/db/query builder.ts',
        line: 12,
        end_line: 14,
        resource: 'db.build',
        fingerprint: 'primaryLocationLineHash:39fa2ee980eb94b0:1',
      },
      present: true,
      suppressed: false,
      last_seen: new Date('2024-05-06T07:08:09Z'),
      tags: ['security'],
    },
    {
      rule: 'example/weak-hash',
      external_id: '5f9f6b7e-0000-4000-8000-0000000000cc',
      title: 'Weak hash',
      severity: 'medium',
      cwes: [328],
      location: { path: 'src/hash.ts', line: 3 },
      suppressed: true,
      first_seen: new Date('2024-01-02T03:04:05Z'),
    },
    {
      rule: 'EX1000/part',
      title: 'ExampleRule',
      description: 'Found by the tool.',
      severity: 'high',
      tool_severity: 'error',
      location: { path: 'src/one.ts', line: 1, fingerprint: 'stable/v1:aaa 0' },
      present: false,
      suppressed: false,
    },
    { rule: 'EX1000/part', location: { path: 'C:/other/two.ts', line: 2, fingerprint: 'stable/v1:aaa 1' }, present: false },
    { rule: 'EX1000', severity: 'info', tool_severity: 'none', description: 'Look at {{this}}.', location: { path: 'src/three.ts' } },
  ]);
});

test('reads packages and images from the texts of known scanners, and drops texts with secrets', async () => {
  const { observations, rejections } = await read('packages.sarif');
  expect(rejections).toEqual([]);
  expect(observations).toMatchObject([
    {
      tool: 'trivy',
      rule: 'CVE-2021-44228',
      severity: 'critical',
      vulnerability_ids: ['CVE-2021-44228'],
      asset: { type: 'container_image', name: 'registry.example.com/shop:1.4' },
      location: {
        component: 'org.apache.logging.log4j:log4j-core',
        version: '2.14.1',
        fixed_version: '2.15.0',
        path: 'app/log4j-core-2.14.1.jar',
        line: 1,
      },
    },
    { rule: 'aws-access-key-id', title: 'AWS Access Key ID', description: null, solution: null, location: { path: 'app/settings.py', line: 7 } },
    {
      tool: 'dependency-check',
      asset: null,
      location: { component: '@types/lodash', version: '4.17.15', purl: 'pkg:npm/%40types/lodash@4.17.15', path: '/src/web/package-lock.json' },
    },
    {
      tool: 'grype',
      severity: 'medium',
      vulnerability_ids: ['GHSA-jfh8-c2jp-5v3q'],
      location: { component: 'log4j-core', version: '2.14.1', fixed_version: '2.15.0', path: 'image/app/app.jar' },
    },
  ]);
  expect(JSON.stringify(observations)).not.toContain('HUNTER2');
});

test('reads URLs as locations in a web application', async () => {
  const { observations } = await read('web.sarif');
  expect(observations).toMatchObject([
    {
      title: 'Reflected input',
      severity: 'high',
      asset: { type: 'web_application', name: 'https://app.example.com' },
      location: { url: 'https://app.example.com/search' },
    },
    {
      rule: 'CWE-352',
      cwes: [352],
      vulnerability_ids: [],
      asset: { type: 'web_application', name: 'https://app.example.com:8443' },
      location: { url: 'https://app.example.com:8443/transfer', method: 'POST' },
    },
  ]);
});

test('rejects malformed results and reads the rest', async () => {
  const { observations, rejections } = await read('malformed.sarif');
  expect(rejections).toEqual([
    { place: 'runs[0].results[1]', reason: 'the result is not an object' },
    { place: 'runs[0].results[2]', reason: 'the result has neither a rule nor a message' },
  ]);
  expect(observations).toMatchObject([
    { place: 'runs[0].results[0]', rule: 'no-eval', title: 'eval is used.', asset: null, location: {} },
    { place: 'runs[0].results[3]', rule: 'no-eval' },
  ]);
});

test('accepts an empty report and rejects another file', async () => {
  expect(await read('empty.sarif')).toMatchObject({ observations: [], rejections: [] });
  for (const foreign of ['{"SchemaVersion":2,"Results":[]}', '[]', 'null', ''])
    await expect(readAll(sarif, fromBuffer(foreign))).rejects.toThrow('Expected a JSON object with version "2.1.0" and runs.');
  await expect(readAll(sarif, fromBuffer('<a/>'))).rejects.toThrow(ReportError);
});

test('rejects a run whose results are in other files', async () => {
  const text = JSON.stringify({ version: '2.1.0', runs: [{ externalPropertyFileReferences: { results: [{ itemCount: 3 }] } }] });
  await expect(readAll(sarif, fromBuffer(text))).rejects.toThrow('are in other files');
});

test.each(['Semgrep OSS', 'Semgrep PRO', 'semgrep'])('takes %s for the tool that its own format names', async (name) => {
  const report = fromBuffer(JSON.stringify({ version: '2.1.0', runs: [{ tool: { driver: { name } }, results: [{ ruleId: 'a', message: { text: 'b' } }] }] }));
  expect((await readAll(sarif, report)).observations).toMatchObject([{ tool: 'semgrep' }]);
  expect(await sarif.about?.(report)).toMatchObject({ tools: ['semgrep'] });
});

test.each([
  ['/language:java/', 'language:java'],
  ['shop/language:java/2026-11-16T08:00', 'shop/language:java'],
  ['nightly/20261116/42', 'nightly'],
  ['a-run', undefined],
])('tells runs of different categories apart: %s', async (id, part) => {
  const run = { tool: { driver: { name: 'Example' } }, automationDetails: { id }, results: [] };
  expect((await sarif.about?.(fromBuffer(JSON.stringify({ version: '2.1.0', runs: [run] }))))?.part).toBe(part);
});

test('a run without a list of results did not take place', async () => {
  const tool = { driver: { name: 'Example' } };
  const about = (...runs: object[]) => sarif.about?.(fromBuffer(JSON.stringify({ version: '2.1.0', runs })));
  const result = { ruleId: 'a', message: { text: 'x'.repeat(2_000_000) } };
  expect(await about({ tool, results: null })).toMatchObject({ finished: false });
  expect(await about({ tool })).toMatchObject({ finished: false });
  expect(await about({ tool, properties: { results: [] } })).toMatchObject({ finished: false });
  expect(await about({ tool, results: [] }, { tool })).toMatchObject({ finished: false });
  expect(await about({ tool, results: [] })).toMatchObject({ finished: true });
  expect(await about({ results: [result], tool, properties: { results: null } }, { tool, results: [] })).toMatchObject({ finished: true });
});

test('reports what the tool did not scan', async () => {
  const about = (invocation: object) =>
    sarif.about?.(
      fromBuffer(
        JSON.stringify({
          version: '2.1.0',
          runs: [
            {
              tool: { driver: { name: 'Example' } },
              invocations: [{ executionSuccessful: true, ...invocation }],
              results: [],
              artifacts: [{ location: { uri: 'lib/two%20words.c', uriBaseId: 'ROOT' } }],
              originalUriBaseIds: { ROOT: { uri: 'file:///home/ci/repo/' } },
            },
          ],
        }),
      ),
    );
  const at = (artifactLocation: object) => ({ physicalLocation: { artifactLocation } });
  expect(await about({})).toEqual({ tools: ['example'], finished: true, unread: [] });
  expect(await about({ executionSuccessful: false })).toMatchObject({ finished: false });
  const locations = [at({ uri: 'file:///home/ci/repo/src/a.c' }), at({ index: 0 })];
  expect(await about({ toolExecutionNotifications: [{ level: 'error', locations }] })).toEqual({
    tools: ['example'],
    finished: true,
    unread: ['src/a.c', 'lib/two words.c'],
  });
  expect(await about({ toolExecutionNotifications: [{ level: 'error' }] })).toMatchObject({ finished: false });
  expect(await about({ toolExecutionNotifications: [{ locations }, { level: 'note' }] })).toMatchObject({ finished: true, unread: [] });
  expect(await about({ toolConfigurationNotifications: [{ level: 'error', locations }] })).toMatchObject({ finished: false, unread: [] });
  expect(await about({ toolConfigurationNotifications: [{ level: 'warning' }] })).toMatchObject({ finished: true });
});

test('a run that ended with a signal or did not start is not finished, unless it says that it succeeded', async () => {
  const finished = async (...invocations: object[]) => (await sarif.about?.(runOf({ invocations })))?.finished;
  const signs = [{ exitSignalName: 'SIGKILL' }, { exitSignalNumber: 9 }, { processStartFailureMessage: 'not found' }];
  for (const sign of signs) {
    expect(await finished(sign)).toBe(false);
    expect(await finished({ ...sign, executionSuccessful: null })).toBe(false);
    expect(await finished({ ...sign, executionSuccessful: true })).toBe(true);
    expect(await finished({ executionSuccessful: true, ...sign })).toBe(true);
    expect(await finished(sign, { executionSuccessful: true })).toBe(false);
    expect(await finished({ executionSuccessful: true }, sign)).toBe(false);
  }
  expect(await finished({ exitSignalName: '', exitSignalNumber: 0, processStartFailureMessage: '' })).toBe(true);
  expect(await finished({ exitCode: 1 })).toBe(true);
});

describe('rules that the run says were disabled', () => {
  const rules = [{ id: 'A' }, { id: 'B', defaultConfiguration: { enabled: false } }, { id: 'C', defaultConfiguration: { level: 'note' } }];
  const extensions = [{ name: 'more', rules: [{ id: 'E' }, { id: 'F' }] }];
  const tool = { driver: { name: 'Example', rules }, extensions };
  const override = (descriptor: object, configuration: object) => ({ descriptor, configuration });
  const about = (...overrides: object[][]) =>
    sarif.about?.(runOf({ invocations: overrides.map((ruleConfigurationOverrides) => ({ executionSuccessful: true, ruleConfigurationOverrides })), tool }));
  const off = { enabled: false };

  test.each<[string, object[][], string[]]>([
    ['by default', [], ['B']],
    ['by id', [[override({ id: 'A' }, off)]], ['A', 'B']],
    ['by index', [[override({ index: 2 }, off)]], ['C', 'B']],
    ['by index of an extension', [[override({ index: 1, toolComponent: { index: 0 } }, off)]], ['F', 'B']],
    ['by the id of a rule that is not listed', [[override({ id: 'X' }, off)]], ['X', 'B']],
    ['by the id of a part of a rule', [[override({ id: 'A/part' }, off)]], ['A/part', 'B']],
    ['by one of several invocations', [[], [override({ id: 'A' }, off)], [override({ id: 'A' }, { level: 'error' })]], ['A', 'B']],
    ['not, because an override enables it', [[override({ id: 'B' }, { enabled: true })]], []],
    ['not, because an override configures it and does not say that it is disabled', [[override({ index: 1 }, { level: 'error' })]], []],
    ['by an override as well as by default', [[override({ id: 'B' }, off)]], ['B']],
  ])('are named: %s', async (_, overrides, skipped) => {
    const expected = skipped.length === 0 ? {} : { skipped: skipped.map((rule) => ({ rule, path: null })) };
    expect(await about(...overrides)).toEqual({ tools: ['example'], finished: true, unread: [], ...expected });
  });

  test('can be all if the file does not say which', async () => {
    expect(await about([override({ index: 7 }, off)])).toMatchObject({ finished: false });
    const many = Array.from({ length: 10_001 }, (_, index) => override({ id: `r${index}` }, off));
    expect(await about(many)).toMatchObject({ finished: false });
  });

  test('and overrides of levels count for the results of their invocation', async () => {
    const overrides = [override({ id: 'A' }, off), override({ id: 'A' }, { level: 'error' }), override({ index: 2 }, { level: 'error' })];
    const results = ['A', 'C'].map((ruleId) => ({ ruleId, message: { text: 'x' }, provenance: { invocationIndex: 0 } }));
    const { observations } = await readAll(sarif, runOf({ tool, results, invocations: [{ ruleConfigurationOverrides: overrides }] }));
    expect(observations.map(({ tool_severity }) => tool_severity)).toEqual(['error', 'error']);
  });
});

test.each([
  ['SNYK-JS-LODASH-590103', 'lodash@4.17.15', { component: 'lodash', version: '4.17.15' }, ['CVE-2020-8203', 'SNYK-JS-LODASH-590103']],
  [
    'SNYK-JS-BABELTRAVERSE-5962462',
    '@babel/traverse@7.0.0',
    { component: '@babel/traverse', version: '7.0.0' },
    ['CVE-2020-8203', 'SNYK-JS-BABELTRAVERSE-5962462'],
  ],
  ['SNYK-CC-TF-1', 'resource.aws_s3_bucket[logs]', { resource: 'resource.aws_s3_bucket[logs]' }, ['CVE-2020-8203']],
  ['javascript/Sqli', 'lodash@4.17.15', { resource: 'lodash@4.17.15' }, ['CVE-2020-8203']],
])('reads the Snyk package and id: %s at %s', async (ruleId, fullyQualifiedName, place, ids) => {
  const rule = {
    id: ruleId,
    fullDescription: { text: '(CVE-2020-8203) lodash' },
    properties: { tags: ['security', 'CWE-400', 'npm'], 'security-severity': '8.2' },
  };
  const locations = [{ physicalLocation: { artifactLocation: { uri: 'package.json' }, region: { startLine: 1 } }, logicalLocations: [{ fullyQualifiedName }] }];
  const run = { tool: { driver: { name: 'Snyk Open Source', rules: [rule] } }, results: [{ ruleId, level: 'error', message: { text: 'x' }, locations }] };
  const { observations } = await readAll(sarif, fromBuffer(JSON.stringify({ version: '2.1.0', runs: [run] })));
  expect(observations).toMatchObject([{ rule: ruleId, severity: 'high', cwes: [400], vulnerability_ids: ids }]);
  expect(observations[0]?.location).toEqual({ path: 'package.json', line: 1, ...place });
});

test('is detected by its runs if everything else comes later', async () => {
  const results = Array.from({ length: 1_000 }, (_, index) => ({ ruleId: 'r', message: { text: `number ${index} ${'x'.repeat(100)}` } }));
  const text = JSON.stringify({ runs: [{ results, tool: { driver: { name: 'Example' } } }], version: '2.1.0' });
  expect(detectFormat(formats, await headOf(fromBuffer(text)))?.id).toBe('sarif');
  expect((await readAll(sarif, fromBuffer(text))).observations).toHaveLength(1_000);
  expect(sarif.detect(await headOf(fromBuffer('{"runs":[{"distance":5}]}')))).toBe(false);
});

const runOf = (more: object, driver: object = {}) =>
  fromBuffer(JSON.stringify({ version: '2.1.0', runs: [{ tool: { driver: { name: 'Example', ...driver } }, results: [], ...more }] }));

test('states times, version and revision of the run', async () => {
  const invocations = [
    { startTimeUtc: '2025-01-01T00:00:05Z', endTimeUtc: '2025-01-01T00:00:20Z' },
    { startTimeUtc: '2025-01-01T00:00:00Z', endTimeUtc: '2025-01-01T00:00:10Z' },
  ];
  const versionControlProvenance = [{ repositoryUri: 'https://git.example.com/team/app.git', revisionId: '0123', branch: 'main' }];
  const { runs } = await readAll(sarif, runOf({ invocations, versionControlProvenance }, { version: '1', semanticVersion: '1.2.3' }));
  expect(runs).toEqual([
    { tool_version: '1.2.3', started_at: new Date('2025-01-01T00:00:00Z'), finished_at: new Date('2025-01-01T00:00:20Z') },
    { asset: { type: 'repository', name: 'https://git.example.com/team/app', commit: '0123', ref: 'main' } },
  ]);
});

test('lists the rules of tools that write all of them', async () => {
  const rules = [{ id: 'js/xss' }, { id: 'js/sql' }];
  const checks = async (input: ReturnType<typeof runOf>) => (await readAll(sarif, input)).runs[0]?.checks;
  expect(await checks(runOf({ tool: { driver: { name: 'CodeQL' }, extensions: [{ name: 'queries', rules }] } }))).toEqual(['js/xss', 'js/sql']);
  expect(await checks(runOf({}, { name: 'gitleaks', rules }))).toEqual(['js/xss', 'js/sql']);
  expect(await checks(runOf({}, { name: 'Semgrep OSS', rules }))).toBeUndefined();
  const mixed = { version: '2.1.0', runs: [{ tool: { driver: { name: 'CodeQL', rules } } }, { tool: { driver: { name: 'ESLint', version: '9' } } }] };
  expect(await checks(fromBuffer(JSON.stringify(mixed)))).toBeUndefined();
});

test('keeps the code of a result unless it is a secret', async () => {
  const physicalLocation = { artifactLocation: { uri: 'a.ts' }, region: { startLine: 1, snippet: { text: '  eval(x)\n' } } };
  const results = [{ ruleId: 'r', message: { text: 'x' }, locations: [{ physicalLocation }] }];
  const snippet = async (name: string) => (await readAll(sarif, runOf({ results }, { name }))).observations[0]?.location.snippet;
  expect(await snippet('ESLint')).toBe('eval(x)');
  expect(await snippet('gitleaks')).toBeUndefined();
});

test('keeps the reason of a suppression and the CVSS score of package scanners', async () => {
  const results = [
    {
      ruleId: 'CVE-2021-1',
      message: { text: 'Package: openssl\nInstalled Version: 1.1.1k' },
      properties: { 'security-severity': '7.5' },
      suppressions: [{ kind: 'external', justification: 'Not used.' }],
    },
  ];
  const read = async (name: string) => (await readAll(sarif, runOf({ results }, { name }))).observations[0];
  expect(await read('Trivy')).toMatchObject({
    suppressed: true,
    analysis: { detail: 'Not used.' },
    cvss: [{ score: 7.5 }],
    location: { component: 'openssl' },
  });
  expect(await read('ESLint')).toMatchObject({ severity: 'high', cvss: [] });
});

test.each([
  ['without a list', {}, []],
  ['with an empty list', { suppressions: [] }, [{ looked_for: ['suppressed'] }]],
])('a result %s of suppressions tells whether the tool looks for them', async (_, given, expected) => {
  const report = { version: '2.1.0', runs: [{ tool: { driver: { name: 'checker' } }, results: [{ ruleId: 'a', message: { text: 'a' }, ...given }] }] };
  const { runs } = await readAll(sarif, fromBuffer(JSON.stringify(report)));
  expect(runs.filter(({ looked_for }) => looked_for)).toEqual(expected);
});
