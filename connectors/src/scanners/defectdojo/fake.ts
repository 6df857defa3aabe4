import type { Json } from '../../core/contract.ts';
import type { FakeResponse, FakeVendor } from '../../testing/fake-server.ts';

const KEY = '0123456789abcdef0123456789abcdef01234567';
const products = ['Shop', 'Site', 'Tools', 'Empty'].map((name, n) => ({ id: n + 1, name, prod_type: { id: 1, name: 'Web' } }));
const endpoints: Record<string, Json> = {
  7: { id: 7, protocol: 'https', host: 'shop.example.com', port: null, path: 'login', query: null },
  8: { id: 8, protocol: null, host: '10.0.0.8', port: 8443, path: null, query: null },
};

/** The product, the tool and the end of each test. The last product was never scanned. */
const TESTS = [
  [1, 3, '2026-11-10T08:00:00Z'],
  [1, 3, '2026-11-14T08:00:00Z'],
  [1, 5, '2026-11-12T08:00:00Z'],
  [2, 3, '2026-11-14T08:00:00Z'],
  [3, 3, '2026-11-14T08:00:00Z'],
] as const;

const finding = (n: number): Record<string, Json> => ({
  id: n + 1,
  title: `Weakness ${n}`,
  date: '2026-09-01',
  severity: ['Critical', 'High', 'Medium', 'Low', 'Info'][n % 5] ?? 'Info',
  description: 'Input is not checked.',
  impact: null,
  mitigation: 'Check it.',
  references: 'See https://example.com/advice and <https://example.org/more>.',
  cwe: 79,
  cwes: [{ cwe: 'CWE-79' }],
  vulnerability_ids: n % 2 === 0 ? [{ vulnerability_id: `CVE-2025-${5000 + n}` }] : [],
  vuln_id_from_tool: n % 2 === 0 ? null : `rule-${n}`,
  cvssv3: 'CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:N/A:N',
  cvssv3_score: 7.5,
  active: n % 6 < 2,
  is_mitigated: n % 6 === 2 || n % 6 === 3,
  false_p: n % 6 === 3,
  risk_accepted: n % 6 === 4,
  out_of_scope: false,
  duplicate: n === 20,
  last_status_update: n === 0 ? null : `2026-10-${String(n).padStart(2, '0')}T08:00:00Z`,
  last_reviewed: n === 7 ? '2026-10-25T09:00:00Z' : '2026-09-01T08:00:00Z',
  component_name: n % 4 === 0 ? `lib${n}` : null,
  component_version: n % 4 === 0 ? '1.0.0' : null,
  fix_version: n % 4 === 0 ? '2.0.0' : null,
  file_path: n % 4 === 1 ? `src/file${n}.py` : null,
  line: n % 4 === 1 ? 7 : null,
  endpoints: n % 4 === 2 ? [7] : n % 4 === 3 ? [7, 8] : [],
  tags: ['pci'],
  related_fields: {
    test: { id: 1, title: null, test_type: { id: 3, name: 'Acme Scan' }, engagement: { id: 2, name: 'CI', product: products[n % 3] ?? null } },
  },
});

/** Sorted by last change. Null comes first in descending order, as in PostgreSQL. */
const byChange =
  (field: string) =>
  (a: Record<string, Json>, b: Record<string, Json>): number =>
    String(a[field] ?? '9') < String(b[field] ?? '9') ? 1 : -1;

export const defectdojoFake: FakeVendor = {
  id: 'defectdojo',
  settings: (origin) => ({ config: { api_url: origin }, credentials: { api_key: KEY } }),
  refused: (origin) => ({ config: { api_url: origin }, credentials: { api_key: 'revoked0123456789abcdef' } }),
  answer({ pageSize, endless, badRecord, shifts }) {
    const findings = Array.from({ length: 26 }, (_, n) => finding(n));
    if (badRecord) findings.splice(5, 0, { ...finding(5), id: 99, title: null });
    const listed = (url: URL, all: readonly Record<string, Json>[]): FakeResponse => {
      const { searchParams } = url;
      const limit = Math.min(Number(searchParams.get('limit') ?? 25), pageSize);
      const offset = Number(searchParams.get('offset') ?? 0);
      const next = new URL(url);
      next.searchParams.set('offset', String(offset + limit));
      const isMore = endless || offset + limit < all.length;
      const results = all.slice(offset, offset + limit);
      return {
        page: url.pathname.includes('findings'),
        body: { count: all.length, next: isMore ? next.toString() : null, previous: null, results, prefetch: { endpoints } },
      };
    };
    return ({ url, headers }) => {
      if (headers.authorization !== `Token ${KEY}`) return { status: 401, headers: { 'www-authenticate': 'Token' }, body: { detail: 'Invalid token.' } };
      const chosen = (name: string): string[] | undefined => url.searchParams.get(name)?.split(',');
      if (url.pathname === '/api/v2/products/')
        return listed(
          url,
          products.filter(({ id }) => chosen('id')?.includes(String(id)) ?? true),
        );
      if (url.pathname === '/api/v2/tests/') {
        const tests = TESTS.map(([product, tool, end], n) => ({ id: n + 1, engagement: product, test_type: tool, target_start: end, target_end: end }));
        const engagement = Object.fromEntries(products.map(({ id }) => [id, { id, name: 'CI', product: id }]));
        const { page: _, body } = listed(url, tests);
        return { body: { ...(body as Record<string, Json>), prefetch: { engagement } } };
      }
      if (url.pathname !== '/api/v2/findings/') return { status: 404, body: { detail: 'Not found.' } };
      const wanted = chosen('test__engagement__product');
      const shown = findings
        .filter(({ duplicate }) => url.searchParams.get('duplicate') !== 'false' || duplicate !== true)
        .filter(({ related_fields }) => wanted === undefined || wanted.some((id) => JSON.stringify(related_fields).includes(`"product":{"id":${id},`)))
        .map(({ related_fields, ...rest }) => ({
          ...rest,
          related_fields: url.searchParams.get('related_fields') === 'true' ? (related_fields ?? null) : null,
        }));
      if (shifts && findings[0]?.id === 1) findings.push(...findings.splice(0, 1).map((gone) => ({ ...gone, id: 99 })));
      const order = url.searchParams.get('o')?.slice(1);
      return listed(url, order === 'last_status_update' || order === 'last_reviewed' ? shown.sort(byChange(order)) : shown);
    };
  },
};
