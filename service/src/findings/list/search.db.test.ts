import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApi, type TestApi } from '../../testing/http/api.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startApi();
  for (const [title, asset] of [
    ['log4j-core: RCE', 'https://git.example.com/shop'],
    ['Weak cipher', 'registry.example.com/team/app:1.4'],
    ['Old libfoo', 'cdn.example.org'],
  ] as const) {
    const body = { title, severity: 'high', asset: { type: 'host', name: asset } };
    expect(await api.call('POST', '/api/v1/findings', { as: api.ours.owner, body })).toMatchObject({ status: 201 });
  }
});
afterAll(() => api?.close());

const search = (q: string) => api.call('GET', `/api/v1/findings?sort=first_seen&q=${encodeURIComponent(q)}`, { as: api.ours.owner });
const titles = async (q: string) => ((await search(q)).body as { data: { title: string }[] }).data.map(({ title }) => title);

describe('the search', () => {
  it.each([
    ['log4j-core', ['log4j-core: RCE']],
    ['git.example.com', ['log4j-core: RCE']],
    ['registry.example.com', ['Weak cipher']],
    ['example.com', ['log4j-core: RCE', 'Weak cipher']],
    ['weak registry.example.com/team', ['Weak cipher']],
    ["it's\\", []],
  ])('for %j finds %j', async (q, found) => {
    expect(await titles(q)).toEqual(found);
  });

  it('finds a word that was stored with a trailing separator', async () => {
    await api.db.withTenant({ orgId: api.ours.id }, (tx) =>
      tx.updateTable('findings').set({ search: "'w:libfoo:' 'w:libfoo-core:' 'w:libfoo' 'w:core'" }).where('title', '=', 'Old libfoo').execute(),
    );
    expect(await titles('libfoo-core')).toEqual(['Old libfoo']);
  });

  it.each(['!&|', 'a', '-- .'])('for %j, which has no word, is rejected in lists and bulk changes', async (q) => {
    expect(await search(q)).toMatchObject({ status: 400, body: { errors: [{ in: 'query', path: '/q', detail: expect.stringContaining('two letters') }] } });
    const body = { filter: { q }, change: { status: 'in_progress' } };
    const bulk = await api.call('POST', '/api/v1/findings/bulk', { as: api.ours.owner, body });
    expect(bulk).toMatchObject({ status: 400, body: { errors: [{ path: '/filter/q' }] } });
  });

  it('for something that only looks like words finds nothing', async () => {
    expect(await titles('\u0130\u0130')).toEqual([]);
  });
});
