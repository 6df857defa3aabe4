import { afterAll, beforeAll, expect, it } from 'vitest';
import { workItemsOf } from '../../testing/findings/work-items.ts';
import { startApi, type TestApi } from '../../testing/http/api.ts';

interface Group {
  key: string;
  label: string;
  count: number;
  active: number;
  assets: number;
  max_risk: number;
  by_severity: Record<string, number>;
  filter: Record<string, string | string[]>;
}
interface Page {
  data: Group[];
  page: { next_cursor: string | null; total: { count: number } | null };
}

let api: TestApi;
let ours: ReturnType<typeof workItemsOf>;
beforeAll(async () => {
  api = await startApi();
  ours = workItemsOf(api);
  const hosts = ['a.example', 'b.example', 'c.example'];
  const make = (severity: string, name: string, more: object) => ours.finding({ severity, asset: { type: 'host', name }, ...more });
  for (const name of hosts) await make('critical', name, { cves: ['CVE-2021-44228', 'CVE-2021-45046'], cwes: [502], location: { component: 'log4j-core' } });
  await make('low', 'a.example', { cves: ['CVE-2020-0001'], location: { component: 'OpenSSL' }, tags: ['Payments'] });
  await ours.falsePositive(await make('low', 'a.example', { title: 'odd', tags: ['pci'] }));
  await workItemsOf(api, api.theirs.owner).finding({ cves: ['CVE-2021-44228'], location: { component: 'log4j-api' } });
});
afterAll(() => api?.close());

const get = async <T>(path: string): Promise<T> => {
  const { status, body } = await api.call('GET', `/api/v1${path}`, { as: api.ours.owner });
  expect(status, path).toBe(200);
  return body as T;
};

it('lists groups whose filter lists as many findings as they count', async () => {
  for (const by of ['asset', 'component', 'vulnerability', 'cwe']) {
    for (const filter of ['', '&severity=critical', '&not_status=false_positive']) {
      const { data } = await get<Page>(`/findings/groups?by=${by}${filter}`);
      for (const group of data) {
        const own = new URLSearchParams(Object.entries(group.filter).map(([name, value]): [string, string] => [name, String(value)]));
        const { page } = await get<Page>(`/findings?total=exact&limit=1&${own}${filter}`);
        expect({ by, key: group.key, count: page.total?.count }).toEqual({ by, key: group.key, count: group.count });
        expect(Object.values(group.by_severity).reduce((sum, count) => sum + count, 0)).toBe(group.count);
      }
    }
  }
});

it('pages through groups in every order', async () => {
  for (const sort of ['-max_risk', 'max_risk', '-count', '-assets', 'active']) {
    const all = await get<Page>(`/findings/groups?by=vulnerability&sort=${sort}`);
    const first = await get<Page>(`/findings/groups?by=vulnerability&sort=${sort}&limit=2`);
    const second = await get<Page>(`/findings/groups?by=vulnerability&sort=${sort}&limit=2&cursor=${first.page.next_cursor}`);
    expect([...first.data, ...second.data]).toEqual(all.data);
    expect(all.data.map(({ key }) => key).sort()).toEqual(['CVE-2020-0001', 'CVE-2021-44228', 'CVE-2021-45046']);
  }
});

it('returns the groups with the most active findings', async () => {
  const top = (query: string) => get<{ data: object[] }>(`/findings/top?${query}`);
  expect((await top('by=component')).data).toMatchObject([
    { key: 'log4j-core', active: 3, critical: 3, assets: 3 },
    { key: 'openssl', active: 1, critical: 0 },
  ]);
  expect((await top('by=asset&limit=1')).data).toMatchObject([{ label: 'a.example', active: 2, critical: 1 }]);
  expect((await top('by=cwe')).data).toMatchObject([{ label: 'CWE-502', active: 3, filter: { cwe: [502] } }]);
  expect((await top('by=asset&status=false_positive')).data).toEqual([]);
});

it('suggests values that begin with a text, of the own organization only', async () => {
  await api.call('PATCH', `/api/v1/assets/${(await get<Page>('/findings/groups?by=asset&asset=b.')).data[0]?.key}`, {
    as: api.ours.owner,
    body: { owner: 'Team P', tags: ['dmz'] },
  });
  const suggest = async (query: string) => (await get<{ data: string[] }>(`/findings/suggest?${query}`)).data;
  expect(await suggest('field=component&prefix=LOG4')).toEqual(['log4j-core']);
  expect(await suggest('field=component')).toEqual(['log4j-core', 'openssl']);
  expect(await suggest('field=component&prefix=zzz')).toEqual([]);
  expect(await suggest('field=tag&prefix=p')).toEqual(['Payments', 'pci']);
  expect(await suggest('field=cve&prefix=cve-2021')).toEqual(['CVE-2021-44228', 'CVE-2021-45046']);
  expect(await suggest('field=asset&prefix=b')).toEqual(['b.example']);
  expect(await suggest('field=owner&prefix=team')).toEqual(['Team P']);
  expect(await suggest('field=asset_tag')).toEqual(['dmz']);
  expect(await suggest('field=source')).toEqual(['manual']);
});

it('lists the tags of findings and assets with their numbers, of the own organization only', async () => {
  const tags = async (query = '') => (await get<{ data: { name: string; findings: number; assets: number }[] }>(`/tags?${query}`)).data;
  const asset = (await get<Page>('/findings/groups?by=asset&asset=a.')).data[0]?.key;
  await api.call('PATCH', `/api/v1/assets/${asset}`, { as: api.ours.owner, body: { tags: ['pci'] } });
  const [pci, ...rest] = await tags('prefix=PCI');
  expect([pci, rest]).toMatchObject([{ name: 'pci', assets: 1 }, []]);
  const { page } = await get<{ page: { total: { count: number } } }>('/findings?tag=pci&total=exact');
  expect(pci?.findings).toBe(page.total.count);
  expect((await tags('limit=1')).length).toBe(1);
  expect((await api.call('GET', '/api/v1/tags', { as: api.theirs.owner })).body).toEqual({ data: [] });
});
