import type { Json } from '../../core/contract.ts';
import type { FakeRequest, FakeResponse, FakeVendor } from '../../testing/fake-server.ts';
import { isSigned } from '../../testing/fake-sigv4.ts';

const REGIONS = ['eu-west-1', 'us-east-1'];
const KEYS = { access_key_id: 'AKIDINSPECTOR0000001', secret_access_key: 'inspector-secret-0123456789abcdefghijklm' };
const severities = ['CRITICAL', 'HIGH', 'MEDIUM', 'LOW', 'INFORMATIONAL', 'UNTRIAGED'];
const image = (n: number): string => `sha256:${String(n).repeat(64).slice(0, 64)}`;

interface Resource {
  type: string;
  id: string;
  details: Json;
  metadata: Json;
  isActive: boolean;
}

const resources = (region: string): Resource[] => [
  {
    type: 'AWS_EC2_INSTANCE',
    id: `i-0a00000000000001${REGIONS.indexOf(region)}`,
    details: { awsEc2Instance: { ipV4Addresses: ['10.0.0.1'], vpcId: 'vpc-1', platform: 'AMAZON_LINUX_2' } },
    metadata: { ec2: { amiId: 'ami-1', platform: 'LINUX', tags: { Name: 'web' } } },
    isActive: true,
  },
  {
    type: 'AWS_ECR_CONTAINER_IMAGE',
    id: `arn:aws:ecr:${region}:111122223333:repository/shop/web/${image(1)}`,
    details: { awsEcrContainerImage: { registry: '111122223333', repositoryName: 'shop/web', imageHash: image(1), imageTags: ['1.4'] } },
    metadata: { ecrImage: { tags: ['1.4'] } },
    isActive: true,
  },
  {
    type: 'AWS_LAMBDA_FUNCTION',
    id: `arn:aws:lambda:${region}:111122223333:function:orders:$LATEST`,
    details: { awsLambdaFunction: { functionName: 'orders', runtime: 'PYTHON_3_11', version: '$LATEST' } },
    metadata: { lambdaFunction: { functionName: 'orders', runtime: 'PYTHON_3_11' } },
    isActive: true,
  },
  // The first one has no findings. The second one is not scanned.
  { type: 'AWS_EC2_INSTANCE', id: `i-0b00000000000002${REGIONS.indexOf(region)}`, details: {}, metadata: {}, isActive: true },
  { type: 'AWS_EC2_INSTANCE', id: `i-0c00000000000003${REGIONS.indexOf(region)}`, details: {}, metadata: {}, isActive: false },
];

/** Every fifth finding is closed, every seventh is suppressed, and the later ones changed recently. */
const finding = (region: string, n: number): Json => {
  const resource = resources(region)[n % 3] as Resource;
  return {
    findingArn: `arn:aws:inspector2:${region}:111122223333:finding/${String(n).padStart(32, '0')}`,
    awsAccountId: '111122223333',
    type: 'PACKAGE_VULNERABILITY',
    title: `CVE-2025-${1000 + n} - lib${n}`,
    description: `Description of the weakness in lib${n}.`,
    severity: severities[n % severities.length] ?? 'LOW',
    status: n % 5 === 0 ? 'CLOSED' : n % 7 === 1 ? 'SUPPRESSED' : 'ACTIVE',
    firstObservedAt: 1_789_000_000.5 + n,
    lastObservedAt: 1_794_000_000.25,
    updatedAt: n < 10 ? 1_790_000_000.5 : 1_794_700_000.5,
    inspectorScore: 7.5,
    packageVulnerabilityDetails: {
      vulnerabilityId: `CVE-2025-${1000 + n}`,
      source: 'NVD',
      sourceUrl: `https://nvd.nist.gov/vuln/detail/CVE-2025-${1000 + n}`,
      cvss: [{ baseScore: 7.5, scoringVector: 'CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:N/A:N', version: '3.1', source: 'NVD' }],
      vulnerablePackages: [{ name: `lib${n}`, version: '1.0.0', epoch: 0, release: '7', packageManager: 'OS', fixedInVersion: '0:1.0.1-1' }],
    },
    remediation: { recommendation: { text: 'None Provided' } },
    resources: [{ type: resource.type, id: resource.id, partition: 'aws', region, tags: {}, details: resource.details }],
  };
};

const coverage = (region: string): Json[] =>
  resources(region).flatMap(({ type, id, metadata, isActive }) =>
    ['PACKAGE', ...(type === 'AWS_EC2_INSTANCE' ? ['NETWORK'] : [])]
      .filter((scanType) => isActive || scanType === 'NETWORK')
      .map((scanType) => ({
        resourceType: type,
        resourceId: id,
        accountId: '111122223333',
        scanType,
        scanStatus: { statusCode: 'ACTIVE', reason: 'SUCCESSFUL' },
        resourceMetadata: metadata,
        lastScannedAt: 1_794_000_000,
      })),
  );

/** The access key may assume this role, which has the permissions. */
export const ROLE = { role_arn: 'arn:aws:iam::111122223333:role/inspector-reader', external_id: 'rrs-7f3a9c' };
const ROLE_KEYS = {
  access_key_id: 'ASIAINSPECTOR0000002',
  secret_access_key: 'role-secret-0123456789abcdefghijklmnopq',
  session_token: 'role-session/0123+4567==',
};

/** Issues the keys of the role as AWS STS does. */
function assumed(request: FakeRequest): FakeResponse {
  const failed = (status: number, code: string, message: string): FakeResponse => ({
    status,
    headers: { 'content-type': 'text/xml' },
    body: `<ErrorResponse><Error><Type>Sender</Type><Code>${code}</Code><Message>${message}</Message></Error></ErrorResponse>`,
  });
  if (!isSigned(request, KEYS, { region: 'eu-west-1', service: 'sts' }))
    return failed(403, 'SignatureDoesNotMatch', 'The request signature we calculated does not match the signature you provided.');
  const { Action, Version, RoleArn, ExternalId, RoleSessionName } = Object.fromEntries(new URLSearchParams(request.body));
  if (Action !== 'AssumeRole' || Version !== '2011-06-15' || !RoleSessionName) return failed(400, 'ValidationError', 'The request is invalid.');
  if (RoleArn !== ROLE.role_arn || ExternalId !== ROLE.external_id)
    return failed(403, 'AccessDenied', `User: arn:aws:iam::111122223333:user/rrs is not authorized to perform: sts:AssumeRole on resource: ${RoleArn}`);
  const { access_key_id, secret_access_key, session_token } = ROLE_KEYS;
  const keys = `<AccessKeyId>${access_key_id}</AccessKeyId><SecretAccessKey>${secret_access_key}</SecretAccessKey><SessionToken>${session_token}</SessionToken>`;
  const expiration = `<Expiration>${new Date(Date.now() + 3_600_000).toISOString()}</Expiration>`;
  const result = `<AssumeRoleResult><Credentials>${keys}${expiration}</Credentials></AssumeRoleResult>`;
  return {
    headers: { 'content-type': 'text/xml' },
    body: `<AssumeRoleResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/">${result}</AssumeRoleResponse>`,
  };
}

const config = (origin: string) => ({ regions: REGIONS, api_url: `${origin}/{region}` });

export const awsInspector2Fake: FakeVendor = {
  id: 'aws_inspector2',
  settings: (origin) => ({ config: config(origin), credentials: KEYS }),
  refused: (origin) => ({ config: config(origin), credentials: { ...KEYS, secret_access_key: 'another-secret-0123456789abcdefghijklmno' } }),
  answer({ pageSize, endless, badRecord }) {
    const findings = new Map(REGIONS.map((region) => [region, Array.from({ length: 14 }, (_, n) => finding(region, n))]));
    if (badRecord) findings.get('us-east-1')?.splice(5, 0, { title: 'no ARN' });
    const failed = (status: number, type: string, message: string) => ({ status, headers: { 'x-amzn-errortype': type }, body: { message } });
    return (request) => {
      if (request.url.pathname === '/sts/') return assumed(request);
      const [, region = '', list = ''] = /^\/([a-z0-9-]+)\/(findings|coverage)\/list$/.exec(request.url.pathname) ?? [];
      if (request.method !== 'POST' || !findings.has(region)) return failed(404, 'ResourceNotFoundException', 'Not found');
      if (![KEYS, ROLE_KEYS].some((keys) => isSigned(request, keys, { region, service: 'inspector2' })))
        return failed(403, 'InvalidSignatureException', 'The request signature we calculated does not match the signature you provided.');
      const { maxResults = 100, nextToken, filterCriteria = {} } = JSON.parse(request.body) as ListRequest;
      if (maxResults > (list === 'findings' ? 100 : 200)) return failed(400, 'ValidationException', 'maxResults is too large');
      const since = filterCriteria.updatedAt?.[0]?.startInclusive ?? 0;
      const all = list === 'coverage' ? coverage(region) : (findings.get(region) ?? []).filter((one) => updatedOf(one) >= since);
      const from = nextToken ? Number(nextToken.replace(`${list}-`, '')) : 0;
      const to = from + Math.min(pageSize, maxResults);
      const more = to < all.length || (endless && list === 'findings') ? { nextToken: `${list}-${to}` } : {};
      const page = all.slice(from, to);
      return list === 'coverage' ? { body: { coveredResources: page, ...more } } : { page: true, body: { findings: page, ...more } };
    };
  },
};

interface ListRequest {
  maxResults?: number;
  nextToken?: string;
  filterCriteria?: { updatedAt?: { startInclusive: number }[] };
}

function updatedOf(one: Json): number {
  return typeof one === 'object' && one !== null && 'updatedAt' in one ? Number(one.updatedAt) : Number.POSITIVE_INFINITY;
}
