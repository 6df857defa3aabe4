import { afterAll, beforeAll, expect, it } from 'vitest';
import { startApi, type TestApi } from '../testing/http/api.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startApi();
  for (const { owner } of [api.ours, api.theirs]) {
    const create = (path: string, body: object) => api.call('POST', `/api/v1${path}`, { as: owner, body });
    const finding = await create('/findings', { title: 'Overflow in openssl', severity: 'high', asset: { type: 'host', name: 'openssl-gateway.example' } });
    await create('/work-items', { title: 'Update openssl', finding_ids: [(finding.body as { id: string }).id] });
    await create('/integrations', { provider: 'report_url', name: 'Reports of openssl', config: { url: 'https://example.com/report.json' }, enabled: false });
  }
});
afterAll(() => api?.close());

type Result = Record<string, { id: string; title: string; hint: string }[]>;
const search = async (query: string, as = api.ours.owner) => (await api.call('GET', `/api/v1/search?${query}`, { as })).body as Result;

it('finds things of every kind in one request, ignoring case, of the own organization only', async () => {
  const found = await search('q=OpenSSL');
  expect(Object.fromEntries(Object.entries(found).map(([kind, hits]) => [kind, hits.map(({ title, hint }) => [title, hint])]))).toEqual({
    findings: [['Overflow in openssl', 'openssl-gateway.example']],
    assets: [['openssl-gateway.example', 'host']],
    work_items: [['Update openssl', 'open']],
    packages: [],
    connections: [['Reports of openssl', 'report_url']],
  });
  const theirs = await search('q=openssl', api.theirs.owner);
  expect(
    Object.values(theirs)
      .flat()
      .map(({ id }) => id),
  ).not.toEqual(expect.arrayContaining([found.findings?.[0]?.id]));
});

it('takes any text: single letters, wildcards, quotes', async () => {
  for (const text of ['o', '%', "'", '\\', '"a b', '_']) expect(Object.keys(await search(`q=${encodeURIComponent(text)}`)), text).toHaveLength(5);
});
