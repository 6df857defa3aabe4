import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApi, type TestApi } from '../../testing/http/api.ts';
import { addPerson, behindProxy, createKey, fromRandomAddress, signIn, statusOf } from '../../testing/people.ts';

let api: TestApi;

beforeAll(async () => {
  api = await startApi({ config: behindProxy });
});
afterAll(() => api?.close());

interface Session {
  id: string;
  current: boolean;
}
async function sessionsOf(headers: { cookie: string } | { authorization: string }): Promise<Session[]> {
  const answer = await api.call('GET', '/api/v1/me/sessions', { headers: { ...fromRandomAddress(), ...headers } });
  expect(answer.status).toBe(200);
  return (answer.body as { data: Session[] }).data;
}
const end = (headers: { cookie: string }, id: string) => api.call('DELETE', `/api/v1/me/sessions/${id}`, { headers });

describe('your sessions', () => {
  it('are listed with where and how you signed in, and say which one you use', async () => {
    const person = await addPerson(api, api.ours, 'viewer');
    const { email, password } = person;
    const headers = { 'x-forwarded-for': '192.0.2.9', 'user-agent': `Browser ${'x'.repeat(400)}` };
    const first = await api.call('POST', '/api/v1/sessions', { body: { email, password }, headers });
    const cookie = (first.headers.get('set-cookie') ?? '').split(';')[0] ?? '';
    const second = await signIn(api, person);
    expect(await sessionsOf({ cookie })).toEqual([
      expect.objectContaining({ current: false, method: 'password' }),
      {
        id: expect.any(String),
        current: true,
        method: 'password',
        address: '192.0.2.9',
        user_agent: `Browser ${'x'.repeat(292)}`,
        created_at: expect.any(String),
        expires_at: expect.any(String),
      },
    ]);
    expect((await sessionsOf(second)).map(({ current }) => current)).toEqual([true, false]);
  });

  it('can be ended one by one, immediately', async () => {
    const person = await addPerson(api, api.ours, 'viewer');
    const [mine, stolen] = [await signIn(api, person), await signIn(api, person)];
    const [other] = (await sessionsOf(mine)).filter(({ current }) => !current);
    expect((await end(mine, other?.id ?? '')).status).toBe(204);
    expect([await statusOf(api, mine), await statusOf(api, stolen)]).toEqual([200, 401]);
    expect((await end(mine, other?.id ?? '')).status).toBe(404);
  });

  it('are neither listed for nor ended by anybody else, not even an owner', async () => {
    const [ada, owner, stranger] = [
      await addPerson(api, api.ours, 'viewer'),
      await addPerson(api, api.ours, 'owner'),
      await addPerson(api, api.theirs, 'owner'),
    ];
    const session = await signIn(api, ada);
    const [{ id } = { id: '' }] = await sessionsOf(session);
    for (const other of [owner, stranger]) {
      const cookie = await signIn(api, other);
      expect((await sessionsOf(cookie)).map((one) => one.id)).not.toContain(id);
      expect((await end(cookie, id)).status).toBe(404);
    }
    expect(await sessionsOf({ authorization: `Bearer ${api.ours.owner}` })).toEqual([]);
    expect((await api.call('DELETE', `/api/v1/me/sessions/${id}`, { as: api.ours.owner })).status).toBe(404);
    expect(await statusOf(api, session)).toBe(200);
  });
});

describe('changing your password', () => {
  it('revokes your API keys if you ask for it, and only yours', async () => {
    const [person, colleague] = [await addPerson(api, api.ours, 'admin'), await addPerson(api, api.ours, 'admin')];
    const theirs = await createKey(api, { headers: await signIn(api, colleague) }, 'viewer');
    let { password } = person;
    for (const [revoke_api_keys, expected] of [
      [undefined, 200],
      [false, 200],
      [true, 401],
    ] as const) {
      const headers = await signIn(api, { ...person, password });
      const { key } = await createKey(api, { headers }, 'viewer');
      const body = {
        current_password: password,
        new_password: `another password ${revoke_api_keys}`,
        ...(revoke_api_keys === undefined ? {} : { revoke_api_keys }),
      };
      expect((await api.call('PUT', '/api/v1/me/password', { headers, body })).status).toBe(204);
      password = body.new_password;
      expect([await statusOf(api, headers), await statusOf(api, key)]).toEqual([401, expected]);
    }
    expect(await statusOf(api, theirs.key)).toBe(200);
  });
});
