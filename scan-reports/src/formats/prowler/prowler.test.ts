import { expect, test } from 'vitest';
import type { ReportFormat } from '../../contract.ts';
import { fromBuffer } from '../../shared/input.ts';
import { readFixtures } from '../../testing/fixtures.ts';
import { readAll } from '../../testing/reading.ts';
import { awsSecurityHub } from '../aws_security_hub/index.ts';
import { prowler } from './index.ts';

const fixtures = new Map(readFixtures('prowler').map(({ name, bytes }) => [name, bytes]));
const read = (name: string) => readAll(prowler, fromBuffer(fixtures.get(name) ?? '', name));

const ACCOUNT = '111122223333';

test('reads CSV of version 2 with allowlisted rows as suppressed', async () => {
  const { observations, rejections } = await read('v2.csv');
  expect(rejections).toEqual([]);
  expect(observations).toHaveLength(3);
  expect(observations[0]).toEqual({
    place: 'line 2',
    tool: 'prowler',
    rule: 'check12',
    external_id: null,
    title: 'Ensure MFA is enabled for all IAM users',
    description: 'User alice has Password enabled but MFA disabled\n\nStolen passwords suffice, without a second factor.',
    solution: 'Enable MFA.',
    severity: 'high',
    tool_severity: 'High',
    vulnerability_ids: [],
    cwes: [],
    cvss: [],
    references: ['https://docs.example.com/mfa'],
    asset: { type: 'cloud_resource', name: 'aws/111122223333' },
    location: { fingerprint: 'eu-west-1 User alice has Password enabled but MFA disabled' },
    present: true,
    suppressed: false,
    first_seen: null,
    last_seen: null,
    tags: ['iam', 'IAM'],
  });
  expect(observations[2]).toMatchObject({ rule: 'extra75', severity: 'info', suppressed: true });
});

test('times in the results of version 2, which change every day, do not tell findings apart', async () => {
  const fingerprintOf = async (result: string) => {
    const row = `ENV,${ACCOUNT},us-east-1,1.4,FAIL,[check14] Rotate keys,${result}`;
    const { observations } = await readAll(prowler, fromBuffer(`PROFILE,ACCOUNT_NUM,REGION,TITLE_ID,CHECK_RESULT,TITLE_TEXT,CHECK_RESULT_EXTENDED\n${row}\n`));
    return observations[0]?.location.fingerprint;
  };
  expect(await fingerprintOf('Root used in the last 1 days')).toBe(await fingerprintOf('Root used in the last 2 days'));
  expect(await fingerprintOf('Root used in the last 1 day')).toBe('us-east-1 Root used in the last # day');
  expect(await fingerprintOf('Key 1 of alice was made on 2021-08-23T07:06:12Z')).toBe('us-east-1 Key 1 of alice was made on #');
  for (const result of ['Key 2 of alice is older than 90 days', 'sg-1 has port 3389 open', 'Key 1 of user-7 is 90 days old'])
    expect(await fingerprintOf(result)).toBe(`us-east-1 ${result.replace('90', '#')}`);
});

test('reads JSON Lines of version 2', async () => {
  const { observations, rejections } = await read('v2.jsonl');
  expect(rejections).toEqual([]);
  expect(observations).toMatchObject([
    {
      place: 'line 1',
      rule: 'extra796',
      title: 'Restrict Access to the EKS Control Plane Endpoint',
      severity: 'high',
      asset: { type: 'cloud_resource', name: 'aws/111122223333/eu-central-1/web' },
      location: { resource: 'web' },
      last_seen: new Date('2021-08-23T07:06:12Z'),
    },
    { place: 'line 3', rule: 'check114', severity: 'critical', asset: { name: 'aws/111122223333' } },
  ]);
});

test('reads JSON of version 3', async () => {
  const { observations, rejections } = await read('v3.json');
  expect(rejections).toEqual([]);
  expect(observations).toMatchObject([
    {
      place: '[0]',
      rule: 's3_bucket_public_access',
      external_id: 'prowler-aws-s3_bucket_public_access-111122223333-eu-west-1-assets',
      title: 'Ensure there are no S3 buckets open to everyone',
      solution: 'Enable Block Public Access.',
      severity: 'critical',
      references: ['https://docs.example.com/s3'],
      asset: { type: 'cloud_resource', name: 'arn:aws:s3:::assets', identifiers: [{ kind: 'arn', value: 'arn:aws:s3:::assets' }] },
      location: { resource: 'arn:aws:s3:::assets' },
      suppressed: false,
      last_seen: new Date('2023-04-25T23:49:42.744Z'),
      tags: ['s3', 'internet-exposed'],
    },
    { rule: 'made_up_check', asset: { name: 'azure/sub-1/disk-id' }, suppressed: true },
  ]);
});

test('reads CSV of version 3, which has more commas than semicolons', async () => {
  const { observations } = await read('v3.csv');
  expect(observations).toMatchObject([
    {
      rule: 'ec2_public_ip',
      external_id: 'prowler-aws-ec2_public_ip-111122223333-eu-west-1-i-0a',
      severity: 'medium',
      asset: { name: 'arn:aws:ec2:eu-west-1:111122223333:instance/i-0a' },
      tags: ['ec2', 'internet-exposed', 'network'],
    },
  ]);
});

test('reads CSV of versions 4 and 5', async () => {
  const { observations, rejections } = await read('v4.csv');
  expect(rejections).toEqual([]);
  const cluster = '/subscriptions/sub-1/resourcegroups/rg/providers/Microsoft.ContainerService/managedClusters/web';
  expect(observations).toMatchObject([
    {
      rule: 'aks_rbac',
      external_id: 'prowler-azure-aks_rbac-sub-1-westeurope-web',
      severity: 'medium',
      references: ['https://docs.example.com/aks', 'https://docs.example.com/fix', 'https://docs.example.com/a', 'https://docs.example.com/b'],
      asset: { name: cluster, identifiers: [{ kind: 'cloud_id', value: cluster }] },
      last_seen: new Date('2025-02-14T14:27:30.710Z'),
    },
    { rule: 'apiserver_audit', severity: 'high', asset: { name: 'kubernetes/cluster-1/kube-system/kube-apiserver' }, tags: ['apiserver', 'logging', 'manual'] },
    { rule: 'vm_disk', external_id: null, asset: { name: 'azure/sub-1/westeurope/disk' }, suppressed: true },
  ]);
});

test('reads OCSF of version 3', async () => {
  const { observations, rejections } = await read('v3.ocsf.json');
  expect(rejections).toEqual([]);
  expect(observations).toMatchObject([
    {
      rule: 'vpc_default',
      external_id: 'prowler-aws-vpc_default-111122223333-eu-west-1-vpc-1',
      title: 'Ensure the default VPC is not used',
      solution: 'Delete it.',
      severity: 'medium',
      references: ['https://docs.example.com/default-vpc', 'https://docs.example.com/vpc'],
      asset: { name: 'arn:aws:ec2:eu-west-1:111122223333:vpc/vpc-1' },
      suppressed: false,
    },
  ]);
});

test('reads OCSF of versions 4 and 5 with muted findings as suppressed', async () => {
  const { observations, rejections } = await read('v4.ocsf.json');
  expect(rejections).toEqual([]);
  expect(observations).toMatchObject([
    {
      place: '[0]',
      rule: 'iam_role_trust',
      external_id: 'prowler-aws-iam_role_trust-111122223333-us-east-1-admin',
      title: 'Ensure roles have a well defined trust',
      severity: 'high',
      references: ['https://docs.example.com/iam', 'https://docs.example.com/trust'],
      asset: { name: 'arn:aws:iam::111122223333:role/admin' },
      location: { resource: 'arn:aws:iam::111122223333:role/admin' },
      suppressed: false,
      last_seen: new Date('2025-02-14T13:27:30Z'),
    },
    { rule: 'appinsights', external_id: null, severity: 'low', asset: { name: 'azure/sub-1/global/AppInsights' }, suppressed: true },
  ]);
});

test('rejects malformed checks and reads the rest', async () => {
  const { observations, rejections } = await read('malformed.json');
  expect(rejections).toEqual([
    { place: '[0]', reason: 'the status "BROKEN" is unknown' },
    { place: '[1]', reason: 'the check id is missing' },
    { place: '[2]', reason: 'the status is missing' },
  ]);
  expect(observations).toMatchObject([{ rule: 'made_up_b', asset: { name: 'aws/111122223333/eu-west-1/b' } }]);
});

test.each(['empty.csv', 'empty.jsonl'])('accepts a report without findings: %s', async (name) => {
  expect(await read(name)).toMatchObject({ observations: [], rejections: [] });
});

test('rejects another file', async () => {
  await expect(readAll(prowler, fromBuffer('IP,QID,Title\n192.0.2.1,1,x\n'))).rejects.toThrow(/CHECK_ID and STATUS/);
  await expect(readAll(prowler, fromBuffer('[{"metadata": {"product": {"name": "Other"}}, "finding_info": {}}]'))).rejects.toThrow(
    /Expected .* OCSF JSON of Prowler/,
  );
});

test('states version, start and checks of the run, and the resources that passed', async () => {
  const entry = (status_code: string, uid: string) => ({
    metadata: { event_code: 's3_encryption', product: { name: 'Prowler', vendor_name: 'Prowler', version: '5.3.0' } },
    finding_info: { title: 'A', uid: 'prowler-x' },
    resources: [{ uid }],
    status_code,
    severity: 'High',
    time_dt: '2025-01-01T00:00:00Z',
  });
  const entries = [entry('FAIL', 'arn:aws:s3:::a'), entry('PASS', 'arn:aws:s3:::b'), entry('PASS', 'arn:aws:s3:::b'), entry('INFO', 'arn:aws:s3:::c')];
  const { runs, observations } = await readAll(prowler, fromBuffer(JSON.stringify(entries)));
  expect(observations).toHaveLength(1);
  expect(runs).toMatchObject([
    { tool_version: '5.3.0', started_at: new Date('2025-01-01T00:00:00Z') },
    { asset: { name: 'arn:aws:s3:::b' } },
    {
      checks: ['s3_encryption', 'arn:aws:s3:::a', 's3_encryption arn:aws:s3:::a', 'arn:aws:s3:::b', 's3_encryption arn:aws:s3:::b', 'arn:aws:s3:::c'],
      looked_for: ['suppressed'],
    },
  ]);
});

const uid = (resource: string, region: string) => `prowler-aws-some_check-${ACCOUNT}-${region}-${resource}`;

/** The same failed check in all formats. */
const inAllFormats = (resource: string, region: string): [ReportFormat, string][] => [
  [
    prowler,
    JSON.stringify([
      {
        CheckID: 'some_check',
        CheckTitle: 'A',
        Status: 'FAIL',
        Provider: 'aws',
        AccountId: ACCOUNT,
        Region: region,
        ResourceArn: resource,
        FindingUniqueId: uid(resource, region),
      },
    ]),
  ],
  [
    prowler,
    [
      'ACCOUNT_UID;FINDING_UID;PROVIDER;CHECK_ID;CHECK_TITLE;STATUS;STATUS_EXTENDED;SEVERITY;RESOURCE_UID;REGION',
      `${ACCOUNT};${uid(resource, region)};aws;some_check;A;FAIL;A;high;${resource};${region}`,
    ].join('\n'),
  ],
  [
    prowler,
    JSON.stringify([
      {
        metadata: { event_code: 'some_check', product: { name: 'Prowler', vendor_name: 'Prowler' } },
        finding_info: { title: 'A', uid: uid(resource, region) },
        cloud: { provider: 'aws', account: { uid: ACCOUNT } },
        resources: [{ uid: resource, region }],
        status_code: 'FAIL',
      },
    ]),
  ],
  [
    awsSecurityHub,
    JSON.stringify([
      {
        Id: `prowler-some_check-${ACCOUNT}-${region}-0a1b2c3d4`,
        ProductArn: `arn:aws:securityhub:${region}::product/prowler/prowler`,
        GeneratorId: 'prowler-some_check',
        AwsAccountId: ACCOUNT,
        Title: 'A',
        Resources: [{ Type: 'AwsEc2Instance', Id: resource, Region: region }],
        Compliance: { Status: 'FAILED' },
      },
    ]),
  ],
];

test.each([
  [`arn:aws:iam::${ACCOUNT}:root`, `arn:aws:iam::${ACCOUNT}:root`, `arn:aws:iam::${ACCOUNT}:root (eu-west-1)`],
  [`arn:aws:ec2:eu-west-1:${ACCOUNT}:instance/i-0a`, `arn:aws:ec2:eu-west-1:${ACCOUNT}:instance/i-0a`, `arn:aws:ec2:eu-west-1:${ACCOUNT}:instance/i-0a`],
  ['arn:aws:s3:::assets', 'arn:aws:s3:::assets', 'arn:aws:s3:::assets'],
  [ACCOUNT, `aws/${ACCOUNT}/eu-west-1/${ACCOUNT}`, ACCOUNT],
  ['No trails', `aws/${ACCOUNT}/eu-west-1/No trails`, 'No trails'],
])('is one finding in all formats: a check of %s in a region', async (resource, asset, place) => {
  for (const [format, report] of inAllFormats(resource, 'eu-west-1')) {
    const { observations } = await readAll(format, fromBuffer(report));
    expect(observations).toMatchObject([
      { tool: 'prowler', rule: 'some_check', asset: { type: 'cloud_resource', name: asset }, location: { resource: place } },
    ]);
  }
});

test('an account is in another place in each region', async () => {
  const regions = ['eu-west-1', 'us-east-1', 'us-east-2'];
  for (const format of [0, 1, 2, 3]) {
    const places = regions.map(async (region) => {
      const [reader, report] = inAllFormats(`arn:aws:iam::${ACCOUNT}:root`, region)[format] ?? [prowler, ''];
      return (await readAll(reader, fromBuffer(report))).observations.map(({ location }) => location.resource);
    });
    expect(new Set((await Promise.all(places)).flat()).size).toBe(3);
  }
});
