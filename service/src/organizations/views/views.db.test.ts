import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApi, type TestApi } from '../../testing/http/api.ts';
import { addPerson, createKey, signIn } from '../../testing/people.ts';

interface View {
  id: string;
  name: string;
  scope: string;
  position: number;
  version: number;
  detail: string;
}

let api: TestApi;
let viewer: string;
let analyst: string;
beforeAll(async () => {
  api = await startApi();
  viewer = await api.ours.key('viewer');
  analyst = await api.ours.key('analyst');
});
afterAll(() => api?.close());

const send = async (method: string, path: string, as: string, body?: object, headers: Record<string, string> = {}) => {
  const answer = await api.call(method, `/api/v1${path}`, { as, headers, ...(body ? { body } : {}) });
  return { status: answer.status, body: answer.body as View };
};
const view = (name: string, more: object = {}) => ({ list: 'findings', name, query: 'severity=critical&kev=true', ...more });
const names = async (as: string, query = '') =>
  ((await api.call('GET', `/api/v1/views?${query}`, { as })).body as { data: View[] }).data.map(({ name }) => name);

describe('saved views', () => {
  it('of a person are seen by all credentials of the person, and by nobody else', async () => {
    const session = { headers: await signIn(api, await addPerson(api, api.ours, 'admin')) };
    const { key } = await createKey(api, session, 'viewer');
    const made = await send('POST', '/views', key, view('Mine', { columns: ['title'], sort: '-risk_score' }));
    expect(made).toMatchObject({
      status: 201,
      body: { scope: 'mine', columns: ['title'], sort: '-risk_score', query: 'severity=critical&kev=true', version: 1 },
    });
    const { id } = made.body;
    expect((await api.call('GET', `/api/v1/views/${id}`, session)).status).toBe(200);
    for (const as of [api.ours.owner, viewer, api.theirs.owner]) {
      expect(await names(as)).not.toContain('Mine');
      for (const [method, body] of [['GET'], ['PATCH', { name: 'x' }], ['DELETE']] as const)
        expect((await send(method, `/views/${id}`, as, body)).status).toBe(404);
    }
    expect((await send('POST', '/views', key, view('mine'))).status).toBe(409);
    expect((await send('POST', '/views', key, view('Mine', { list: 'assets' }))).status).toBe(201);
    expect((await send('DELETE', `/views/${id}`, key)).status).toBe(204);
  });

  it('of the organization are seen by all of its members, changed by analysts, and audited', async () => {
    expect(await send('POST', '/views', viewer, view('Ours', { scope: 'organization' }))).toMatchObject({
      status: 403,
      body: { detail: expect.stringContaining('"views:share"') },
    });
    const { body } = await send('POST', '/views', analyst, view('Ours', { scope: 'organization', position: 2 }));
    await send('POST', '/views', viewer, view('First', { position: 1 }));
    expect(await names(viewer)).toEqual(['First', 'Ours']);
    expect(await names(viewer, 'scope=organization&list=findings')).toEqual(['Ours']);
    expect(await names(api.theirs.owner)).toEqual([]);
    expect((await send('PATCH', `/views/${body.id}`, viewer, { name: 'Mine' })).status).toBe(403);
    expect((await send('DELETE', `/views/${body.id}`, viewer)).status).toBe(403);
    expect((await send('PATCH', `/views/${body.id}`, analyst, { name: 'Theirs' }, { 'if-match': '"9"' })).status).toBe(412);
    expect(await send('PATCH', `/views/${body.id}`, analyst, { name: 'OURS', position: 0 })).toMatchObject({ status: 200, body: { version: 2, position: 0 } });
    const trail = await api.call('GET', '/api/v1/audit-events?action=view.created,view.updated', { as: api.ours.owner });
    expect((trail.body as { data: object[] }).data).toMatchObject([{ action: 'view.updated', after: { name: 'OURS' } }, { action: 'view.created' }]);
    expect((await send('POST', '/views', analyst, view('Bad', { query: 'q=a b' }))).status).toBe(400);
  });

  it('and preferences of a removed member are deleted', async () => {
    const member = await addPerson(api, api.ours, 'viewer');
    const headers = await signIn(api, member);
    await api.call('POST', '/api/v1/views', { headers, body: view('Gone') });
    await api.call('PUT', '/api/v1/me/preferences', { headers, body: { theme: 'dark' } });
    await send('DELETE', `/members/${member.id}`, api.ours.owner);
    const left = await api.db.withSystem((tx) => tx.selectFrom('preferences').selectAll().where('person', '=', member.id).execute());
    expect(left).toEqual([]);
    expect(await api.db.withSystem((tx) => tx.selectFrom('saved_views').selectAll().where('owner', '=', member.id).execute())).toEqual([]);
  });
});

it('keeps preferences for each person, up to 16 KiB', async () => {
  const preferences = '/me/preferences';
  expect(await send('GET', preferences, viewer)).toEqual({ status: 200, body: {} });
  const value = { theme: 'dark', columns: { findings: ['title', 'due'] }, odd: 'a"\\🦉' };
  expect(await send('PUT', preferences, viewer, value)).toEqual({ status: 200, body: value });
  expect(await send('GET', preferences, viewer)).toEqual({ status: 200, body: value });
  expect(await send('GET', preferences, analyst)).toEqual({ status: 200, body: {} });
  expect(await send('PUT', preferences, viewer, { big: 'x'.repeat(16_384) })).toMatchObject({ status: 400, body: { errors: [{ code: 'too_large' }] } });
  expect(await send('PUT', preferences, viewer, { theme: 'light' })).toEqual({ status: 200, body: { theme: 'light' } });
});
