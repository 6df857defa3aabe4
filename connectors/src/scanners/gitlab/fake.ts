import type { Json } from '../../core/contract.ts';
import { type FakeResponse, type FakeVendor, positionsOf } from '../../testing/fake-server.ts';

const TOKEN = 'glpat-0123456789abcdef';
const WEB = 'https://gitlab.example.com';
const projects = ['acme/shop', 'acme/web/site', 'acme/tools', 'acme/empty'];
const severities = ['INFO', 'LOW', 'MEDIUM', 'HIGH', 'CRITICAL', 'UNKNOWN'];
const states = ['DETECTED', 'CONFIRMED', 'RESOLVED', 'DISMISSED'];

const dependency = (n: number): Json => ({ version: '1.0.0', package: { name: `lib${n}` } });
const kinds: { reportType: string; scanner: string; location(n: number): Json }[] = [
  { reportType: 'DEPENDENCY_SCANNING', scanner: 'gemnasium', location: (n) => ({ file: 'yarn.lock', dependency: dependency(n) }) },
  {
    reportType: 'SAST',
    scanner: 'semgrep',
    location: (n) => ({ file: `src/f${n}.ts`, startLine: '7', endLine: '9', vulnerableClass: null, vulnerableMethod: null }),
  },
  { reportType: 'CONTAINER_SCANNING', scanner: 'trivy', location: (n) => ({ image: 'registry.example.com/acme/shop:1.4', dependency: dependency(n) }) },
  { reportType: 'DAST', scanner: 'zaproxy', location: (n) => ({ hostname: 'https://shop.example.com', path: `/p/${n}`, param: 'q', requestMethod: 'GET' }) },
];

const vulnerability = (n: number): Json => {
  const kind = kinds[n % 4] as (typeof kinds)[number];
  return {
    id: `gid://gitlab/Vulnerability/${n}`,
    uuid: `5d2a1111-0000-5000-8000-${String(n).padStart(12, '0')}`,
    title: `Weakness ${n}`,
    description: 'Input is not checked.',
    solution: n % 4 === 0 ? `Upgrade to version 2.${n} or above.` : null,
    severity: severities[n % 6] ?? 'UNKNOWN',
    state: states[Math.floor(n / 4) % 4] ?? 'DETECTED',
    reportType: kind.reportType,
    detectedAt: '2026-09-01T08:00:00Z',
    resolvedOnDefaultBranch: n === 1,
    dismissalReason: states[Math.floor(n / 4) % 4] === 'DISMISSED' ? 'ACCEPTABLE_RISK' : null,
    webUrl: `${WEB}/${projects[n % 3]}/-/security/vulnerabilities/${n}`,
    project: { webUrl: `${WEB}/${projects[n % 3]}` },
    identifiers: [
      { externalType: 'cve', externalId: `CVE-2025-${3000 + n}`, name: `CVE-2025-${3000 + n}`, url: `https://cve.example.org/CVE-2025-${3000 + n}` },
      { externalType: 'cwe', externalId: '79', name: 'CWE-79', url: null },
    ],
    links: [{ url: 'https://docs.example.com/advice' }],
    scanner: { externalId: kind.scanner, name: kind.scanner },
    location: kind.location(n),
  };
};

export const gitlabFake: FakeVendor = {
  id: 'gitlab',
  settings: (origin) => ({ config: { api_url: origin, path: 'acme' }, credentials: { token: TOKEN } }),
  refused: (origin) => ({ config: { api_url: origin, path: 'acme' }, credentials: { token: 'glpat-revoked0123456' } }),
  answer({ pageSize, endless, badRecord, ...more }) {
    const positions = positionsOf({ pageSize, ...more });
    const all = Array.from({ length: 25 }, (_, n) => vulnerability(n));
    if (badRecord) all.splice(5, 0, { id: 'gid://gitlab/Vulnerability/99', uuid: null, title: null, identifiers: [], location: null });
    const fromOf = (after: string | null | undefined): number | null => positions.read(Buffer.from(after ?? '', 'base64').toString());
    const pageOf = (items: readonly Json[], { first, after }: { first?: number; after?: string | null }): Json => {
      const from = fromOf(after) ?? 0;
      const size = Math.min(first ?? 100, pageSize, 100);
      const hasNextPage = endless || from + size < items.length;
      return { pageInfo: { hasNextPage, endCursor: Buffer.from(positions.give(from + size)).toString('base64') }, nodes: items.slice(from, from + size) };
    };
    return ({ method, url, headers, body }): FakeResponse => {
      if (headers.authorization !== `Bearer ${TOKEN}`) return { status: 401, body: { errors: [{ message: 'Invalid token' }] } };
      if (method !== 'POST' || url.pathname !== '/api/graphql') return { status: 404, body: { error: '404 Not Found' } };
      const { query, variables } = JSON.parse(body) as { query: string; variables: { path: string; first?: number; after?: string | null } };
      const { path } = variables;
      if (fromOf(variables.after) === null) return { body: { errors: [{ message: 'Please provide a valid cursor' }], data: null } };
      const isGroup = path === 'acme';
      const isProject = projects.includes(path);
      const requests = (scope: string): boolean => query.includes(`${scope}(fullPath: $path)`);
      const found = all.filter((one) => isGroup || JSON.stringify(one).includes(`"${WEB}/${path}"`));
      // Only the requested fields, with null for what does not exist or is not visible.
      const parts: Record<string, Json> = {
        ...(query.includes('vulnerabilities(') ? { vulnerabilities: path === 'acme/tools' ? null : pageOf(found, variables) } : {}),
        ...(query.includes('projects(')
          ? {
              projects: pageOf(
                projects.map((name) => ({ webUrl: `${WEB}/${name}`, archived: false })),
                variables,
              ),
            }
          : {}),
      };
      const holder: Json = { webUrl: isGroup ? `${WEB}/groups/${path}` : `${WEB}/${path}`, ...parts };
      const data = { ...(requests('group') ? { group: isGroup ? holder : null } : {}), ...(requests('project') ? { project: isProject ? holder : null } : {}) };
      return { page: query.includes('vulnerabilities('), body: { data } };
    };
  },
};
