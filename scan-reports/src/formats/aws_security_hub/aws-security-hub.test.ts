import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { ReportError } from '../../contract.ts';
import { detectFormat, headOf } from '../../detect.ts';
import { fromBuffer } from '../../shared/input.ts';
import { readAll } from '../../testing/reading.ts';
import { awsInspector2 } from '../aws_inspector2/index.ts';
import { awsSecurityHub } from './index.ts';

const fixture = (name: string) => fromBuffer(readFileSync(new URL(`fixtures/${name}`, import.meta.url)), name);
const read = (name: string) => readAll(awsSecurityHub, fixture(name));

test('reads a vulnerability with ids, package, instance and further resources', async () => {
  const { observations, rejections } = await read('get-findings.json');
  expect(rejections).toEqual([]);
  expect(observations[0]).toEqual({
    place: 'Findings[0]',
    tool: 'inspector',
    rule: 'CVE-2021-44228',
    external_id: 'arn:aws:inspector2:eu-west-1:111122223333:finding/aaaa1111',
    title: 'CVE-2021-44228 - org.example:log4j-core',
    description: 'Remote code execution through message lookups.\n\nFurther resources: arn:aws:ec2:eu-west-1:111122223333:security-group/sg-1',
    solution: 'Update log4j-core.',
    severity: 'critical',
    tool_severity: 'CRITICAL',
    vulnerability_ids: ['CVE-2021-44228', 'GHSA-jfh8-c2jp-5v3q'],
    cwes: [],
    cvss: [{ vector: 'CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:C/C:H/I:H/A:H', score: 10 }],
    references: ['https://docs.example.com/update', 'https://nvd.nist.gov/vuln/detail/CVE-2021-44228', 'https://logging.example.org/security'],
    asset: {
      type: 'host',
      name: 'i-0123456789abcdef0',
      identifiers: [
        { kind: 'cloud_id', value: 'i-0123456789abcdef0' },
        { kind: 'arn', value: 'arn:aws:ec2:eu-west-1:111122223333:instance/i-0123456789abcdef0' },
        { kind: 'ip', value: '192.0.2.10' },
      ],
    },
    location: {
      component: 'org.example:log4j-core',
      version: '2.14.1',
      fixed_version: '2.17.1',
      ecosystem: 'maven',
      path: '/opt/app/lib/log4j-core-2.14.1.jar',
      resource: 'arn:aws:ec2:eu-west-1:111122223333:instance/i-0123456789abcdef0',
    },
    present: true,
    suppressed: false,
    first_seen: new Date('2025-05-30T18:25:05Z'),
    last_seen: new Date('2025-06-05T21:26:37Z'),
    tags: ['Software and Configuration Checks/Vulnerabilities/CVE', 'AwsEc2Instance'],
  });
});

test('passed controls and archived findings are not present, suppressed findings are', async () => {
  const [, control, image, code] = (await read('get-findings.json')).observations;
  expect(control).toMatchObject({
    tool: 'security hub',
    rule: 'S3.8',
    severity: 'info',
    present: false,
    suppressed: false,
    asset: { type: 'cloud_resource', name: 'arn:aws:s3:::shop-logs' },
    first_seen: new Date('2025-01-01T00:00:00Z'),
    last_seen: new Date('2025-02-01T00:00:00Z'),
  });
  expect(image).toMatchObject({
    tool: 'inspector',
    rule: 'CVE-2022-3643',
    vulnerability_ids: ['CVE-2022-3643'],
    severity: 'high',
    tool_severity: '70',
    present: true,
    suppressed: true,
    asset: { type: 'container_image', name: '111122223333.dkr.ecr.cn-north-1.amazonaws.com.cn/shop/web@sha256:0f1e2d3c' },
  });
  expect(code).toMatchObject({
    rule: 'python-os-command-injection',
    severity: 'high',
    cwes: [78],
    present: false,
    location: { path: 'src/handler.py', line: 12, end_line: 14 },
  });
});

test('reads arrays, events and JSON Lines', async () => {
  expect((await read('prowler-array.json')).observations).toMatchObject([
    { place: '[0]', tool: 'prowler', rule: 'iam_root_mfa_enabled', severity: 'critical', present: true, suppressed: false },
    { place: '[1]', present: false, suppressed: true, asset: { type: 'container_image', name: 'registry.example.com/shop/web:1.4.2' } },
  ]);
  expect((await read('event.json')).observations).toMatchObject([
    {
      place: 'detail.findings[0]',
      tool: 'guardduty',
      severity: 'low',
      tool_severity: '3.9',
      asset: null,
      references: ['https://console.example.com/findings/2'],
    },
  ]);
  expect((await read('findings.jsonl')).observations).toMatchObject([
    { external_id: 'example/1', severity: 'low' },
    { place: 'line 2', external_id: 'example/2', severity: 'high', tool: 'default', rule: 'own-check' },
  ]);
});

test('rejects malformed findings and reads the rest', async () => {
  const { observations, rejections } = await read('malformed.json');
  expect(rejections).toEqual([
    { place: 'findings[0]', reason: 'Id is missing' },
    { place: 'findings[1]', reason: 'Title is missing' },
  ]);
  expect(observations.map(({ external_id }) => external_id)).toEqual(['example/3']);
});

test('rejects findings of the Inspector format, and the other way around', async () => {
  const inspector = fromBuffer('{"findings": [{"findingArn": "arn:aws:inspector2:eu-west-1:111122223333:finding/1", "type": "PACKAGE_VULNERABILITY"}]}');
  for (const formats of [
    [awsSecurityHub, awsInspector2],
    [awsInspector2, awsSecurityHub],
  ]) {
    expect(detectFormat(formats, await headOf(inspector))?.id).toBe('aws_inspector2');
    expect(detectFormat(formats, await headOf(fixture('get-findings.json')))?.id).toBe('aws_security_hub');
  }
  await expect(readAll(awsSecurityHub, inspector)).rejects.toThrow(/ASFF: a JSON array of findings with ProductArn/);
});

test('accepts a report without findings and rejects another report', async () => {
  expect(await read('empty.json')).toMatchObject({ observations: [], rejections: [] });
  expect(await readAll(awsSecurityHub, fromBuffer('[]'))).toMatchObject({ observations: [], rejections: [] });
  for (const foreign of ['{}', '', '[{"Target": "alpine"}]']) await expect(readAll(awsSecurityHub, fromBuffer(foreign))).rejects.toThrow(ReportError);
});

test('names the products of its findings as its tools, whatever their state', async () => {
  const toolsOf = async (name: string) => (await awsSecurityHub.about?.(fixture(name)))?.tools;
  expect(await toolsOf('get-findings.json')).toEqual(['inspector', 'security hub']);
  expect(await toolsOf('prowler-array.json')).toEqual(['prowler', 'scanner']);
  expect(await toolsOf('event.json')).toEqual(['guardduty']);
  expect(await toolsOf('findings.jsonl')).toEqual(['default']);
  expect(await toolsOf('empty.json')).toEqual([]);
});

test('a file of more products than can be remembered is not believed to be complete', async () => {
  const products = (count: number) =>
    fromBuffer(JSON.stringify(Array.from({ length: count }, (_, index) => ({ Id: 'a', ProductArn: `product/acme/${index}` }))));
  expect(await awsSecurityHub.about?.(products(20))).toMatchObject({ finished: true });
  expect(await awsSecurityHub.about?.(products(21))).toMatchObject({ finished: false });
});

const finding = (more: object) =>
  fromBuffer(
    JSON.stringify([
      { Id: 'shop:1/CVE-2021-1', ProductArn: 'arn:aws:securityhub:eu-west-1::product/aquasecurity/trivy', GeneratorId: 'Trivy', Title: 'A', ...more },
    ]),
  );

test.each([
  ['EBS Default Encryption', 'aws/111122223333/eu-west-1/EBS Default Encryption', 'EBS Default Encryption'],
  ['111122223333', 'aws/111122223333/eu-west-1/111122223333', '111122223333'],
  ['AWS::::Account:111122223333', 'AWS::::Account:111122223333', 'AWS::::Account:111122223333 (eu-west-1)'],
  ['arn:aws:s3:::shop-logs', 'arn:aws:s3:::shop-logs', 'arn:aws:s3:::shop-logs'],
])('names the account and region of a resource that its id does not tell from others: %s', async (Id, name, resource) => {
  const Resources = [{ Type: 'Other', Id, Region: 'eu-west-1' }];
  const { observations } = await readAll(awsSecurityHub, finding({ AwsAccountId: '111122223333', Resources }));
  expect(observations).toMatchObject([{ asset: { type: 'cloud_resource', name }, location: { resource } }]);
});

test('reads the package and the scores that Trivy writes into the details', async () => {
  const other = {
    PkgName: 'openssl',
    'Installed Package': '1.1.1k',
    'Patched Package': '1.1.1n',
    NvdCvssScoreV3: '7.5',
    NvdCvssVectorV3: 'CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:N/I:N/A:H',
    NvdCvssScoreV2: '5.0',
    NvdCvssVectorV2: '',
  };
  const Resources = [{ Id: 'shop:1', Type: 'Container', Details: { Container: { ImageName: 'shop:1' }, Other: other } }];
  expect((await readAll(awsSecurityHub, finding({ Resources }))).observations).toMatchObject([
    {
      external_id: 'shop:1/CVE-2021-1/openssl',
      cvss: [
        { vector: 'CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:N/I:N/A:H', score: 7.5 },
        { score: 5, version: '2.0' },
      ],
      location: { component: 'openssl', version: '1.1.1k', fixed_version: '1.1.1n' },
    },
  ]);
});

test('has one observation per package, with EPSS, exploit and fix', async () => {
  const VulnerablePackages = ['1.0.0', '2.0.0'].map((Version) => ({ Name: 'lodash', Version, PackageManager: 'NPM' }));
  const Vulnerabilities = [{ Id: 'CVE-2021-1', VulnerablePackages, EpssScore: 0.0014, ExploitAvailable: 'YES', FixAvailable: 'YES', Cvss: [{ BaseScore: 7 }] }];
  const { observations } = await readAll(awsSecurityHub, finding({ Vulnerabilities }));
  expect(observations.map(({ location }) => [location.version, location.ecosystem])).toEqual([
    ['1.0.0', 'npm'],
    ['2.0.0', 'npm'],
  ]);
  expect(observations[0]).toMatchObject({ epss: { score: 0.0014 }, exploit_maturity: 'proof_of_concept', fix_state: 'available', cvss: [{ score: 7 }] });
});
