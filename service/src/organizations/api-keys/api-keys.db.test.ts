import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { outranks, type Role, roles } from '../../shared/permissions.ts';
import { startApi, type TestApi } from '../../testing/http/api.ts';
import { addPerson, behindProxy, createKey, fromRandomAddress, signIn, statusOf } from '../../testing/people.ts';
import { startReplica } from '../../testing/replica.ts';
import { hashToken, mintToken } from './tokens.ts';

let api: TestApi;
let replica: Awaited<ReturnType<typeof startReplica>>;

beforeAll(async () => {
  api = await startApi({ config: behindProxy });
  replica = await startReplica(api.databaseUrl, behindProxy);
});
afterAll(async () => {
  await replica?.close();
  await api?.close();
});

const asOwner = () => ({ as: api.ours.owner });
const inAnHour = () => new Date(Date.now() + 3_600_000).toISOString();

async function expire(id: string): Promise<void> {
  await api.db.withSystem((tx) =>
    tx
      .updateTable('api_keys')
      .set({ expires_at: new Date(Date.now() - 1_000) })
      .where('id', '=', id)
      .execute(),
  );
}

describe('an API key', () => {
  it('can be created, read, changed and revoked', async () => {
    const created = await api.call('POST', '/api/v1/api-keys', { ...asOwner(), body: { name: 'ci', role: 'analyst' } });
    const { key, id, ...shown } = created.body as { key: string; id: string };
    expect(created.status).toBe(201);
    expect(created.headers.get('location')).toBe(`/api/v1/api-keys/${id}`);
    expect(shown).toMatchObject({
      name: 'ci',
      role: 'analyst',
      status: 'active',
      prefix: key.slice(0, 12),
      created_by: 'owner of ours',
      expires_at: null,
      version: 1,
    });
    expect(await api.call('GET', '/api/v1/me', { as: key })).toMatchObject({
      status: 200,
      body: { type: 'api_key', id, name: 'ci', role: 'analyst', email: null, organization: { id: api.ours.id, slug: 'ours' }, expires_at: null },
    });

    const expiresAt = inAnHour();
    const changed = await api.call('PATCH', `/api/v1/api-keys/${id}`, { ...asOwner(), body: { name: 'nightly', expires_at: expiresAt } });
    expect(changed).toMatchObject({ status: 200, body: { name: 'nightly', expires_at: expiresAt, version: 2, status: 'active' } });
    expect(changed.headers.get('etag')).toBe('"2"');
    expect(await api.call('GET', '/api/v1/me', { as: key })).toMatchObject({ body: { name: 'nightly', expires_at: expiresAt } });
    const cleared = await api.call('PATCH', `/api/v1/api-keys/${id}`, { ...asOwner(), body: { expires_at: null } });
    expect(cleared).toMatchObject({ status: 200, body: { name: 'nightly', expires_at: null, version: 3 } });

    expect(await api.call('DELETE', `/api/v1/api-keys/${id}`, asOwner())).toMatchObject({ status: 204, body: null });
    expect(await api.call('DELETE', `/api/v1/api-keys/${id}`, asOwner())).toMatchObject({ status: 204 });
    expect(await statusOf(api, key)).toBe(401);
    const read = await api.call('GET', `/api/v1/api-keys/${id}`, asOwner());
    expect(read).toMatchObject({ status: 200, body: { id, status: 'revoked', version: 4, revoked_at: expect.any(String) } });
    const list = await api.call('GET', '/api/v1/api-keys?sort=-created_at&limit=1', asOwner());
    expect(list.body).toMatchObject({ data: [read.body] });
    const late = await api.call('PATCH', `/api/v1/api-keys/${id}`, { ...asOwner(), body: { name: 'back again' } });
    expect(late).toMatchObject({ status: 409, body: { code: 'conflict' } });
  });

  it('is returned once and stored only as a hash', async () => {
    const { id, key } = await createKey(api, asOwner(), 'viewer');
    const rows = await api.db.withSystem((tx) => tx.selectFrom('api_keys').selectAll().where('id', '=', id).execute());
    expect(rows).toMatchObject([{ token_hash: hashToken(key), prefix: key.slice(0, 12) }]);
    expect(JSON.stringify(rows)).not.toContain(key.slice(12));
    for (const path of [`/api/v1/api-keys/${id}`, '/api/v1/api-keys?limit=200']) {
      const { body } = await api.call('GET', path, asOwner());
      expect(JSON.stringify(body)).not.toMatch(/"key":|hash/);
      expect(JSON.stringify(body)).not.toContain(key.slice(12));
    }
  });

  it('is read from Authorization, with "bearer" in any case, or from X-API-Key', async () => {
    const { key, id } = await createKey(api, asOwner(), 'viewer');
    for (const headers of [{ authorization: `bearer ${key}` }, { authorization: `BEARER  ${key}` }, { 'x-api-key': key }]) {
      expect(await api.call('GET', '/api/v1/me', { headers })).toMatchObject({ status: 200, body: { id } });
    }
  });

  it.each([
    ['no key', () => ({}), /^Bearer realm="rrs"$/],
    ['another scheme', () => ({ authorization: 'Basic b3duZXI6b3duZXI=' }), /^Bearer realm="rrs"$/],
    ['nothing after "Bearer"', () => ({ authorization: 'Bearer ' }), /^Bearer realm="rrs"$/],
    ['words after "Bearer"', () => ({ authorization: `Bearer ${api.ours.owner} and more` }), /^Bearer realm="rrs"$/],
    ['a well-formed key that does not exist', () => ({ authorization: `Bearer ${mintToken('rrs', api.ours.id).token}` }), /invalid_token/],
    [
      'a key of an organization that does not exist',
      () => ({ authorization: `Bearer ${mintToken('rrs', '01994f3e-8a10-7c31-9d3c-5f1f4b8f0a11').token}` }),
      /invalid_token/,
    ],
    ['a session token instead of a key', () => ({ authorization: `Bearer ${mintToken('ses', api.ours.id).token}` }), /invalid_token/],
    ['a different case', () => ({ authorization: `Bearer ${api.ours.owner.toUpperCase()}` }), /invalid_token/],
    ['a truncated key', () => ({ authorization: `Bearer ${api.ours.owner.slice(0, -1)}` }), /invalid_token/],
    ['its prefix', () => ({ 'x-api-key': api.ours.owner.slice(0, 12) }), /invalid_token/],
    ['SQL', () => ({ 'x-api-key': "' or true --" }), /invalid_token/],
    ['a JWT, if there is no identity provider', () => ({ authorization: 'Bearer eyJhbGciOiJub25lIn0.e30.' }), /invalid_token/],
  ])('is refused with 401 and a challenge: %s', async (_, headers, challenge) => {
    const answer = await api.call('GET', '/api/v1/me', { headers: { ...fromRandomAddress(), ...headers() } });
    expect(answer).toMatchObject({ status: 401, body: { code: 'unauthenticated', request_id: answer.headers.get('x-request-id') } });
    expect(answer.headers.get('www-authenticate')).toMatch(challenge);
  });

  it('is refused if any single character differs', async () => {
    const { key } = await createKey(api, asOwner(), 'viewer');
    const changed = Array.from(key, (character, at) => key.slice(0, at) + (character === 'A' ? 'B' : 'A') + key.slice(at + 1));
    const statuses = await Promise.all(changed.map((other) => statusOf(api, other)));
    expect(new Set(statuses)).toEqual(new Set([401]));
    expect(await statusOf(api, key)).toBe(200);
  });

  it('expires, and the response says so', async () => {
    const { id, key } = await createKey(api, asOwner(), 'viewer', { expires_at: inAnHour() });
    expect(await statusOf(api, key)).toBe(200);
    await expire(id);
    expect(await statusOf(api, key)).toBe(401);
    expect(await api.call('GET', `/api/v1/api-keys/${id}`, asOwner())).toMatchObject({ body: { status: 'expired' } });
    await api.call('PATCH', `/api/v1/api-keys/${id}`, { ...asOwner(), body: { expires_at: inAnHour() } });
    expect(await statusOf(api, key)).toBe(200);
  });

  it.each(['2020-01-01T00:00:00Z', new Date(Date.now() - 1).toISOString(), '2999-12-31T23:59:60Z', 'tomorrow', '2999-13-01T00:00:00Z', 4_102_444_800_000, ''])(
    'is refused with an expiry of %j',
    async (expires_at) => {
      const { id } = await createKey(api, asOwner(), 'viewer');
      const answers = await Promise.all([
        api.call('POST', '/api/v1/api-keys', { ...asOwner(), body: { name: 'late', role: 'viewer', expires_at } }),
        api.call('PATCH', `/api/v1/api-keys/${id}`, { ...asOwner(), body: { expires_at } }),
      ]);
      for (const answer of answers)
        expect(answer).toMatchObject({ status: 400, body: { code: 'validation_failed', errors: [{ in: 'body', path: '/expires_at' }] } });
    },
  );

  it('is refused by every replica on the next request after it is revoked', async () => {
    for (const [one, other] of [
      [api, replica],
      [replica, api],
    ] as const) {
      const { id, key } = await createKey(one, asOwner(), 'viewer');
      expect([await statusOf(one, key), await statusOf(other, key)]).toEqual([200, 200]);
      expect(await one.call('DELETE', `/api/v1/api-keys/${id}`, asOwner())).toMatchObject({ status: 204 });
      expect([await statusOf(other, key), await statusOf(one, key)]).toEqual([401, 401]);
    }
  });

  it('gives no access to another organization', async () => {
    const { id } = await createKey(api, asOwner(), 'viewer');
    for (const [method, body] of [['GET'], ['PATCH', { name: 'taken over' }], ['DELETE']] as const) {
      expect(await api.call(method, `/api/v1/api-keys/${id}`, { as: api.theirs.owner, ...(body ? { body } : {}) })).toMatchObject({ status: 404 });
    }
    expect(JSON.stringify((await api.call('GET', '/api/v1/api-keys?limit=200', { as: api.theirs.owner })).body)).not.toContain(id);
  });
});

describe('the role of a new key', () => {
  const pairs = roles.flatMap((creator) => roles.map((role): [Role, Role] => [creator, role]));
  it.each(pairs)('a key with the role %s can create a key with the role %s only if that role is not higher', async (creator, role) => {
    const allowed = (creator === 'owner' || creator === 'admin') && !outranks(role, creator);
    const answer = await api.call('POST', '/api/v1/api-keys', { as: await api.ours.key(creator), body: { name: 'x', role } });
    expect(answer).toMatchObject(allowed ? { status: 201, body: { role } } : { status: 403, body: { code: 'forbidden' } });
  });

  it('cannot be changed, not even to a lower one', async () => {
    const { id } = await createKey(api, asOwner(), 'admin');
    const answer = await api.call('PATCH', `/api/v1/api-keys/${id}`, { ...asOwner(), body: { role: 'viewer' } });
    expect(answer).toMatchObject({ status: 400, body: { errors: [{ path: '/role', code: 'unknown_field' }] } });
  });

  it('protects the key from credentials with a lower role', async () => {
    const { id, key } = await createKey(api, asOwner(), 'owner');
    const admin = await api.ours.key('admin');
    for (const [method, body] of [['PATCH', { name: 'mine now' }], ['DELETE']] as const) {
      expect(await api.call(method, `/api/v1/api-keys/${id}`, { as: admin, ...(body ? { body } : {}) })).toMatchObject({ status: 403 });
    }
    expect(await statusOf(api, key)).toBe(200);
  });

  it('is limited by the member who created the first key of the chain', async () => {
    const person = await addPerson(api, api.ours, 'admin');
    const first = await createKey(api, { headers: await signIn(api, person) }, 'admin');
    const second = await createKey(api, { as: first.key }, 'admin');
    expect(await api.call('DELETE', `/api/v1/members/${person.id}`, asOwner())).toMatchObject({ status: 204 });
    expect([await statusOf(api, first.key), await statusOf(replica, second.key)]).toEqual([401, 401]);
  });
});
