import type { Json } from '../../core/contract.ts';
import { type FakeVendor, positionsOf } from '../../testing/fake-server.ts';

const ORG = '3a6b1e50-5d0c-4b1f-9a55-0f6f0c6d1a01';
const project = (n: number): string => `6b1f0000-0000-4000-8000-00000000000${n}`;
const severities = ['critical', 'high', 'medium', 'low'];

const issue = (n: number): Json => ({
  id: `11110000-0000-4000-8000-${String(n).padStart(12, '0')}`,
  type: 'issue',
  attributes: {
    key: `SNYK-JS-LIB${n}-1000${n}`,
    title: `Weakness ${n}`,
    type: 'package_vulnerability',
    status: n % 7 === 0 ? 'resolved' : 'open',
    ignored: false,
    effective_severity_level: severities[n % 4] ?? 'low',
    created_at: '2026-10-01T08:00:00Z',
    updated_at: '2026-11-01T08:00:00Z',
    classes: [{ id: 'CWE-79', source: 'CWE', type: 'weakness' }],
    problems: [
      { id: `SNYK-JS-LIB${n}-1000${n}`, source: 'SNYK', type: 'vulnerability' },
      { id: `CVE-2025-${1000 + n}`, source: 'NVD', type: 'vulnerability', url: `https://nvd.nist.gov/vuln/detail/CVE-2025-${1000 + n}` },
    ],
    coordinates: [{ state: 'open', representations: [{ dependency: { package_name: `lib${n}`, package_version: '1.0.0' } }] }],
    severities: [{ source: 'Snyk', level: 'high', score: 7.5, vector: 'CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:N/A:N', version: '3.1' }],
  },
  relationships: { organization: { data: { id: ORG, type: 'organization' } }, scan_item: { data: { id: project(n % 3), type: 'project' } } },
});

const ISSUES = 23;

export const snykFake: FakeVendor = {
  id: 'snyk',
  settings: (origin) => ({ config: { api_url: `${origin}/rest`, organization_id: ORG }, credentials: { token: 'snyk-token-0123456789' } }),
  refused: (origin) => ({ config: { api_url: `${origin}/rest`, organization_id: ORG }, credentials: { token: 'revoked-token-0123' } }),
  answer({ pageSize, endless, badRecord, ...more }) {
    const positions = positionsOf({ pageSize, ...more });
    const issues = Array.from({ length: ISSUES }, (_, n) => issue(n));
    if (badRecord) issues.splice(5, 0, { id: 'x', type: 'issue', attributes: {} });
    return ({ url, headers }) => {
      const failed = (status: number, detail: string) => ({ status, body: { jsonapi: { version: '1.0' }, errors: [{ status: String(status), detail }] } });
      if (headers.authorization !== 'token snyk-token-0123456789') return failed(401, 'Unauthorized');
      if (!url.searchParams.has('version')) return failed(400, "Missing query parameter 'version'");
      if (url.pathname === `/rest/orgs/${ORG}/projects`) {
        const counted = { critical: 1, high: 1, medium: 1, low: 1, updated_at: new Date().toISOString() };
        const tested = url.searchParams.get('meta.latest_issue_counts') === 'true' ? { meta: { latest_issue_counts: counted } } : {};
        const data = [0, 1, 2, 3].map((n) => ({
          id: project(n),
          type: 'project',
          attributes: { name: `acme/shop-${n}`, status: n === 3 ? 'inactive' : 'active' },
          ...tested,
        }));
        return { body: { jsonapi: { version: '1.0' }, data, links: {} } };
      }
      if (url.pathname !== `/rest/orgs/${ORG}/issues`) return failed(404, 'Not Found');
      const from = positions.read(url.searchParams.get('starting_after')?.replace('v1.', ''));
      if (from === null) return failed(400, 'The starting_after cursor is invalid or has expired');
      const data = issues.slice(from, from + pageSize);
      const next = from + pageSize;
      const link = `/orgs/${ORG}/issues?version=2024-10-15&starting_after=v1.${positions.give(next)}`;
      return {
        page: true,
        headers: { 'content-type': 'application/vnd.api+json' },
        body: { jsonapi: { version: '1.0' }, data, links: endless || next < issues.length ? { next: link } : {} },
      };
    };
  },
};
