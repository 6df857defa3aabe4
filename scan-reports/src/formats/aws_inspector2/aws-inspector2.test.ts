import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { type Observation, ReportError } from '../../contract.ts';
import { fromBuffer } from '../../shared/input.ts';
import { readAll } from '../../testing/reading.ts';
import { awsInspector2 } from './index.ts';

const read = (name: string) => readAll(awsInspector2, fromBuffer(readFileSync(new URL(`fixtures/${name}`, import.meta.url)), name));

test('reads a package vulnerability with ids, scores, packages and the instance', async () => {
  const { observations, rejections } = await read('findings.json');
  expect(rejections).toEqual([]);
  expect(observations).toHaveLength(5);
  expect(observations[0]).toEqual({
    place: 'findings[0]',
    tool: 'inspector',
    rule: 'CVE-2021-44228',
    external_id: 'arn:aws:inspector2:eu-west-1:111122223333:finding/aaaa1111',
    title: 'CVE-2021-44228 - log4j-core, log4j-api',
    description: 'Remote code execution through message lookups.',
    solution: 'Update log4j-core to 2.17.1',
    severity: 'critical',
    tool_severity: 'CRITICAL',
    vulnerability_ids: ['CVE-2021-44228', 'GHSA-jfh8-c2jp-5v3q'],
    cwes: [],
    cvss: [
      { vector: 'CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:C/C:H/I:H/A:H', score: 10 },
      { vector: 'AV:N/AC:M/Au:N/C:C/I:C/A:C', score: 9.3 },
      { vector: 'CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H', score: 9.8 },
    ],
    references: ['https://nvd.nist.gov/vuln/detail/CVE-2021-44228', 'https://logging.example.org/security'],
    asset: {
      type: 'host',
      name: 'i-0123456789abcdef0',
      identifiers: [
        { kind: 'cloud_id', value: 'i-0123456789abcdef0' },
        { kind: 'ip', value: '192.0.2.10' },
        { kind: 'ip', value: '2001:db8::10' },
      ],
    },
    location: {
      component: 'org.example:log4j-core',
      version: '2.14.1',
      fixed_version: '2.17.1',
      ecosystem: 'maven',
      path: 'opt/app/lib/log4j-core-2.14.1.jar',
      resource: 'i-0123456789abcdef0',
    },
    present: true,
    suppressed: false,
    first_seen: new Date('2025-05-30T18:25:05.465Z'),
    last_seen: new Date('2025-06-05T21:26:37.322Z'),
    tags: ['PACKAGE_VULNERABILITY'],
  });
  expect(observations[1]).toMatchObject({ place: 'findings[0]', location: { component: 'org.example:log4j-api', version: '2.14.1' } });
});

test('names an image by the same tag, in whatever order AWS lists its tags', async () => {
  const nameOf = async (...imageTags: string[]) => {
    const awsEcrContainerImage = { registry: '111122223333', repositoryName: 'shop', imageTags };
    const finding = {
      findingArn: 'arn:aws:inspector2:eu-west-1:111122223333:finding/1',
      type: 'PACKAGE_VULNERABILITY',
      title: 'CVE-2021-1 - a',
      resources: [{ type: 'AWS_ECR_CONTAINER_IMAGE', id: 'a', region: 'eu-west-1', details: { awsEcrContainerImage } }],
    };
    return (await readAll(awsInspector2, fromBuffer(JSON.stringify({ findings: [finding] })))).observations[0]?.asset?.name;
  };
  expect(await nameOf('2.3.0', 'latest')).toBe('111122223333.dkr.ecr.eu-west-1.amazonaws.com/shop:2.3.0');
  expect(await nameOf('latest', '2.3.0')).toBe(await nameOf('2.3.0', 'latest'));
});

test('names an image by its reference, adds epoch and release to versions, and keeps suppression', async () => {
  const [, , image] = (await read('findings.json')).observations as [Observation, Observation, Observation];
  expect(image).toMatchObject({
    severity: 'unknown',
    tool_severity: 'UNTRIAGED',
    present: true,
    suppressed: true,
    asset: {
      type: 'container_image',
      name: '111122223333.dkr.ecr.eu-west-1.amazonaws.com/shop/web:1.4.2',
      identifiers: [
        { kind: 'digest', value: 'sha256:0f1e2d3c' },
        { kind: 'arn', value: 'arn:aws:ecr:eu-west-1:111122223333:repository/shop/web/sha256:0f1e2d3c' },
      ],
    },
    location: { component: 'openssl', version: '1:1.1.1n-0+deb11u3', fixed_version: '1:1.1.1n-0+deb11u4, 1.1.1n-0+deb11u5' },
  });
});

test('reads reachable ports and code vulnerabilities', async () => {
  const [, , , port, code] = (await read('findings.json')).observations;
  expect(port).toMatchObject({
    rule: 'NETWORK_REACHABILITY',
    severity: 'medium',
    present: false,
    asset: { type: 'host', name: 'i-0fedcba9876543210' },
    location: { port: 22, protocol: 'tcp' },
  });
  expect(code).toMatchObject({
    rule: 'python-os-command-injection',
    cwes: [78, 88],
    solution: 'Pass a list of arguments.',
    references: ['https://docs.example.com/fix'],
    asset: { type: 'cloud_resource', name: 'arn:aws:lambda:eu-west-1:111122223333:function:orders:$LATEST' },
    location: { path: 'src/handler.py', line: 12, end_line: 14 },
  });
});

test('reads a plain array and an EventBridge event', async () => {
  const { observations } = await read('array.json');
  expect(observations).toMatchObject([
    { place: '[0]', vulnerability_ids: ['CVE-2022-0778'], asset: { type: 'repository', name: 'shop/web' }, present: true },
    { place: '[1]', title: 'CVE-2020-1971', severity: 'low', asset: null, location: { component: 'openssl', version: '1.0.2k' } },
  ]);
  expect((await read('event.json')).observations).toMatchObject([{ place: 'detail', rule: 'CVE-2021-3711', asset: { type: 'host', name: 'vm-1' } }]);
});

test('rejects malformed findings and reads the rest', async () => {
  const { observations, rejections } = await read('malformed.json');
  expect(rejections).toEqual([
    { place: 'findings[0]', reason: 'findingArn is missing' },
    { place: 'findings[1]', reason: 'findingArn is missing' },
  ]);
  expect(observations.map(({ external_id }) => external_id)).toEqual(['arn:aws:inspector2:eu-west-1:111122223333:finding/9999']);
});

test('accepts a report without findings and rejects another report', async () => {
  expect(await read('empty.json')).toMatchObject({ observations: [], rejections: [] });
  for (const foreign of ['{}', '{"SchemaVersion": 2, "Results": []}', '{"findings": [{"ProductArn": "arn:x", "Id": "1"}]}'])
    await expect(readAll(awsInspector2, fromBuffer(foreign))).rejects.toThrow(/findings, each with findingArn/);
  await expect(readAll(awsInspector2, fromBuffer('<xml/>'))).rejects.toThrow(ReportError);
});

test('has one observation per resource and package, with EPSS, exploit, fix, ecosystem and layer', async () => {
  const pack = (name: string, version: string, more: object = {}) => ({ name, version, packageManager: 'NPM', ...more });
  const finding = {
    findingArn: 'arn:aws:inspector2:eu-west-1:111122223333:finding/1',
    type: 'PACKAGE_VULNERABILITY',
    title: 'CVE-2021-23337 - lodash',
    severity: 'HIGH',
    epss: { score: 0.00075 },
    exploitAvailable: 'YES',
    fixAvailable: 'NO',
    resources: [
      { id: 'arn:aws:lambda:eu-west-1:111122223333:function:a', type: 'AWS_LAMBDA_FUNCTION' },
      { id: 'arn:aws:lambda:eu-west-1:111122223333:function:b', type: 'AWS_LAMBDA_FUNCTION' },
    ],
    packageVulnerabilityDetails: {
      vulnerabilityId: 'CVE-2021-23337',
      cvss: [{ baseScore: 7.2, version: '3.1' }],
      vulnerablePackages: [
        pack('lodash', '4.17.15', { filePath: 'a/package.json', sourceLayerHash: 'sha256:1', fixedInVersion: '4.17.21' }),
        pack('lodash', '4.17.15', { filePath: 'b/package.json' }),
        pack('lodash', '4.17.15', { filePath: 'b/package.json' }),
      ],
    },
  };
  const { observations } = await readAll(awsInspector2, fromBuffer(JSON.stringify({ findings: [finding] })));
  expect(observations.map(({ asset, location }) => [asset?.name.at(-1), location.path])).toEqual([
    ['a', 'a/package.json'],
    ['a', 'b/package.json'],
    ['b', 'a/package.json'],
    ['b', 'b/package.json'],
  ]);
  expect(observations[0]).toMatchObject({
    epss: { score: 0.00075 },
    exploit_maturity: 'proof_of_concept',
    fix_state: 'not_available',
    cvss: [{ score: 7.2, version: '3.1' }],
    location: { component: 'lodash', ecosystem: 'npm', layer: 'sha256:1', fixed_version: '4.17.21' },
  });
});

test('reads the ecosystem of system packages from the platform', async () => {
  const finding = {
    findingArn: 'arn:aws:inspector2:eu-west-1:111122223333:finding/1',
    title: 'CVE-2021-1',
    resources: [{ id: 'i-1', type: 'AWS_EC2_INSTANCE', details: { awsEc2Instance: { platform: 'AMAZON_LINUX_2' } } }],
    packageVulnerabilityDetails: { vulnerabilityId: 'CVE-2021-1', vulnerablePackages: [{ name: 'openssl', packageManager: 'OS' }] },
  };
  const { observations } = await readAll(awsInspector2, fromBuffer(JSON.stringify({ findings: [finding] })));
  expect(observations[0]?.location).toMatchObject({ component: 'openssl', ecosystem: 'rpm' });
});
