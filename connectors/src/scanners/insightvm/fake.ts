import type { Json } from '../../core/contract.ts';
import type { FakeResponse, FakeVendor } from '../../testing/fake-server.ts';

const KEY = 'insight-key-0123456789abcdef';
/** The last asset was only discovered. The one before it has no findings. */
const ASSETS = 14;
const assetId = (n: number): string => `8babcdef-5678-4678-8234-cabcdef0123e-default-asset-${String(n).padStart(2, '0')}`;

type Fields = Readonly<Record<string, Json>>;

const finding = (asset: number, n: number, status: string): Fields => ({
  vulnerability_id: `acme-cve-2025-${4000 + 3 * asset + n}`,
  check_id: null,
  key: n === 0 ? '' : `/opt/acme/lib${n}.jar`,
  port: n === 0 ? 443 : null,
  protocol: n === 0 ? 'TCP' : null,
  nic: null,
  proof: '<p><p>Vulnerable software installed: Acme 1.0</p></p>',
  status,
  first_found: '2026-10-01T08:00:00Z',
  last_found: '2026-11-14T08:00:00.000Z',
  reintroduced: null,
  solution_id: 'acme-upgrade-latest',
  solution_summary: 'Upgrade Acme',
  solution_fix: '<p>Download it from <a href="https://acme.example/">here.</a></p>',
  solution_type: 'rollup',
});

interface Listed {
  scanned: string;
  /** Found since yesterday. */
  fresh: Fields[];
  old: Fields[];
  gone: Fields[];
  record: Fields;
}

function asset(n: number): Listed {
  const hasFindings = n < ASSETS - 2;
  const isNew = n === 10;
  const second = finding(n, 1, n === 4 ? 'EXCEPTION_VULN_VERS' : n === 5 ? 'VULNERABLE_POTENTIAL' : 'VULNERABLE_VERS');
  const scanned = n < 9 ? '2026-11-10T08:00:00.000Z' : '2026-11-15T05:00:00.000Z';
  return {
    scanned,
    fresh: hasFindings && isNew ? [second] : [],
    old: hasFindings ? [finding(n, 0, 'VULNERABLE_EXPL'), ...(isNew ? [] : [second])] : [],
    gone: hasFindings && n % 3 === 0 ? [finding(n, 2, 'VULNERABLE_EXPL')] : [],
    record: {
      id: assetId(n),
      host_name: n === 2 ? '' : `app${n}.example.com`,
      ip: `192.0.2.${10 + n}`,
      mac: `00:00:5E:00:53:${String(10 + n)}`,
      os_description: 'Ubuntu Linux 24.04',
      type: 'guest',
      assessed_for_policies: false,
      assessed_for_vulnerabilities: n < ASSETS - 1,
      last_assessed_for_vulnerabilities: scanned,
      last_scan_end: scanned,
      total_vulnerabilities: hasFindings ? 2 : 0,
      tags: [{ name: 'berlin', type: 'SITE' }],
      unique_identifiers: [
        { id: `B7123456-5678-1234-ABCD-0000000000${10 + n}`, source: 'dmidecode' },
        { id: `cababcdefabcd0123456789f16d706${10 + n}`, source: 'R7 Agent' },
      ],
    },
  };
}

const definition = (id: string): Json => ({
  id,
  title: `Acme: ${id.slice(5).toUpperCase()}: Weakness`,
  description: 'Description.',
  cves: id.slice(5).toUpperCase(),
  references: `cve:${id.slice(5).toUpperCase()},cwe:CWE-79,url:https://acme.example/`,
  categories: 'Acme,Web',
  severity: Number(id.at(-1)) % 2 === 0 ? 'severe' : 'critical',
  severity_score: 7,
  risk_score: 500,
  cvss_v2_score: 5,
  cvss_v2_vector: '(AV:N/AC:L/Au:N/C:P/I:N/A:N)',
  cvss_v3_score: 7.5,
  cvss_v3_vector: 'CVSS:3.0/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:N/A:N',
  exploits: [],
  malware_kits: [],
  links: [{ href: 'https://acme.example/', id: 'https://acme.example/', source: 'url' }],
});

export const insightvmFake: FakeVendor = {
  id: 'insightvm',
  settings: (origin) => ({ config: { api_url: origin }, credentials: { api_key: KEY } }),
  refused: (origin) => ({ config: { api_url: origin }, credentials: { api_key: 'revoked-key-0123456789' } }),
  answer({ pageSize, endless, badRecord, epoch = () => 0 }) {
    const assets = (query: URLSearchParams, filter: string): FakeResponse => {
      const compared = query.get('comparisonTime') !== null;
      const since = /last_scan_end > (\S+)/.exec(filter)?.[1] ?? '';
      const size = Math.min(pageSize, Number(query.get('size') ?? 10));
      const [given, , after = ''] = query.get('cursor')?.split(':::') ?? [];
      const snapshot = String(1_542_252_837 + epoch());
      if (given !== undefined && given !== snapshot) return { status: 400, body: { message: 'The cursor is invalid or has expired' } };
      const rest = Array.from({ length: ASSETS }, (_, n) => asset(n)).filter(({ scanned, record }) => scanned > since && String(record.id) > after);
      const data = rest.slice(0, size).map(({ fresh, old, gone, record }) => {
        const same = compared ? old : [...old, ...fresh];
        const broken = badRecord && record.id === assetId(3) ? [{ status: 'VULNERABLE_EXPL' }] : [];
        return {
          ...record,
          ...(query.get('includeSame') === 'true' ? { same: [...broken, ...same] } : {}),
          ...(compared ? { new: fresh, remediated: gone } : {}),
        };
      });
      // An empty page follows the last asset.
      const last = String(rest.slice(0, size).at(-1)?.record.id ?? '');
      const cursor = endless ? `${snapshot}:::_S:::${last || `${after}0`}` : last === '' ? null : `${snapshot}:::_S:::${last}`;
      return {
        page: true,
        body: { data, metadata: { number: 0, size, totalResources: rest.length, totalPages: Math.ceil(rest.length / size), cursor }, links: [] },
      };
    };

    return ({ method, url, headers, body }) => {
      if (headers['x-api-key'] !== KEY) return { status: 401, body: { message: 'Unauthorized' } };
      if (method !== 'POST') return { status: 405, body: { message: 'Method Not Allowed' } };
      const filter = JSON.parse(body) as { asset?: string; vulnerability?: string };
      if (Number(url.searchParams.get('size') ?? 10) > 500) return { status: 400, body: { message: 'size must be less than or equal to 500' } };
      if (url.pathname === '/vm/v4/integration/assets') return assets(url.searchParams, filter.asset ?? '');
      if (url.pathname !== '/vm/v4/integration/vulnerabilities') return { status: 404, body: { message: 'Not Found' } };
      const ids = [...(filter.vulnerability?.matchAll(/'([^']+)'/g) ?? [])].map(([, id = '']) => id);
      return { body: { data: ids.map(definition), metadata: { number: 0, size: 500, totalResources: ids.length, totalPages: 1, cursor: null }, links: [] } };
    };
  },
};
