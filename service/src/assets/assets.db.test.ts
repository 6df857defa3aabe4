import { afterAll, beforeAll, expect, it } from 'vitest';
import { startApi, type TestApi } from '../testing/http/api.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startApi();
});
afterAll(() => api?.close());

interface Asset {
  id: string;
  name: string;
  version: number;
}
interface Finding {
  id: string;
  status: string;
  status_reason: string | null;
  risk_score: number;
  risk: { score: number };
  asset: Asset;
}

const as = () => ({ as: api.ours.owner });
const get = async <T>(path: string): Promise<T> => (await api.call('GET', `/api/v1${path}`, as())).body as T;
const patch = (id: string, body: object, headers: Record<string, string> = {}) => api.call('PATCH', `/api/v1/assets/${id}`, { ...as(), body, headers });

async function finding(name: string, extra: object = {}): Promise<Finding> {
  const answer = await api.call('POST', '/api/v1/findings', { ...as(), body: { title: 'weak', severity: 'high', asset: { type: 'host', name }, ...extra } });
  expect(answer).toMatchObject({ status: 201 });
  return answer.body as Finding;
}

it('lists assets by every filter, and pages by name in both directions', async () => {
  for (const name of ['list-b.example', 'List-A.example', 'list-c.example']) await finding(name);
  const names = async (query: string) => (await get<{ data: Asset[] }>(`/assets?${query}`)).data.map(({ name }) => name);
  expect(await names('name=LIST-&sort=name')).toEqual(['list-a.example', 'list-b.example', 'list-c.example']);
  const first = await get<{ data: Asset[]; page: { next_cursor: string } }>('/assets?name=list-&sort=-name&limit=2');
  expect(first.data.map(({ name }) => name)).toEqual(['list-c.example', 'list-b.example']);
  expect(await names(`name=list-&sort=-name&limit=2&cursor=${first.page.next_cursor}`)).toEqual(['list-a.example']);
  expect(await names('name=list%25')).toEqual([]);
  expect(await names('name=list-&type=repository')).toEqual([]);
  const [last] = (await get<{ data: Asset[] }>('/assets?name=list-c')).data;
  await patch(last?.id ?? '', { criticality: 'critical', exposure: 'internet', tags: ['pci', 'eu'], retired: true });
  for (const query of ['criticality=critical', 'exposure=internet,internal', 'tag=other,pci', 'retired=true', 'type=host&name=list-c']) {
    expect(await names(query), query).toEqual(['list-c.example']);
  }
  expect(await names('name=list-&retired=false&sort=name')).toEqual(['list-a.example', 'list-b.example']);
});

it('rescores its findings when its criticality or exposure changes', async () => {
  const { id, asset, risk_score } = await finding('score.example', { cvss: { vector: 'CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H' } });
  const changed = await patch(asset.id, { criticality: 'critical', exposure: 'internet', owner: 'team' });
  expect(changed).toMatchObject({ status: 200, body: { criticality: 'critical', exposure: 'internet', owner: 'team', version: 2 } });
  const after = await get<Finding>(`/findings/${id}`);
  expect(after.risk_score).toBeCloseTo(risk_score + 12, 1);
  expect(after.risk.score).toBeCloseTo(after.risk_score, 1);
});

it('withdraws only its active findings when it is retired, and reopens none when it is put back in use', async () => {
  const active = await finding('retire.example');
  const rejected = await finding('retire.example');
  await api.call('PATCH', `/api/v1/findings/${rejected.id}`, { ...as(), body: { status: 'false_positive', justification: 'inaccurate_finding' } });
  const retired = await patch(active.asset.id, { retired: true });
  expect(retired).toMatchObject({ status: 200, body: { retired: true, retired_at: expect.any(String) } });
  expect(await get(`/findings/${active.id}`)).toMatchObject({ status: 'withdrawn', status_reason: 'The asset was retired.', version: 2 });
  expect(await get(`/findings/${rejected.id}`)).toMatchObject({ status: 'false_positive' });
  const { data } = await get<{ data: object[] }>(`/findings/${active.id}/history`);
  expect(data[0]).toMatchObject({ action: 'status_changed', before: { status: 'open' }, after: { status: 'withdrawn' }, reason: 'The asset was retired.' });
  const emitted = await api.db.withSystem((tx) =>
    tx.selectFrom('events').select(['type', 'data']).where('subject', '=', active.id).orderBy('id', 'desc').execute(),
  );
  expect(emitted[0]).toMatchObject({ type: 'finding.status_changed', data: { from: 'open', to: 'withdrawn' } });
  expect(await patch(active.asset.id, { retired: false })).toMatchObject({ body: { retired: false, retired_at: null } });
  expect(await get(`/findings/${active.id}`)).toMatchObject({ status: 'withdrawn' });
});

it('requires the current version, skips writes without a change, and records the change', async () => {
  const { asset } = await finding('version.example');
  expect(await patch(asset.id, { criticality: 'medium', tags: [] })).toMatchObject({ status: 200, body: { version: 1 } });
  expect(await patch(asset.id, { owner: 'ada' }, { 'if-match': '"1"' })).toMatchObject({ status: 200, body: { version: 2 } });
  expect(await patch(asset.id, { owner: 'eve' }, { 'if-match': '"1"' })).toMatchObject({ status: 412 });
  expect(await patch(asset.id, { owner: null })).toMatchObject({ status: 200, body: { owner: null, version: 3 } });
  expect(await patch(asset.id, { name: 'x' })).toMatchObject({ status: 400, body: { errors: [{ path: '/name', code: 'unknown_field' }] } });
  const audit = await get<{ data: { object: { id: string } }[] }>('/audit-events?limit=200&sort=-occurred_at');
  expect(audit.data.filter(({ object }) => object.id === asset.id)).toMatchObject([
    { before: { owner: 'ada' }, after: { owner: null } },
    { after: { owner: 'ada' } },
  ]);
  expect(await api.call('PATCH', `/api/v1/assets/${asset.id}`, { as: api.theirs.owner, body: { owner: 'eve' } })).toMatchObject({ status: 404 });
});
