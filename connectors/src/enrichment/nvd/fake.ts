import type { Json } from '../../core/contract.ts';
import type { FakeRequest, FakeResponse, FakeVendor } from '../../testing/fake-server.ts';

const KEY = '7b1e6c3a-0000-4000-8000-nvd0api0key1';
const NOW = '2026-11-15T07:59:00.000';
const CVES = 30;
const MAX_RANGE_MS = 120 * 86_400_000;

/** Each entry changed 20 days before the previous one. */
const changed = (n: number): string => new Date(Date.parse('2026-11-15T07:00:00Z') - n * 20 * 86_400_000).toISOString().replace('Z', '');
const idOf = (n: number): string => `CVE-2025-${10_000 + n}`;

const vulnerability = (n: number): Json => ({
  cve: {
    id: idOf(n),
    sourceIdentifier: 'security@acme.example',
    published: '2025-06-01T10:15:24.327',
    lastModified: changed(n),
    vulnStatus: n === CVES - 1 ? 'Rejected' : 'Analyzed',
    cveTags: [],
    descriptions: [{ lang: 'en', value: 'Acme Gateway does not validate its input.' }],
    metrics: {
      cvssMetricV31: [
        {
          source: 'security@acme.example',
          type: 'Secondary',
          cvssData: { version: '3.1', vectorString: 'CVSS:3.1/AV:L/AC:L/PR:N/UI:R/S:U/C:H/I:H/A:H', baseScore: 7.8, baseSeverity: 'HIGH' },
        },
        {
          source: 'nvd@nist.gov',
          type: 'Primary',
          cvssData: { version: '3.1', vectorString: 'CVSS:3.1/AV:N/AC:L/PR:N/UI:R/S:U/C:H/I:H/A:H', baseScore: 8.8, baseSeverity: 'HIGH' },
          exploitabilityScore: 2.8,
          impactScore: 5.9,
        },
      ],
      cvssMetricV2: [
        {
          source: 'nvd@nist.gov',
          type: 'Primary',
          cvssData: { version: '2.0', vectorString: 'AV:N/AC:L/Au:N/C:P/I:P/A:P', baseScore: 7.5 },
          baseSeverity: 'HIGH',
        },
      ],
    },
    weaknesses: [{ source: 'nvd@nist.gov', type: 'Primary', description: [{ lang: 'en', value: n % 2 === 0 ? 'CWE-787' : 'NVD-CWE-noinfo' }] }],
    references: [{ url: 'https://acme.example/1', source: 'security@acme.example', tags: n % 3 === 0 ? ['Exploit', 'Third Party Advisory'] : ['Patch'] }],
  },
});

export const nvdFake: FakeVendor = {
  id: 'nvd',
  settings: (origin) => ({ config: { api_url: `${origin}/rest/json`, scope: 'all' }, credentials: { api_key: KEY } }),
  refused: (origin) => ({ config: { api_url: `${origin}/rest/json`, scope: 'all' }, credentials: { api_key: 'an-old-key-0123456789' } }),
  variants: [{ scope: 'wanted' }],
  wanted: [...Array.from({ length: 25 }, (_, n) => idOf(n)), 'CVE-2026-99999', 'GHSA-2222-3333-4444', 'SNYK-JS-LIB-1'],
  answer({ pageSize, endless, badRecord }) {
    const bad: Json = { cve: { sourceIdentifier: 'security@acme.example', lastModified: changed(1) } };
    const all = Array.from({ length: CVES }, (_, n) => vulnerability(n));
    if (badRecord) all.splice(5, 0, bad);
    return (request) => {
      const { searchParams: query, pathname } = request.url;
      if (pathname !== '/rest/json/cves/2.0') return { status: 404, body: '<html><body>Not Found</body></html>' };
      const refused = refusalOf(request);
      if (refused) return refused;
      const requested = query.get('cveId');
      if (requested !== null) {
        if (badRecord && requested === 'CVE-2026-99999') return page([bad], 0, 1);
        const n = Number(requested.replace('CVE-2025-', '')) - 10_000;
        return n >= 0 && n < CVES ? page([vulnerability(n)], 0, 1) : { status: 404 };
      }
      const [start, end] = [query.get('lastModStartDate'), query.get('lastModEndDate')];
      const listed = all.filter((one) => start === null || end === null || isBetween((one as { cve: { lastModified: string } }).cve.lastModified, start, end));
      const from = Number(query.get('startIndex') ?? 0);
      const size = Number(query.get('resultsPerPage') ?? 2_000);
      const answer = page(listed.slice(from, from + Math.min(size, pageSize)), from, endless ? 100_000 : listed.length);
      return { ...answer, page: size > 1 };
    };
  },
};

function refusalOf({ url: { searchParams: query }, headers }: FakeRequest): FakeResponse | null {
  const refused = (message: string): FakeResponse => ({ status: 404, headers: { message } });
  if (headers.apikey !== undefined && headers.apikey !== KEY) return refused('Invalid apiKey.');
  const [start, end] = [query.get('lastModStartDate'), query.get('lastModEndDate')];
  if ((start === null) !== (end === null)) return refused('lastModStartDate and lastModEndDate are both required.');
  if (start && end && !(Date.parse(end) - Date.parse(start) <= MAX_RANGE_MS)) return refused('The date range cannot exceed 120 days.');
  return null;
}

function isBetween(time: string, start: string, end: string): boolean {
  const at = Date.parse(`${time}Z`);
  return at >= Date.parse(start) && at <= Date.parse(end);
}

function page(vulnerabilities: Json[], startIndex: number, totalResults: number): FakeResponse {
  return {
    page: true,
    body: { resultsPerPage: vulnerabilities.length, startIndex, totalResults, format: 'NVD_CVE', version: '2.0', timestamp: NOW, vulnerabilities },
  };
}
