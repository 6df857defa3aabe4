import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApi, type TestApi } from '../../testing/http/api.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startApi();
  for (const [title, asset] of [
    ['log4j-core: RCE', { type: 'repository', name: 'https://git.example.com/shop' }],
    ['Weak cipher', { type: 'container_image', name: 'registry.example.com/team/app' }],
    ['Old libfoo', { type: 'host', name: 'cdn.example.org' }],
  ] as const) {
    const body = { title, severity: 'high', asset };
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

  it.each(['!&|', 'a', '-- .', '%', '_x', '本'])('for %j, which has no word, is rejected in lists and bulk changes', async (q) => {
    const detail = 'must have the form: Words with at least two letters or digits';
    expect(await search(q)).toMatchObject({ status: 400, body: { errors: [{ in: 'query', path: '/q', detail }] } });
    const body = { filter: { q }, change: { status: 'in_progress' } };
    const bulk = await api.call('POST', '/api/v1/findings/bulk', { as: api.ours.owner, body });
    expect(bulk).toMatchObject({ status: 400, body: { errors: [{ path: '/filter/q', detail }] } });
  });

  it('for something that only looks like words finds nothing', async () => {
    expect(await titles('\u0130\u0130')).toEqual([]);
  });
});

describe('what has only a package URL', () => {
  const packages: [title: string, purl: string][] = [
    ['npm', 'pkg:npm/%40angular/core@17.0.0'],
    ['pypi', 'pkg:pypi/Typed_AST@1.5.4'],
    ['maven', 'pkg:maven/org.example.web/shop-core@2.14.1'],
    ['deb', 'pkg:deb/debian/libssl3@3.0.11-1~deb12u2'],
  ];
  const found = async (filter: object): Promise<string[]> => {
    const { body } = await api.call('GET', `/api/v1/findings?sort=first_seen&tag=purl&${new URLSearchParams({ ...filter })}`, { as: api.ours.owner });
    return (body as { data: { title: string }[] }).data.map(({ title }) => title);
  };
  beforeAll(async () => {
    const asset = { type: 'repository', name: 'https://git.example.com/packages' };
    for (const [title, purl] of packages) {
      const body = { title, severity: 'high', asset, location: { purl }, tags: ['purl'] };
      expect(await api.call('POST', '/api/v1/findings', { as: api.ours.owner, body })).toMatchObject({ status: 201 });
    }
  });

  it.each<[object, string[]]>([
    [{ component: '@angular/core' }, ['npm']],
    [{ component: 'core' }, []],
    [{ component: 'typed-ast' }, ['pypi']],
    [{ component: 'org.example.web:shop-core' }, ['maven']],
    [{ component: 'shop-core' }, ['maven']],
    [{ component: 'libssl3' }, ['deb']],
    [{ not_component: '@angular/core' }, ['pypi', 'maven', 'deb']],
    [{ q: 'angular' }, ['npm']],
    [{ q: '17.0.0' }, ['npm']],
    [{ q: '2.14.1' }, ['maven']],
    ...packages.map(([title, q]): [object, string[]] => [{ q }, [title]]),
  ])('is found by %j', async (filter, titles) => {
    expect(await found(filter)).toEqual(titles);
  });
});

describe('the filters over HTTP', () => {
  const get = (path: string) => api.call('GET', `/api/v1${path}`, { as: api.ours.owner });
  const bulk = (filter: object) =>
    api.call('POST', '/api/v1/findings/bulk', { as: api.ours.owner, body: { filter, change: { add_tags: ['x'] }, dry_run: true } });
  const asset_id = '01994f3e-8a10-7c31-9d3c-5f1f4b8f0a11';

  it('take CWEs as numbers and as ids', async () => {
    const body = { title: 'Reflected XSS', severity: 'low', cwes: [79], asset: { type: 'host', name: 'cdn.example.org' } };
    expect(await api.call('POST', '/api/v1/findings', { as: api.ours.owner, body })).toMatchObject({ status: 201 });
    for (const cwe of ['79', 'CWE-79', 'cwe-079', '1,79'])
      expect(await get(`/findings?cwe=${cwe}`)).toMatchObject({ status: 200, body: { data: [{ cwes: [79] }] } });
    for (const cwe of [[79], ['CWE-79']]) expect(await bulk({ cwe })).toMatchObject({ status: 200, body: { counts: { matched: 1 } } });
    for (const cwe of ['CVE-79', '0', 'CWE-', '100000'])
      expect(await get(`/findings?cwe=${cwe}`)).toMatchObject({ status: 400, body: { errors: [{ path: '/cwe/0' }] } });
    expect(await bulk({ cwe: [0] })).toMatchObject({ status: 400, body: { errors: [{ path: '/filter/cwe/0' }] } });
  });

  it('take a build only together with its asset', async () => {
    const missing = { status: 400, body: { errors: [{ code: 'required', detail: expect.stringContaining('asset_version') }] } };
    for (const path of ['/findings', '/findings/export', '/findings/stats']) {
      expect(await get(`${path}?asset_version=1.4`)).toMatchObject(missing);
      expect(await get(`${path}?asset_version=1.4&asset_id=${asset_id}`)).toMatchObject({ status: 200 });
    }
    expect(await bulk({ asset_version: '1.4' })).toMatchObject(missing);
    expect(await bulk({ asset_version: '1.4', asset_id })).toMatchObject({ status: 200, body: { counts: { matched: 0 } } });
  });
});
