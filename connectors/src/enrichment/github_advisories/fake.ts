import type { Json } from '../../core/contract.ts';
import type { FakeResponse, FakeVendor } from '../../testing/fake-server.ts';

const TOKEN = 'github_pat_0123456789abcdef';
const letters = '23456789cfghjmpqrvwx';
const ghsa = (n: number): string => `GHSA-5555-6666-77${letters[n % 20]}${letters[Math.floor(n / 20)]}`;

const advisory = (n: number, type: string): Json => ({
  ghsa_id: ghsa(n),
  cve_id: n % 5 === 0 ? null : `CVE-2025-${10_000 + n}`,
  url: `https://api.github.com/advisories/${ghsa(n)}`,
  summary: `Weakness ${n}`,
  type,
  severity: 'high',
  identifiers: [{ type: 'GHSA', value: ghsa(n) }, ...(n % 5 === 0 ? [] : [{ type: 'CVE', value: `CVE-2025-${10_000 + n}` }])],
  published_at: '2026-10-01T08:00:00Z',
  updated_at: `2026-11-${String(1 + (n % 14)).padStart(2, '0')}T08:00:00Z`,
  withdrawn_at: n === 3 ? '2026-11-04T08:00:00Z' : null,
  vulnerabilities: [{ package: { ecosystem: 'npm', name: `lib${n}` }, vulnerable_version_range: '< 1.0.1', first_patched_version: '1.0.1' }],
  cvss_severities: {
    cvss_v3: { vector_string: 'CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:N/A:N', score: 7.5 },
    cvss_v4: { vector_string: null, score: 0 },
  },
  cvss: { vector_string: 'CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:N/A:N', score: 7.5 },
  cwes: [{ cwe_id: 'CWE-79', name: 'Cross-site Scripting' }],
  epss: { percentage: 0.00045, percentile: 0.16 },
});

const updatedAt = (one: Json): string => (one as { updated_at: string }).updated_at;
const byChange = (a: Json, b: Json): number => (updatedAt(a) < updatedAt(b) ? -1 : updatedAt(a) > updatedAt(b) ? 1 : 0);

export const githubAdvisoriesFake: FakeVendor = {
  id: 'github_advisories',
  settings: (origin) => ({ config: { api_url: origin, include_unreviewed: false }, credentials: { token: TOKEN } }),
  refused: (origin) => ({ config: { api_url: origin, include_unreviewed: false }, credentials: { token: 'github_pat_revoked0000' } }),
  variants: [{ include_unreviewed: true }],
  answer({ pageSize, endless, badRecord }) {
    const all: Record<string, Json[]> = {
      reviewed: Array.from({ length: 25 }, (_, n) => advisory(n, 'reviewed')).sort(byChange),
      unreviewed: Array.from({ length: 12 }, (_, n) => advisory(n + 25, 'unreviewed')).sort(byChange),
    };
    if (badRecord) all.reviewed?.splice(5, 0, { cve_id: 'CVE-2025-1', updated_at: '2026-11-02T08:00:00Z' });
    return ({ url, headers }) => {
      const failed = (status: number, message: string): FakeResponse => ({
        status,
        body: { message, documentation_url: 'https://docs.github.com/rest', status: String(status) },
      });
      if (headers.authorization !== undefined && headers.authorization !== `Bearer ${TOKEN}`) return failed(401, 'Bad credentials');
      if (url.pathname !== '/advisories') return failed(404, 'Not Found');
      const query = url.searchParams;
      const listed = all[query.get('type') ?? 'reviewed'];
      if (!listed || Number(query.get('per_page') ?? 30) > 100) return failed(422, 'Validation Failed');
      const since = /^>=(.+)$/.exec(query.get('updated') ?? '')?.[1] ?? '2000-01-01';
      const matching = listed.filter((one) => Date.parse(updatedAt(one)) >= Date.parse(since));
      const from = Number(Buffer.from(query.get('after') ?? '', 'base64').toString() || 0);
      const next = from + Math.min(Number(query.get('per_page') ?? 30), pageSize);
      const more = new URL(url);
      more.searchParams.set('after', Buffer.from(String(next)).toString('base64'));
      const link: Record<string, string> = endless || next < matching.length ? { link: `<${more}>; rel="next"` } : {};
      return { page: Number(query.get('per_page')) > 1, headers: link, body: matching.slice(from, next) };
    };
  },
};
