import type { Json } from '../../core/contract.ts';
import { type FakeVendor, positionsOf } from '../../testing/fake-server.ts';

const FINDINGS = 24;
const MAX_PAGE_SIZE = 500;
const severities = ['CRITICAL', 'HIGH', 'MEDIUM', 'LOW', 'NONE'];
const digest = (n: number): string => `sha256:${String(n).repeat(64).slice(0, 64)}`;

const assets: readonly Json[] = [
  {
    id: 'c828de0d-0000-5000-8000-000000000000',
    type: 'VIRTUAL_MACHINE',
    name: 'web',
    region: 'eu-west-1',
    providerUniqueId: 'arn:aws:ec2:eu-west-1:111122223333:instance/i-0a0f0000000000001',
    cloudPlatform: 'AWS',
    subscriptionExternalId: '111122223333',
    operatingSystem: 'Linux',
    ipAddresses: ['10.0.0.1'],
  },
  {
    id: 'c828de0d-0000-5000-8000-000000000001',
    type: 'VIRTUAL_MACHINE',
    name: 'web',
    region: 'westeurope',
    providerUniqueId: '/subscriptions/7b2f/resourcegroups/shop/providers/microsoft.compute/virtualmachines/web',
    cloudPlatform: 'Azure',
    subscriptionExternalId: '7b2f',
    operatingSystem: 'Windows',
    ipAddresses: ['10.0.0.2'],
  },
  { id: 'c828de0d-0000-5000-8000-000000000002', type: 'CONTAINER_IMAGE', name: 'shop/web:1.4', imageId: digest(7), providerUniqueId: null },
  { id: 'c828de0d-0000-5000-8000-000000000003', type: 'SERVERLESS', name: 'orders', providerUniqueId: 'arn:aws:lambda:eu-west-1:111122223333:function:orders' },
];

/** Every sixth finding is fixed, every ninth is ignored, and the later ones changed recently. */
const finding = (n: number): { updatedAt: string; status: string; node: Json } => {
  const status = n % 6 === 0 ? 'RESOLVED' : n % 9 === 4 ? 'REJECTED' : n % 5 === 1 ? 'IN_PROGRESS' : 'OPEN';
  return {
    status,
    updatedAt: n < 18 ? '2026-10-01T08:00:00Z' : '2026-11-14T12:00:00Z',
    node: {
      id: `5e95ff50-0000-5000-8000-${String(n).padStart(12, '0')}`,
      portalUrl: `https://app.wiz.io/explorer/vulnerability-findings#${n}`,
      name: `CVE-2025-${1000 + n}`,
      CVEDescription: `Description of the weakness in lib${n}.`,
      CVSSSeverity: severities[n % 5] ?? null,
      vendorSeverity: n % 3 === 0 ? null : (severities[n % 5] ?? null),
      score: 7.5,
      description: null,
      remediation: `apt-get install lib${n}`,
      detailedName: `lib${n}`,
      version: '1.0.0',
      fixedVersion: '1.0.1',
      detectionMethod: 'PACKAGE',
      link: `https://security-tracker.example.org/CVE-2025-${1000 + n}`,
      locationPath: n % 2 ? null : `/usr/lib/lib${n}.so`,
      status,
      hasExploit: n % 4 === 0,
      hasCisaKevExploit: n % 8 === 0,
      firstDetectedAt: '2026-09-01T08:00:00Z',
      lastDetectedAt: '2026-11-14T08:00:00Z',
      resolvedAt: status === 'RESOLVED' ? '2026-11-01T08:00:00Z' : null,
      vulnerableAsset: assets[n % assets.length] ?? null,
    },
  };
};

const CLIENT = { client_id: 'wiz-client-id', client_secret: 'wiz-client-secret-0123456789' };
const TOKEN = 'wiz-access-token-9876543210';
const config = (origin: string) => ({ api_url: `${origin}/graphql`, token_url: `${origin}/oauth/token`, audience: 'wiz-api' });

export const wizFake: FakeVendor = {
  id: 'wiz',
  settings: (origin) => ({ config: config(origin), credentials: CLIENT }),
  refused: (origin) => ({ config: config(origin), credentials: { ...CLIENT, client_secret: 'wiz-client-secret-revoked' } }),
  answer({ pageSize, endless, badRecord, ...more }) {
    const positions = positionsOf({ pageSize, ...more });
    const findings = Array.from({ length: FINDINGS }, (_, n) => finding(n));
    if (badRecord) findings.splice(5, 0, { updatedAt: '2026-10-01T08:00:00Z', status: 'OPEN', node: { id: 'x', name: null } });
    const failed = (message: string, code: string) => ({ body: { errors: [{ message, extensions: { code } }], data: null } });
    return ({ method, url, headers, body }) => {
      if (method === 'POST' && url.pathname === '/oauth/token') {
        const form = Object.fromEntries(new URLSearchParams(body));
        const known = form.grant_type === 'client_credentials' && form.client_id === CLIENT.client_id && form.client_secret === CLIENT.client_secret;
        if (!known || form.audience !== 'wiz-api') return { status: 401, body: { error: 'access_denied', error_description: 'Unauthorized' } };
        return { body: { access_token: TOKEN, expires_in: 86_400, token_type: 'Bearer' } };
      }
      if (method !== 'POST' || url.pathname !== '/graphql') return { status: 404, body: 'Not Found' };
      if (headers.authorization !== `Bearer ${TOKEN}`) return { status: 401, body: { message: 'Unauthorized' } };
      const { query, variables } = JSON.parse(body) as { query: string; variables: Variables };
      if (!query.includes('vulnerabilityFindings(')) return failed('Cannot query this field', 'GRAPHQL_VALIDATION_FAILED');
      if (variables.first > MAX_PAGE_SIZE) return failed(`first must be at most ${MAX_PAGE_SIZE}`, 'BAD_USER_INPUT');
      const { status, updatedAt } = variables.filterBy;
      const wanted = findings.filter((one) => (status?.includes(one.status) ?? true) && (!updatedAt || one.updatedAt > updatedAt.after));
      const from = positions.read(Buffer.from(variables.after ?? '', 'base64').toString());
      if (from === null) return failed('The cursor is invalid or has expired', 'BAD_USER_INPUT');
      const to = from + Math.min(pageSize, variables.first);
      const hasNextPage = endless === true || to < wanted.length;
      const pageInfo = { hasNextPage, endCursor: Buffer.from(positions.give(to)).toString('base64') };
      return { page: true, body: { data: { vulnerabilityFindings: { nodes: wanted.slice(from, to).map(({ node }) => node), pageInfo } } } };
    };
  },
};

interface Variables {
  first: number;
  after?: string | null;
  filterBy: { status?: string[]; updatedAt?: { after: string } };
}
