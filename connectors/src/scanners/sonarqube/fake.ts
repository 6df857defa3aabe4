import type { Json } from '../../core/contract.ts';
import type { FakeResponse, FakeVendor } from '../../testing/fake-server.ts';

const TOKEN = 'squ_0123456789abcdef';
const PROJECTS = ['acme:shop', 'acme:site', 'acme:tools', 'acme:empty'];
const statuses = [
  { status: 'OPEN', issueStatus: 'OPEN' },
  { status: 'CONFIRMED', issueStatus: 'CONFIRMED' },
  { status: 'CLOSED', resolution: 'FIXED', issueStatus: 'FIXED' },
  { status: 'RESOLVED', resolution: 'WONTFIX', issueStatus: 'ACCEPTED' },
];
const reviews = [{ status: 'TO_REVIEW' }, { status: 'REVIEWED', resolution: 'SAFE' }, { status: 'REVIEWED', resolution: 'FIXED' }];

const place = (n: number, projects: number) => {
  const project = PROJECTS[n % projects] ?? '';
  return { project, component: `${project}:src/file${n}.ts`, line: n + 1, textRange: { startLine: n + 1, endLine: n + 2, startOffset: 0, endOffset: 9 } };
};

const issue = (n: number, projects: number): Record<string, Json> => ({
  key: `AX-${n}`,
  ...place(n, projects),
  rule: `typescript:S${5000 + (n % 3)}`,
  type: 'VULNERABILITY',
  severity: ['BLOCKER', 'CRITICAL', 'MAJOR', 'MINOR', 'INFO'][n % 5] ?? 'INFO',
  impacts: [{ softwareQuality: 'SECURITY', severity: 'HIGH' }],
  message: `Do not do this (${n}).`,
  tags: ['cwe', 'owasp-a3'],
  creationDate: new Date(Date.UTC(2026, 0, 1) + Math.floor(n / 2) * 1_000).toISOString().replace('.000Z', '+0000'),
  ...statuses[n % 4],
});

const hotspot = (n: number): Record<string, Json> => ({
  key: `HS-${n}`,
  ...place(n, 3),
  ruleKey: 'typescript:S2245',
  securityCategory: 'weak-cryptography',
  vulnerabilityProbability: ['HIGH', 'MEDIUM', 'LOW'][n % 3] ?? 'LOW',
  message: `Is this random number good enough (${n})?`,
  creationDate: '2026-01-02T08:00:00+0000',
  ...reviews[n % 3],
});

const failed = (status: number, msg: string): FakeResponse => ({ status, body: { errors: [{ msg }] } });

/** A vendor with this many vulnerabilities and projects. */
export function sonarqubeVendor(issues: number, projects: number): FakeVendor {
  return {
    id: 'sonarqube',
    settings: (origin) => ({ config: { api_url: origin }, credentials: { token: TOKEN } }),
    refused: (origin) => ({ config: { api_url: origin }, credentials: { token: 'squ_revoked0123456' } }),
    answer({ pageSize, endless, badRecord, shifts }) {
      const all = Array.from({ length: issues }, (_, n) => issue(n, projects));
      const hotspots = Array.from({ length: 9 }, (_, n) => hotspot(n));
      if (badRecord) all.splice(5, 0, { key: 'AX-bad', project: PROJECTS[0] ?? '', creationDate: '2026-01-01T00:00:02+0000' });
      const rules = [0, 1, 2].map((n) => ({ key: `typescript:S${5000 + n}`, name: `Rule ${n}`, lang: 'ts' }));

      const search = ({ searchParams }: URL, name: string, found: readonly Json[]): FakeResponse => {
        const page = Number(searchParams.get('p') ?? 1);
        const requested = Number(searchParams.get('ps') ?? 100);
        if (requested > 500) return failed(400, "'ps' value must be less than 500");
        const size = Math.min(requested, pageSize);
        if (page * size > 10_000) return failed(400, `Can return only the first 10000 results. ${page * size}th result asked.`);
        const total = endless && name !== 'components' ? Math.max(found.length, (page + 1) * size) : found.length;
        const paging = { pageIndex: page, pageSize: size, total };
        return { page: name !== 'components', body: { paging, [name]: found.slice((page - 1) * size, page * size), ...(name === 'issues' ? { rules } : {}) } };
      };

      return ({ url, headers }) => {
        if (headers.authorization !== `Bearer ${TOKEN}`) return { status: 401 };
        const { searchParams, pathname } = url;
        if (pathname === '/api/components/search') {
          if (searchParams.get('qualifiers') !== 'TRK') return failed(400, "The 'qualifiers' parameter is missing");
          return search(
            url,
            'components',
            PROJECTS.map((key) => ({ key, name: key, qualifier: 'TRK', project: key })),
          );
        }
        if (pathname === '/api/project_analyses/search') {
          const project = searchParams.get('project');
          if (!project || !PROJECTS.includes(project)) return failed(404, `Component key '${project}' not found`);
          return {
            body: { paging: { pageIndex: 1, pageSize: 1, total: 1 }, analyses: [{ key: 'AU-1', date: '2026-11-14T10:00:00+0000', projectVersion: '1.4' }] },
          };
        }
        if (pathname === '/api/hotspots/search') {
          const project = searchParams.get('projectKey');
          if (!project || !PROJECTS.includes(project)) return failed(404, `Project '${project}' not found`);
          return search(
            url,
            'hotspots',
            hotspots.filter((one) => one.project === project),
          );
        }
        if (pathname !== '/api/issues/search') return failed(404, `Unknown url : ${pathname}`);
        const since = Date.parse(searchParams.get('createdAfter') ?? '2000-01-01');
        const wanted = all.filter((one) => one.project === searchParams.get('componentKeys') && Date.parse(String(one.creationDate)) >= since);
        if (shifts && wanted[0]?.key === 'AX-0') all.push(...all.splice(0, 1).map((gone) => ({ ...gone, key: 'AX-99' })));
        return search(url, 'issues', searchParams.get('types') === 'VULNERABILITY' ? wanted : []);
      };
    },
  };
}

export const sonarqubeFake: FakeVendor = sonarqubeVendor(26, 3);
