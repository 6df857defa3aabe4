import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApi, type TestApi } from '../../testing/http/api.ts';
import { addPerson, behindProxy, createKey, fromRandomAddress, type Person, signIn, statusOf, trySignIn } from '../../testing/people.ts';
import { startReplica } from '../../testing/replica.ts';
import { hashToken } from '../api-keys/tokens.ts';
import { forgetEndedSessions } from './sessions.ts';

let api: TestApi;
let secure: Awaited<ReturnType<typeof startReplica>>;
let person: Person;

/** The second replica is reached through https, as behind a proxy. */
beforeAll(async () => {
  api = await startApi({ config: behindProxy });
  secure = await startReplica(api.databaseUrl, { ...behindProxy, RRS_PUBLIC_URL: 'https://rrs.example.com', RRS_SESSION_HOURS: '1' });
  person = await addPerson(api, api.ours, 'admin');
});
afterAll(async () => {
  await secure?.close();
  await api?.close();
});

const asOwner = () => ({ as: api.ours.owner });
const changePassword = (headers: Record<string, string>, current_password: string, new_password: string) =>
  api.call('PUT', '/api/v1/me/password', { headers: { ...fromRandomAddress(), ...headers }, body: { current_password, new_password } });

describe('a session', () => {
  it('starts with e-mail and password and identifies the member', async () => {
    const answer = await trySignIn(api, person.email.toUpperCase(), person.password);
    const me = { type: 'member', id: person.id, email: person.email, role: 'admin', organization: { slug: 'ours' }, expires_at: expect.any(String) };
    expect(answer).toMatchObject({ status: 201, body: me });
    const cookie = answer.headers.get('set-cookie')?.split(';')[0] ?? '';
    const used = await api.call('GET', '/api/v1/me', { headers: { cookie: `theme=dark; ${cookie}; other=1` } });
    expect(used).toMatchObject({ status: 200, body: me });
    expect(used.body).toEqual(answer.body);
  });

  it('is an HttpOnly, SameSite cookie that is Secure behind https', async () => {
    const attributes = (answer: { headers: Headers }) => answer.headers.get('set-cookie')?.split('; ').slice(1);
    expect(attributes(await trySignIn(api, person.email, person.password))).toEqual(['Path=/', 'HttpOnly', 'SameSite=Lax', 'Max-Age=43200']);
    expect(attributes(await trySignIn(secure, person.email, person.password))).toEqual(['Path=/', 'HttpOnly', 'SameSite=Lax', 'Max-Age=3600', 'Secure']);
  });

  it('is stored only as a hash', async () => {
    const { cookie } = await signIn(api, person);
    const token = cookie.split('=')[1] ?? '';
    const rows = await api.db.withSystem((tx) => tx.selectFrom('sessions').selectAll().where('member_id', '=', person.id).execute());
    expect(rows.some((row) => row.token_hash.equals(hashToken(token)))).toBe(true);
    expect(JSON.stringify(rows)).not.toContain(token.slice(4));
  });

  it('ends immediately on both replicas when the member signs out', async () => {
    const [mine, another] = [await signIn(api, person), await signIn(secure, person)];
    expect([await statusOf(api, mine), await statusOf(secure, mine)]).toEqual([200, 200]);
    const out = await api.call('DELETE', '/api/v1/sessions/current', { headers: mine });
    expect(out).toMatchObject({ status: 204 });
    expect(out.headers.get('set-cookie')).toMatch(/^rrs_session=; Path=\/; HttpOnly; SameSite=Lax; Max-Age=0/);
    expect([await statusOf(secure, mine), await statusOf(api, mine)]).toEqual([401, 401]);
    expect(await statusOf(api, another)).toBe(200);
  });

  it('expires and is then deleted', async () => {
    const cookie = await signIn(api, person);
    const token = cookie.cookie.split('=')[1] ?? '';
    const mine = (tx: Parameters<typeof forgetEndedSessions>[0]) => tx.selectFrom('sessions').select('id').where('token_hash', '=', hashToken(token)).execute();
    await api.db.withSystem((tx) =>
      tx
        .updateTable('sessions')
        .set({ expires_at: new Date(Date.now() - 1_000) })
        .where('token_hash', '=', hashToken(token))
        .execute(),
    );
    expect(await statusOf(api, cookie)).toBe(401);
    const others = await signIn(api, person);
    expect(await api.db.withSystem(mine)).toHaveLength(1);
    await api.db.withSystem(forgetEndedSessions);
    expect(await api.db.withSystem(mine)).toEqual([]);
    expect(await statusOf(api, others)).toBe(200);
  });

  it('cannot be ended with an API key', async () => {
    expect(await api.call('DELETE', '/api/v1/sessions/current', asOwner())).toMatchObject({ status: 409 });
  });
});

describe('a refusal', () => {
  it('is the same for a wrong password, an unknown e-mail and a member without a password', async () => {
    await api.call('POST', '/api/v1/members', { ...asOwner(), body: { email: 'nopassword@example.com', name: 'x', role: 'owner' } });
    const tries = [person.email, 'nobody@example.com', 'nopassword@example.com'].map((email) => trySignIn(api, email, 'a wrong guess'));
    const shapes = (await Promise.all(tries)).map(({ status, headers, body }) => {
      const { request_id, ...problem } = body as { request_id: string };
      return { status, problem, headers: [...headers.keys()].filter((name) => name !== 'date').toSorted(), given: request_id.length };
    });
    expect(shapes[0]).toMatchObject({ status: 401, problem: { code: 'invalid_credentials' } });
    expect(shapes).toEqual([shapes[0], shapes[0], shapes[0]]);
  });
});

describe('a request with the cookie from another site', () => {
  const foreign: Record<string, string>[] = [
    { origin: 'https://evil.example' },
    { origin: 'null' },
    { origin: 'http://127.0.0.1' },
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
    { origin: 'https://evil.example', 'sec-fetch-site': 'same-origin' },
  ];
  const writes = [
    ['POST', '/api/v1/api-keys', { name: 'planted', role: 'admin' }],
    ['PATCH', '/api/v1/members/01994f3e-8a10-7c31-9d3c-5f1f4b8f0a11', { role: 'admin' }],
    ['PUT', '/api/v1/me/password', { current_password: 'x', new_password: 'a password of the thief' }],
    ['DELETE', '/api/v1/sessions/current', undefined],
  ] as const;

  it.each(writes)('does not %s %s', async (method, path, body) => {
    const cookie = await signIn(api, person);
    for (const headers of foreign) {
      const answer = await api.call(method, path, { headers: { ...cookie, ...headers }, ...(body ? { body } : {}) });
      expect(answer).toMatchObject({ status: 403, body: { code: 'cross_site_request' } });
    }
    expect(await statusOf(api, cookie)).toBe(200);
  });

  it('may read, because the browser hides the response from the page', async () => {
    const cookie = await signIn(api, person);
    for (const headers of foreign) expect((await api.call('GET', '/api/v1/me', { headers: { ...cookie, ...headers } })).status).toBe(200);
  });

  it('may not sign in', async () => {
    for (const headers of foreign) expect((await trySignIn(api, person.email, person.password, { headers })).status).toBe(403);
  });

  it('may change things with an API key, because browsers never send one by themselves', async () => {
    for (const headers of foreign) expect(await createKey(api, { ...asOwner(), headers }, 'viewer')).toMatchObject({ role: 'viewer' });
  });

  it('is refused, unlike one from the same site', async () => {
    for (const headers of [{}, { origin: api.url }, { origin: api.url, 'sec-fetch-site': 'same-origin' }, { 'sec-fetch-site': 'same-origin' }]) {
      expect(await createKey(api, { headers: { ...(await signIn(api, person)), ...headers } }, 'viewer')).toMatchObject({ role: 'viewer' });
    }
    const published = { origin: 'https://rrs.example.com' };
    expect(await createKey(secure, { headers: { ...(await signIn(secure, person)), ...published } }, 'viewer')).toMatchObject({ role: 'viewer' });
  });
});

describe('a member of two organizations', () => {
  const email = 'both@example.com';
  const add = (as: string, password: string) => api.call('POST', '/api/v1/members', { as, body: { email, name: 'Both', role: 'viewer', password } });

  it('signs in to the given organization, or to the one whose password matches', async () => {
    await add(api.ours.owner, 'the same for both');
    const { body } = await add(api.theirs.owner, 'the same for both');
    expect(await trySignIn(api, email, 'the same for both')).toMatchObject({ status: 409, body: { code: 'conflict' } });
    for (const organization of ['ours', 'theirs']) {
      expect(await trySignIn(api, email, 'the same for both', { organization })).toMatchObject({ status: 201, body: { organization: { slug: organization } } });
    }
    expect(await trySignIn(api, email, 'the same for both', { organization: 'nowhere' })).toMatchObject({ status: 401 });
    await api.call('PATCH', `/api/v1/members/${(body as { id: string }).id}`, { as: api.theirs.owner, body: { password: 'one of its own' } });
    expect(await trySignIn(api, email, 'the same for both')).toMatchObject({ status: 201, body: { organization: { slug: 'ours' } } });
    expect(await trySignIn(api, email, 'one of its own')).toMatchObject({ status: 201, body: { organization: { slug: 'theirs' } } });
  });
});

describe('changing your own password', () => {
  it('requires the current password and ends all sessions of that member only', async () => {
    const someone = await addPerson(api, api.ours, 'viewer');
    const [here, there, other] = [await signIn(api, someone), await signIn(secure, someone), await signIn(api, person)];
    expect(await changePassword(here, 'a wrong guess', 'a new password entirely')).toMatchObject({ status: 401, body: { code: 'invalid_credentials' } });
    expect(await changePassword(here, someone.password, 'too short')).toMatchObject({ status: 400, body: { errors: [{ path: '/new_password' }] } });
    expect([await statusOf(api, here), await statusOf(api, there)]).toEqual([200, 200]);

    expect(await changePassword(here, someone.password, 'a new password entirely')).toMatchObject({ status: 204 });
    expect([await statusOf(secure, here), await statusOf(api, there), await statusOf(api, other)]).toEqual([401, 401, 200]);
    expect((await trySignIn(api, someone.email, someone.password)).status).toBe(401);
    expect((await trySignIn(api, someone.email, 'a new password entirely')).status).toBe(201);
  });

  it('is not possible with an API key', async () => {
    const answer = await api.call('PUT', '/api/v1/me/password', { ...asOwner(), body: { current_password: 'x', new_password: 'a new password entirely' } });
    expect(answer).toMatchObject({ status: 409, body: { code: 'conflict' } });
  });
});
