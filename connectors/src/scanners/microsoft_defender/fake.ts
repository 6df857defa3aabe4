import type { Json } from '../../core/contract.ts';
import { type FakeResponse, type FakeVendor, positionsOf } from '../../testing/fake-server.ts';

const TENANT = '0a1b2c3d-0000-4000-8000-00000000abcd';
const CLIENT = { client_id: 'f00dcafe-0000-4000-8000-000000000001', client_secret: 'entra-client-secret-0123456789' };
const TOKEN = 'defender-access-token-9876543210';
const SCOPE = 'https://securitycenter.onmicrosoft.com/windowsatpservice/.default';
const levels = ['Critical', 'High', 'Medium', 'Low'];
const device = (n: number): string => String(n).repeat(40).slice(0, 40);

const machine = (n: number): Json => ({
  id: device(n),
  computerDnsName: `pc-${n}.corp.example.com`,
  lastIpAddress: `10.0.0.${n + 1}`,
  osPlatform: 'Windows11',
  healthStatus: n === 4 ? 'Inactive' : 'Active',
  onboardingStatus: 'Onboarded',
  lastSeen: '2026-11-15T06:30:00Z',
  vmMetadata: n === 0 ? { resourceId: '/subscriptions/7b2f/resourceGroups/shop/providers/Microsoft.Compute/virtualMachines/pc-0' } : null,
});

/** Devices 3 and 4 have no vulnerabilities. */
const vulnerability = (n: number): Record<string, Json> => ({
  id: `${device(n % 3)}-_-CVE-2025-${1000 + n}-_-contoso-_-app${n}-_-1.0.0-_-`,
  deviceId: device(n % 3),
  deviceName: `pc-${n % 3}.corp.example.com`,
  rbacGroupName: 'Workplaces',
  osPlatform: 'Windows11',
  softwareVendor: 'contoso',
  softwareName: `app${n}`,
  softwareVersion: '1.0.0',
  cveId: n % 11 === 10 ? null : `CVE-2025-${1000 + n}`,
  vulnerabilitySeverityLevel: levels[n % 4] ?? 'Low',
  cvssScore: 7.5,
  exploitabilityLevel: n % 4 === 0 ? 'ExploitIsPublic' : 'NoExploit',
  recommendedSecurityUpdate: 'November 2026 Security Updates',
  recommendedSecurityUpdateId: `KB50${1000 + n}`,
  recommendedSecurityUpdateUrl: `https://catalog.update.microsoft.com/v7/site/Search.aspx?q=KB50${1000 + n}`,
  diskPaths: [`c:\\program files\\app${n}\\app.exe`],
  registryPaths: [],
  firstSeenTimestamp: '2026-09-30 11:07:15',
  lastSeenTimestamp: '2026-11-14 06:23:54',
  isOnboarded: true,
});

const pascal = (fields: Record<string, Json>): Json =>
  Object.fromEntries(Object.entries(fields).map(([name, value]) => [`${name[0]?.toUpperCase()}${name.slice(1)}`, value]));

/** With the field names in the other case, as observed: one appeared and disappeared, one is fixed, one is new, one exists in two versions. */
const CHANGES: readonly Json[] = [
  pascal({ ...vulnerability(1), status: 'New', eventTimestamp: '2026-11-14T00:00:00Z' }),
  pascal({ ...vulnerability(2), status: 'Fixed', eventTimestamp: '2026-11-14T06:00:00Z' }),
  pascal({ ...vulnerability(1), status: 'Fixed', eventTimestamp: '2026-11-14T12:00:00Z' }),
  pascal({ ...vulnerability(30), status: 'New', eventTimestamp: '2026-11-14T12:00:00Z' }),
  pascal({ ...vulnerability(5), softwareVersion: '0.9.0', status: 'Fixed', eventTimestamp: '2026-11-14T12:00:00Z' }),
];

const config = (origin: string) => ({ tenant_id: TENANT, api_url: origin, authority: origin, scope: SCOPE });

export const microsoftDefenderFake: FakeVendor = {
  id: 'microsoft_defender',
  settings: (origin) => ({ config: config(origin), credentials: CLIENT }),
  refused: (origin) => ({ config: config(origin), credentials: { ...CLIENT, client_secret: 'entra-client-secret-expired' } }),
  answer({ pageSize, endless, badRecord, ...more }) {
    const positions = positionsOf({ pageSize, ...more });
    const vulnerabilities: Json[] = Array.from({ length: 26 }, (_, n) => vulnerability(n));
    if (badRecord) vulnerabilities.splice(5, 0, { id: 'x', deviceId: device(1), cveId: 'CVE-2025-9999' });
    const failed = (status: number, code: string, message: string): FakeResponse => ({ status, body: { error: { code, message, target: '7d1f…' } } });
    const page = (url: URL, all: readonly Json[]): FakeResponse => {
      const requested = Number(url.searchParams.get('pageSize') ?? 50_000);
      if (requested > 200_000) return failed(400, 'InvalidInput', 'pageSize is too large');
      const from = positions.read(url.searchParams.get('$skiptoken'));
      if (from === null) return failed(400, 'InvalidInput', 'The skip token is not valid or has expired.');
      const to = from + Math.min(pageSize, requested);
      // Like Microsoft, with another host name.
      const next = new URL(`https://wdatpapi-eus.securitycenter.windows.com${url.pathname}${url.search}`);
      next.searchParams.set('$skiptoken', positions.give(to));
      const more = endless || to < all.length ? { '@odata.nextLink': next.href } : {};
      return { page: true, body: { '@odata.context': 'https://api.security.microsoft.com/api/$metadata', value: all.slice(from, to), ...more } };
    };
    return ({ method, url, headers, body }) => {
      if (method === 'POST' && url.pathname === `/${TENANT}/oauth2/v2.0/token`) {
        const form = Object.fromEntries(new URLSearchParams(body));
        if (form.grant_type !== 'client_credentials' || form.scope !== SCOPE) return { status: 400, body: { error: 'invalid_request' } };
        if (form.client_id !== CLIENT.client_id || form.client_secret !== CLIENT.client_secret)
          return { status: 401, body: { error: 'invalid_client', error_description: 'AADSTS7000215: Invalid client secret provided.' } };
        return { body: { token_type: 'Bearer', expires_in: 3599, access_token: TOKEN } };
      }
      if (headers.authorization !== `Bearer ${TOKEN}`) return failed(401, 'Unauthorized', 'The token is missing or not valid.');
      if (url.pathname === '/api/machines') {
        const from = Number(url.searchParams.get('$skip') ?? 0);
        return { body: { value: Array.from({ length: 5 }, (_, n) => machine(n)).slice(from, from + Number(url.searchParams.get('$top') ?? 10_000)) } };
      }
      const [, cve] = /^\/api\/vulnerabilities\/(CVE-[0-9-]+)\/machineReferences$/.exec(url.pathname) ?? [];
      if (cve) return { body: { value: cve === 'CVE-2025-1005' ? [{ id: device(2), computerDnsName: 'pc-2.corp.example.com' }] : [] } };
      if (url.pathname === '/api/machines/SoftwareVulnerabilitiesByMachine') return page(url, vulnerabilities);
      if (url.pathname !== '/api/machines/SoftwareVulnerabilityChangesByMachine') return failed(404, 'ResourceNotFound', 'No such resource');
      const since = Date.parse(url.searchParams.get('sinceTime') ?? '');
      if (Number.isNaN(since)) return failed(400, 'InvalidInput', 'sinceTime is required');
      return page(url, CHANGES);
    };
  },
};
