import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
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
  expect(await patch(asset.id, { type: 'host' })).toMatchObject({ status: 400, body: { errors: [{ path: '/type', code: 'unknown_field' }] } });
  const audit = await get<{ data: { object: { id: string } }[] }>('/audit-events?limit=200&sort=-occurred_at');
  expect(audit.data.filter(({ object }) => object.id === asset.id)).toMatchObject([
    { before: { owner: 'ada' }, after: { owner: null } },
    { after: { owner: 'ada' } },
  ]);
  expect(await api.call('PATCH', `/api/v1/assets/${asset.id}`, { as: api.theirs.owner, body: { owner: 'eve' } })).toMatchObject({ status: 404 });
});

describe('an asset that a person creates', () => {
  const create = (body: object, key = api.ours.owner) => api.call('POST', '/api/v1/assets', { as: key, body });

  it('is recognized by every spelling of its name', async () => {
    const created = await create({ type: 'repository', name: 'git@github.com:Acme/Created.git', criticality: 'critical', owner: 'team-a', tags: ['pci'] });
    expect(created).toMatchObject({
      status: 201,
      body: { type: 'repository', criticality: 'critical', exposure: 'unknown', owner: 'team-a', tags: ['pci'], version: 1 },
    });
    const { id } = created.body as Asset;
    expect(created.headers.get('location')).toBe(`/api/v1/assets/${id}`);
    const weak = { title: 'weak', severity: 'high', asset: { type: 'repository', name: 'https://github.com/acme/created' } };
    expect((await api.call('POST', '/api/v1/findings', { ...as(), body: weak })).body).toMatchObject({ asset: { id, criticality: 'critical' } });
    expect(await create({ type: 'repository', name: 'ssh://git@github.com/acme/created' })).toMatchObject({
      status: 409,
      body: { detail: expect.stringContaining(id) },
    });
    expect(await get(`/assets/${id}`)).toMatchObject({ identifiers: expect.arrayContaining([{ kind: 'name', value: 'github.com/acme/created' }]) });
    const { rows } = await api.db.withSystem((tx) => sql<{ type: string }>`select type from events where subject = ${id}`.execute(tx));
    expect(rows).toEqual([{ type: 'asset.created' }]);
  });

  it('is not another one of a different type', async () => {
    expect(await create({ type: 'host', name: 'same.example' })).toMatchObject({ status: 201 });
    expect(await create({ type: 'other', name: 'same.example' })).toMatchObject({ status: 201 });
    expect(await create({ type: 'host', name: 'SAME.example.' })).toMatchObject({ status: 409 });
  });

  it('needs a role that manages assets', async () => {
    expect(await create({ type: 'host', name: 'viewer.example' }, await api.ours.key('viewer'))).toMatchObject({ status: 403 });
    expect(await create({ type: 'host', name: ' ' })).toMatchObject({ status: 400 });
  });
});

it('counts active findings, and sorts and filters by them', async () => {
  const [one, other, none] = [await finding('count-a.example', { severity: 'critical' }), await finding('count-b.example'), await finding('count-c.example')];
  await finding('count-b.example', { title: 'second' });
  await api.call('PATCH', `/api/v1/findings/${none.id}`, { ...as(), body: { status: 'withdrawn', reason: 'gone' } });
  await api.db.withTenant({ orgId: api.ours.id }, (tx) =>
    tx
      .updateTable('findings')
      .set({ due_at: new Date(0) })
      .where('asset_id', '=', other.asset.id)
      .where('title', '=', 'second')
      .execute(),
  );
  await patch(other.asset.id, { owner: 'Team Count' });
  const list = async (query: string) => (await get<{ data: (Asset & { findings: object })[] }>(`/assets?name=count-&${query}`)).data;
  const shown = async (query: string) => (await list(query)).map(({ name }) => name.slice(6, 7)).join('');
  expect(await list('sort=name')).toMatchObject([
    { findings: { active: 1, critical: 1, high: 0, overdue: 0, max_risk: one.risk_score } },
    { findings: { active: 2, critical: 0, high: 2, overdue: 1 } },
    { findings: { active: 0, critical: 0, high: 0, overdue: 0, max_risk: null } },
  ]);
  expect(await get(`/assets/${one.asset.id}`)).toMatchObject({ findings: { active: 1, max_risk: one.risk_score } });
  expect(await shown('sort=-max_risk')).toBe('abc');
  expect(await shown('sort=-active')).toBe('bac');
  expect(await shown('sort=active&has_findings=true')).toBe('ab');
  expect(await shown('has_findings=false')).toBe('c');
  expect(await shown('owner=team%20count,nobody')).toBe('b');
  expect(await shown('q=TEAM%20c')).toBe('b');
  expect(await shown('q=%25')).toBe('');
  const first = await get<{ page: { next_cursor: string } }>('/assets?name=count-&sort=-max_risk&limit=2');
  expect(await shown(`sort=-max_risk&limit=2&cursor=${first.page.next_cursor}`)).toBe('c');
});

describe('a new name', () => {
  it('is kept, and the asset is still recognized by the old one', async () => {
    const { asset } = await finding('10.20.30.40');
    expect(await patch(asset.id, { name: 'Payments database' })).toMatchObject({ status: 200, body: { name: 'Payments database', version: 2 } });
    expect((await finding('10.20.30.40')).asset).toMatchObject({ id: asset.id, name: 'Payments database' });
    const again = await api.call('POST', '/api/v1/findings', { ...as(), body: { title: 'by id', severity: 'low', asset_id: asset.id } });
    expect(again.body).toMatchObject({ asset: { id: asset.id } });
    const { identifiers } = await get<{ identifiers: object[] }>(`/assets/${asset.id}`);
    expect(identifiers).toEqual(
      expect.arrayContaining([
        { kind: 'name', value: 'payments database' },
        { kind: 'ip', value: '10.20.30.40' },
      ]),
    );
  });

  it('must not belong to another asset', async () => {
    const [one, other] = [await finding('name-one.example'), await finding('name-other.example')];
    expect(await patch(one.asset.id, { name: 'NAME-OTHER.example' })).toMatchObject({ status: 409, body: { detail: expect.stringContaining(other.asset.id) } });
    expect(await patch(one.asset.id, { name: 'name-one.example' })).toMatchObject({ status: 200, body: { version: 1 } });
  });
});

it('shows which assets may be the same, until a person merges or separates them', async () => {
  const [short, full, other] = [await finding('similar1'), await finding('similar1.a.example'), await finding('similar1.b.example')].map(
    ({ asset }) => asset.id,
  );
  const similar = async (id = '') => (await get<{ similar: (Asset & { shared: object[] })[] }>(`/assets/${id}`)).similar;
  const shared = [{ kind: 'hostname', value: 'similar1' }];
  expect(await similar(short)).toEqual([
    { id: full, name: 'similar1.a.example', retired: false, shared },
    { id: other, name: 'similar1.b.example', retired: false, shared },
  ]);
  expect(await similar(full)).toEqual([{ id: short, name: 'similar1', retired: false, shared }]);
  expect(await api.call('POST', `/api/v1/assets/${short}/merge`, { ...as(), body: { into: full } })).toMatchObject({ status: 200 });
  expect(await similar(full)).toEqual([]);
  expect(await api.call('POST', `/api/v1/assets/${short}/unmerge`, { ...as(), body: {} })).toMatchObject({ status: 200 });
  expect(await similar(full)).toEqual([]);
  expect((await similar(short)).map(({ id }) => id)).toEqual([other]);
});
