import { gzipSync } from 'node:zlib';
import type { Json } from '../../core/contract.ts';
import type { FakeOptions, FakeRequest, FakeResponse, FakeVendor } from '../../testing/fake-server.ts';

const FILE = '/epss_scores-current.csv.gz';
/** More than one batch. */
const SCORES = 4_500;
const scores = Array.from({ length: SCORES }, (_, n) => ({
  cve: `CVE-2025-${10_000 + n}`,
  epss: ((n % 1_000) / 1_000).toFixed(5),
  percentile: (n / SCORES).toFixed(5),
}));

export const epssFake: FakeVendor = {
  id: 'epss',
  settings: (origin) => ({ config: { mode: 'csv', csv_url: `${origin}${FILE}`, api_url: `${origin}/data/v1` }, credentials: {} }),
  variants: [{ mode: 'api' }],
  wanted: [...scores.slice(0, 25).map(({ cve }) => cve), 'CVE-2026-99999', 'GHSA-2222-3333-4444', 'SNYK-JS-LIB-1'],
  answer(options) {
    const file = gzipSync(fileOf(options));
    return (request) => {
      if (request.url.pathname === FILE) return { page: true, headers: { 'content-type': 'application/gzip' }, body: file };
      if (request.url.pathname === '/data/v1/epss') return byApi(request, options);
      return { status: 404, body: '<html><body>Not Found</body></html>' };
    };
  },
};

function fileOf({ badRecord }: FakeOptions): string {
  const rows = scores.map(({ cve, epss, percentile }) => `${cve},${epss},${percentile}`);
  if (badRecord) rows.splice(5, 0, 'CVE-2025-1,high,0.1');
  return ['#model_version:v2026.06.15,score_date:2026-11-14T12:00:27Z', 'cve,epss,percentile', ...rows, ''].join('\n');
}

function byApi({ url }: FakeRequest, { pageSize, endless, badRecord }: FakeOptions): FakeResponse {
  const failed = (message: string): FakeResponse => ({ status: 400, body: { status: 'ERROR', 'status-code': 400, message } });
  const requested = url.searchParams.get('cve');
  if ((requested?.length ?? 0) > 2_000) return failed('cve is too long');
  const offset = Number(url.searchParams.get('offset') ?? 0);
  const limit = Math.min(Number(url.searchParams.get('limit') ?? 100), pageSize);
  const rows: Json[] = scores.filter(({ cve }) => requested === null || requested.split(',').includes(cve)).map((row) => ({ ...row, date: '2026-11-14' }));
  if (badRecord && requested?.includes('CVE-2026-99999')) rows.push({ cve: 'CVE-2026-99999', epss: null, percentile: null, date: '2026-11-14' });
  const data = rows.slice(offset, offset + limit);
  const total = rows.length + (endless ? 1_000 : 0);
  return { page: requested !== null, body: { status: 'OK', 'status-code': 200, version: '1.0', access: 'public', total, offset, limit, data } };
}
