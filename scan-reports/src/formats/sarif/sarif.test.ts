import { expect, test } from 'vitest';
import { ReportError } from '../../contract.ts';
import { fromBuffer } from '../../input.ts';
import { readAll } from '../../testing.ts';
import { readFixtures } from '../../testing-fixtures.ts';
import { sarif } from './index.ts';

async function read(name: string) {
  const fixture = readFixtures('sarif').find((one) => one.name === name);
  return await readAll(sarif, fromBuffer(fixture?.bytes ?? '', name));
}

test('resolves everything that a result may refer to, wherever it stands in the file', async () => {
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

test('knows packages and images of scanners that say them in their texts, and keeps secrets out', async () => {
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

test('takes addresses as places in a web application', async () => {
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

test('refuses single results by name and reads the others', async () => {
  const { observations, rejections } = await read('malformed.sarif');
  expect(rejections).toEqual([
    { place: 'runs[0].results[1]', reason: 'the result is no object' },
    { place: 'runs[0].results[2]', reason: 'the result has neither a rule nor a message' },
  ]);
  expect(observations).toMatchObject([
    { place: 'runs[0].results[0]', rule: 'no-eval', title: 'eval is used.', asset: null, location: {} },
    { place: 'runs[0].results[3]', rule: 'no-eval' },
  ]);
});

test('an empty report has nothing, another file is refused', async () => {
  expect(await read('empty.sarif')).toEqual({ observations: [], rejections: [] });
  for (const foreign of ['{"SchemaVersion":2,"Results":[]}', '[]', 'null', ''])
    await expect(readAll(sarif, fromBuffer(foreign))).rejects.toThrow('a JSON object with version "2.1.0" and runs was expected');
  await expect(readAll(sarif, fromBuffer('<a/>'))).rejects.toThrow(ReportError);
});

test('a run whose results stand in other files is not an empty one', async () => {
  const text = JSON.stringify({ version: '2.1.0', runs: [{ externalPropertyFileReferences: { results: [{ itemCount: 3 }] } }] });
  await expect(readAll(sarif, fromBuffer(text))).rejects.toThrow('stand in other files');
});
