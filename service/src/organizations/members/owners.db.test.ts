import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { startApi, type TestApi } from '../../testing/http/api.ts';
import { addPerson, behindProxy, createKey, type Person, signIn, statusOf } from '../../testing/people.ts';

const apis: TestApi[] = [];
let api: TestApi;
let ownerKey: { as: string };
let ownerKeyId: string;

/** Each test starts with an organization whose only owner is an API key. */
beforeEach(async () => {
  api = await startApi({ config: behindProxy, poolSize: 4 });
  apis.push(api);
  ownerKey = { as: api.ours.owner };
  ownerKeyId = ((await api.call('GET', '/api/v1/me', ownerKey)).body as { id: string }).id;
});
afterAll(() => Promise.all(apis.map((each) => each.close())));

interface By {
  as?: string;
  headers?: Record<string, string>;
}
const revoke = (id: string, by: By) => api.call('DELETE', `/api/v1/api-keys/${id}`, by);
const remove = (id: string, by: By) => api.call('DELETE', `/api/v1/members/${id}`, by);
const demote = (id: string, by: By) => api.call('PATCH', `/api/v1/members/${id}`, { ...by, body: { role: 'admin' } });

interface SignedIn extends Person {
  by: { headers: { cookie: string } };
}

async function addOwner(): Promise<SignedIn> {
  const person = await addPerson(api, api.ours, 'owner');
  return { ...person, by: { headers: await signIn(api, person) } };
}

/** Leaves two members as the only owners. */
async function twoOwners(): Promise<[SignedIn, SignedIn]> {
  const people: [SignedIn, SignedIn] = [await addOwner(), await addOwner()];
  expect(await revoke(ownerKeyId, ownerKey)).toMatchObject({ status: 204 });
  return people;
}

async function owners(): Promise<string[]> {
  const rows = await api.db.withSystem((tx) => tx.selectFrom('members').select('id').where('org_id', '=', api.ours.id).where('role', '=', 'owner').execute());
  return rows.map(({ id }) => id);
}

const lastOwner = { status: 409, body: { code: 'last_owner' } };

describe('the last owner', () => {
  it('that is a key cannot be revoked or given an expiry', async () => {
    expect(await revoke(ownerKeyId, ownerKey)).toMatchObject(lastOwner);
    const end = { expires_at: new Date(Date.now() + 3_600_000).toISOString() };
    expect(await api.call('PATCH', `/api/v1/api-keys/${ownerKeyId}`, { ...ownerKey, body: end })).toMatchObject(lastOwner);
    expect(await api.call('GET', `/api/v1/api-keys/${ownerKeyId}`, ownerKey)).toMatchObject({
      status: 200,
      body: { status: 'active', expires_at: null, version: 1 },
    });
  });

  it('cannot be replaced by an owner key that expires', async () => {
    await createKey(api, ownerKey, 'owner', { expires_at: new Date(Date.now() + 3_600_000).toISOString() });
    expect(await revoke(ownerKeyId, ownerKey)).toMatchObject(lastOwner);
    await createKey(api, ownerKey, 'owner');
    expect(await revoke(ownerKeyId, ownerKey)).toMatchObject({ status: 204 });
  });

  it('that is a member cannot be removed or demoted and keeps its keys and sessions', async () => {
    const [one, other] = await twoOwners();
    expect(await remove(other.id, one.by)).toMatchObject({ status: 204 });
    const { key } = await createKey(api, one.by, 'admin');
    expect(await remove(one.id, one.by)).toMatchObject(lastOwner);
    expect(await demote(one.id, one.by)).toMatchObject(lastOwner);
    expect(await owners()).toEqual([one.id]);
    expect([await statusOf(api, key), await statusOf(api, one.by.headers)]).toEqual([200, 200]);
  });

  it('cannot be a key of the member who is removed', async () => {
    const person = await addOwner();
    await createKey(api, person.by, 'owner');
    expect(await revoke(ownerKeyId, ownerKey)).toMatchObject({ status: 204 });
    expect(await remove(person.id, person.by)).toMatchObject(lastOwner);
  });

  it('remains after two owners remove each other at the same time', async () => {
    const [one, other] = await twoOwners();
    const answers = await Promise.all([remove(other.id, one.by), remove(one.id, other.by)]);
    expect(answers.map(({ status }) => status).filter((status) => status === 204)).toHaveLength(1);
    expect(await owners()).toHaveLength(1);
  });

  it('remains after ten concurrent requests try to demote, remove and revoke all owners', async () => {
    const [one, other] = await twoOwners();
    const third = await createKey(api, one.by, 'owner');
    const by = [one.by, other.by];
    await Promise.all(by.flatMap((who) => [remove(one.id, who), demote(other.id, who), revoke(third.id, who), remove(other.id, who), demote(one.id, who)]));
    const keys = await api.db.withSystem((tx) =>
      tx.selectFrom('api_keys').select('id').where('org_id', '=', api.ours.id).where('role', '=', 'owner').where('revoked_at', 'is', null).execute(),
    );
    expect((await owners()).length + keys.length).toBeGreaterThanOrEqual(1);
  });

  it('of one organization does not count for another', async () => {
    await addPerson(api, api.theirs, 'owner');
    expect(await revoke(ownerKeyId, ownerKey)).toMatchObject(lastOwner);
  });
});

describe('a member who is demoted during a request', () => {
  it('cannot assign the lost role', async () => {
    const person = await addOwner();
    const { key, id } = await createKey(api, person.by, 'owner');
    const [demoted, ...made] = await Promise.all([
      api.call('PATCH', `/api/v1/members/${person.id}`, { ...ownerKey, body: { role: 'viewer' } }),
      ...Array.from({ length: 8 }, () => api.call('POST', '/api/v1/api-keys', { as: key, body: { name: 'to keep', role: 'owner' } })),
    ]);
    expect(demoted.status).toBe(200);
    const ids = [id, ...made.flatMap(({ status, body }) => (status === 201 ? [(body as { id: string }).id] : []))];
    const rows = await Promise.all(ids.map((each) => api.call('GET', `/api/v1/api-keys/${each}`, ownerKey)));
    expect(new Set(rows.map(({ body }) => (body as { role: string }).role))).toEqual(new Set(['viewer']));
  });
});
