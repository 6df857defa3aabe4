import { sql } from 'kysely';
import { beforeAll, describe, expect, it } from 'vitest';
import { withClient } from '../../db/connection/with-client.ts';
import { type PackageBody, usePackages } from '../../testing/evidence/packages.ts';

const world = usePackages({ config: { RRS_TRUSTED_PROXIES: '127.0.0.1', RRS_PUBLIC_URL: 'https://rrs.example' } });

interface Link {
  id: string;
  url: string;
  api_url: string;
  status: string;
  downloads: number;
  max_downloads: number | null;
  remaining_downloads: number | null;
}

let sealed: PackageBody;
beforeAll(async () => {
  const { id } = await world.post<{ id: string }>('/work-items', { title: 'Shared' });
  sealed = await world.seal(id, { formats: ['csv'] });
});

const links = (): string => `/riskops-evidence/packages/${sealed.package_id}/share-links`;
const share = (max_downloads: number | null) => world.post<Link>(links(), { recipient: 'Grace', max_downloads });
const pathOf = ({ api_url }: Link): string => api_url.replace('https://rrs.example', '');
const [HERE, ELSEWHERE] = ['203.0.113.1', '198.51.100.7'];
const visit = (link: Link, path = '', { from = HERE, range = '' } = {}) =>
  world.api().call('GET', pathOf(link) + path, { headers: { 'x-forwarded-for': from, ...(range && { range }) } });
const download = async (link: Link, options: { from?: string; range?: string; format?: string } = {}) =>
  (await visit(link, `/download?format=${options.format ?? 'zip'}`, options)).status;
const listed = async ({ id }: Link) => (await world.get<{ data: Link[] }>(links())).data.find((one) => one.id === id);
const receipts = async ({ id }: Link) => {
  const { rows } = await world
    .api()
    .db.withSystem((tx) => sql<{ outcome: string }>`select outcome from package_receipts where share_link_id = ${id} order by id`.execute(tx));
  return rows.map(({ outcome }) => outcome);
};
/** Uses a superuser without triggers: receipts cannot be changed. */
const ageReceipts = ({ id }: Link) =>
  withClient(world.api().databaseUrl, (client) =>
    client.query(
      `set session_replication_role = replica; update rrs.package_receipts set occurred_at = occurred_at - interval '1 hour' where share_link_id = '${id}'`,
    ),
  );

describe('a share link with a limit', () => {
  it('refuses further downloads with 410 and says why, but still shows the package', async () => {
    const link = await share(2);
    expect(link).toMatchObject({ max_downloads: 2, remaining_downloads: 2, downloads: 0, status: 'active' });
    expect([await download(link), await download(link, { format: 'csv' })]).toEqual([200, 200]);
    const refused = await visit(link, '/download');
    expect(refused).toMatchObject({ status: 410, body: { code: 'gone', detail: expect.stringContaining('allows 2 downloads, and no download is left') } });
    expect(await visit(link)).toMatchObject({ status: 200, body: { remaining_downloads: 0 } });
    expect(await listed(link)).toMatchObject({ status: 'used_up', downloads: 2, max_downloads: 2, remaining_downloads: 0 });
    expect(await receipts(link)).toEqual(['whole', 'whole']);
  });

  it('gives the last download to only one of many requests at the same time', async () => {
    const link = await share(3);
    const answers = await Promise.all(Array.from({ length: 12 }, (_, n) => download(link, { from: `203.0.113.${n + 10}` })));
    expect(answers.filter((status) => status === 200)).toHaveLength(3);
    expect(answers.filter((status) => status === 410)).toHaveLength(9);
    expect(await listed(link)).toMatchObject({ downloads: 3, remaining_downloads: 0 });
    expect(await receipts(link)).toHaveLength(3);
  });

  it('counts the ranges of one download once, also if they are requested at the same time', async () => {
    const link = await share(1);
    const ranges = ['bytes=0-99', 'bytes=100-199', 'bytes=200-', 'bytes=300-'];
    expect(await Promise.all(ranges.map((range) => download(link, { range })))).toEqual([206, 206, 206, 206]);
    expect((await receipts(link)).toSorted()).toEqual(['continued', 'continued', 'continued', 'part']);
    expect(await download(link)).toBe(410);
  });

  it('lets an interrupted download resume from the same address only, for the same format, for an hour', async () => {
    const link = await share(1);
    expect(await download(link)).toBe(200);
    expect(await download(link, { range: 'bytes=10-' })).toBe(206);
    expect(await download(link, { range: 'bytes=10-', from: ELSEWHERE })).toBe(410);
    expect(await download(link, { range: 'bytes=1-', format: 'csv' })).toBe(410);
    await ageReceipts(link);
    expect(await download(link, { range: 'bytes=10-' })).toBe(410);
    expect(await listed(link)).toMatchObject({ downloads: 1 });
  });

  it('does not count HEAD requests, unchanged content and formats that the package lacks', async () => {
    const link = await share(1);
    const call = (method: string, path: string, headers: Record<string, string> = {}) => world.api().call(method, pathOf(link) + path, { headers });
    expect((await call('HEAD', '/download')).status).toBe(200);
    expect((await call('GET', '/download', { 'if-none-match': `"${sealed.hashes.archive_sha256}"` })).status).toBe(304);
    expect((await call('GET', '/download?format=pdf')).status).toBe(404);
    expect((await call('GET', '/download', { range: 'bytes=99999999-' })).status).toBe(416);
    expect(await listed(link)).toMatchObject({ downloads: 0, remaining_downloads: 1 });
  });
});

it('a share link without a limit counts its downloads and never runs out', async () => {
  const link = await share(null);
  for (let n = 0; n < 3; n++) expect(await download(link)).toBe(200);
  expect(await listed(link)).toMatchObject({ status: 'active', downloads: 3, max_downloads: null, remaining_downloads: null });
});
