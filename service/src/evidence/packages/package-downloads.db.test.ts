import { sql } from 'kysely';
import { beforeAll, describe, expect, it } from 'vitest';
import { allFormats, type PackageBody, usePackages } from '../../testing/evidence/packages.ts';

const world = usePackages();
let sealed: PackageBody;
beforeAll(async () => {
  await world.scan('shop:1', ['openssl']);
  const { id } = await world.workItem('Downloaded', { asset: 'shop:1' });
  sealed = await world.seal(id, allFormats);
});

async function fetchIt(format: string, headers: Record<string, string> = {}, method = 'GET') {
  const { url, ours } = world.api();
  const answer = await fetch(`${url}/api/v1/riskops-evidence/packages/${sealed.package_id}/download?format=${format}`, {
    method,
    headers: { authorization: `Bearer ${ours.owner}`, ...headers },
  });
  return { status: answer.status, headers: answer.headers, bytes: Buffer.from(await answer.arrayBuffer()) };
}
const receipts = async () => {
  const { rows } = await world
    .api()
    .db.withSystem((tx) =>
      sql<{ format: string; outcome: string }>`select format, outcome from package_receipts where package_id = ${sealed.package_id} order by id`.execute(tx),
    );
  return rows.map(({ format, outcome }) => `${format} ${outcome}`);
};

const types: Record<string, [type: string, name: RegExp]> = {
  zip: ['application/zip', /^evidence-[\w-]+-1\.zip$/],
  pdf: ['application/pdf', /-report\.pdf$/],
  html: ['text/html; charset=utf-8', /-report\.html$/],
  json: ['application/json', /-evidence\.json$/],
  jsonl: ['application/jsonl', /-findings\.jsonl$/],
  csv: ['text/csv; charset=utf-8', /-findings\.csv$/],
  'oscal-ar': ['application/json', /-oscal-assessment-results\.json$/],
  'oscal-poam': ['application/json', /-oscal-poam\.json$/],
  openvex: ['application/json', /-openvex\.json$/],
  'cyclonedx-vex': ['application/vnd.cyclonedx+json', /-cyclonedx-vex\.json$/],
  sarif: ['application/sarif+json', /-results\.sarif$/],
};

describe('downloading a package', () => {
  it('offers every format', () => expect(sealed.downloads.map(({ format }) => format)).toEqual(Object.keys(types)));

  it.each(Object.entries(types))('sends %s as an attachment with its media type and name', async (format, [type, name]) => {
    const { size, sha256 } = sealed.downloads.find((download) => download.format === format) ?? {};
    const { status, headers } = await fetchIt(format);
    expect([status, headers.get('content-type'), headers.get('content-length'), headers.get('etag')]).toEqual([200, type, String(size), `"${sha256}"`]);
    const [, filename = ''] = /^attachment; filename="([^"]+)"; filename\*=UTF-8''/.exec(headers.get('content-disposition') ?? '') ?? [];
    expect(filename).toMatch(name);
    expect(headers.get('content-security-policy')).toMatch(/^sandbox; default-src 'none'/);
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('cache-control')).toBe('no-store');
  });

  it('supports range and conditional requests', async () => {
    const { bytes: whole, headers } = await fetchIt('zip');
    const etag = headers.get('etag') ?? '';
    const middle = whole.length >> 1;
    const [first, second] = [await fetchIt('zip', { range: `bytes=0-${middle - 1}` }), await fetchIt('zip', { range: `bytes=${middle}-`, 'if-range': etag })];
    expect([first.status, second.status]).toEqual([206, 206]);
    expect(first.headers.get('content-range')).toBe(`bytes 0-${middle - 1}/${whole.length}`);
    expect(second.headers.get('content-range')).toBe(`bytes ${middle}-${whole.length - 1}/${whole.length}`);
    expect(Buffer.concat([first.bytes, second.bytes]).equals(whole)).toBe(true);
    const changed = await fetchIt('zip', { range: 'bytes=0-9', 'if-range': '"another"' });
    expect([changed.status, changed.bytes.length]).toEqual([200, whole.length]);
    const behind = await fetchIt('zip', { range: `bytes=${whole.length}-` });
    expect([behind.status, behind.headers.get('content-range')]).toEqual([416, `bytes */${whole.length}`]);
    expect((await fetchIt('zip', { 'if-none-match': etag })).status).toBe(304);
  });

  it('records a receipt for each download, but not for HEAD, 304 or 416', async () => {
    const before = await receipts();
    const head = await fetchIt('zip', {}, 'HEAD');
    const { size, sha256 } = sealed.downloads[0] ?? {};
    expect([head.status, head.bytes.length, head.headers.get('content-length'), head.headers.get('etag')]).toEqual([200, 0, String(size), `"${sha256}"`]);
    await fetchIt('zip', { range: 'bytes=99999999-' });
    await fetchIt('zip', { 'if-none-match': `"${sha256}"` });
    expect(await receipts()).toEqual(before);
    await fetchIt('csv');
    await fetchIt('pdf', { range: 'bytes=0-9' });
    expect((await receipts()).slice(before.length)).toEqual(['csv whole', 'pdf part']);
  });
});

describe('listing packages', () => {
  it('filters by a period of dates or date-times and rejects other values', async () => {
    const list = (query: string) => world.api().call('GET', `/api/v1/riskops-evidence/packages?${query}`, { as: world.api().ours.owner });
    const [today, tomorrow] = [0, 1].map((days) => new Date(Date.now() + days * 86_400_000).toISOString());
    for (const [query, count] of [
      [`generated_from=${today?.slice(0, 10)}`, 1],
      [`generated_from=${tomorrow?.slice(0, 10)}`, 0],
      [`generated_to=${tomorrow}`, 1],
      [`generated_to=${today?.slice(0, 10)}`, 0],
    ] as const)
      expect([query, ((await list(query)).body as { data: unknown[] }).data.length]).toEqual([query, count]);
    for (const wrong of ['2026-02-30', 'today', '']) expect((await list(`generated_from=${wrong}`)).status).toBe(400);
  });
});
