import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { recordAudit } from '../../../audit/record.ts';
import { readOwnerlessKeys } from '../../../organizations/members/person-facts.ts';
import { systemActor } from '../../../shared/actor.ts';
import { startApi, type TestApi } from '../../../testing/http/api.ts';
import { addNewcomer, addPersonWithKey, behindProxy, createKey, signIn } from '../../../testing/people.ts';
import { personNamer, readPeople } from './persons.ts';

let api: TestApi;
let ada: { id: string; key: string };
beforeAll(async () => {
  api = await startApi({ config: behindProxy });
  ada = await addPersonWithKey(api, api.ours, 'owner');
});
afterAll(() => api?.close());

const inTenant = <T>(run: Parameters<typeof api.db.withTenant<T>>[1]) => api.db.withTenant({ orgId: api.ours.id }, run);
const personOf = async (id: string) => (await inTenant((tx) => readPeople(tx, api.ours.id, new Map([[id, 'as recorded']])))).find((person) => person.id === id);

describe('who made the credential of a person', () => {
  it('is who added the member, also after the member changed the password', async () => {
    const bob = await addNewcomer(api, api.ours, 'analyst', ada.key);
    const session = await signIn(api, bob);
    const changed = { current_password: bob.password, new_password: 'a password that only Bob knows' };
    expect(await api.call('PUT', '/api/v1/me/password', { body: changed, headers: session })).toMatchObject({ status: 204 });
    expect(await personOf(bob.id)).toEqual({
      id: bob.id,
      name: expect.stringContaining('Person'),
      email: bob.email,
      role: 'analyst',
      signs_in_with: 'password',
      credential_from: ada.id,
    });
  });

  it('is whoever last set the password for them', async () => {
    const [bob, grace] = [await addNewcomer(api, api.ours, 'analyst', ada.key), await addPersonWithKey(api, api.ours, 'admin')];
    await api.call('PATCH', `/api/v1/members/${bob.id}`, { as: grace.key, body: { password: 'what the colleague does not know' } });
    await api.call('PATCH', `/api/v1/members/${bob.id}`, { as: ada.key, body: { name: 'Robert' } });
    expect(await personOf(bob.id)).toMatchObject({ name: 'Robert', credential_from: grace.id, signs_in_with: null });
  });

  it('is nobody once the member has signed in at the identity provider, until somebody sets a password again', async () => {
    const bob = await addNewcomer(api, api.ours, 'analyst', ada.key);
    await inTenant((tx) =>
      tx.insertInto('sso_subjects').values({ org_id: api.ours.id, issuer: 'https://login.example.com', subject: 'bob', member_id: bob.id }).execute(),
    );
    expect(await personOf(bob.id)).toMatchObject({ credential_from: null, signs_in_with: 'sso' });
    await inTenant((tx) => sql`update sso_subjects set created_at = now() - interval '1 hour' where org_id = ${api.ours.id}`.execute(tx));
    await api.call('PATCH', `/api/v1/members/${bob.id}`, { as: ada.key, body: { password: 'what the colleague does not know' } });
    expect(await personOf(bob.id)).toMatchObject({ credential_from: ada.id, signs_in_with: 'sso' });
    // What was done with that password stays doubtful, even if the member signs in at the identity provider again.
    await signIn(api, { ...bob, password: 'what the colleague does not know' });
    const signedIn = { action: 'session.created', objectType: 'session', objectId: bob.id, after: { method: 'oidc' } } as const;
    await inTenant((tx) => recordAudit(tx, { ...systemActor(api.ours.id, 'Bob'), type: 'member', id: bob.id, person: { id: bob.id, name: 'Bob' } }, signedIn));
    expect(await personOf(bob.id)).toMatchObject({ credential_from: ada.id, signs_in_with: 'password' });
  });
});

it('keeps the name and e-mail address of a former member, who has no role', async () => {
  const bob = await addNewcomer(api, api.ours, 'analyst', ada.key);
  await api.call('DELETE', `/api/v1/members/${bob.id}`, { as: ada.key });
  expect(await personOf(bob.id)).toMatchObject({ email: bob.email, name: expect.stringContaining('Person'), role: null, credential_from: ada.id });
});

it('always has the owners and admins', async () => {
  const people = await inTenant((tx) => readPeople(tx, api.ours.id, new Map()));
  expect(people.map(({ id }) => id)).toContain(ada.id);
  expect(people.every(({ role }) => role === 'owner' || role === 'admin')).toBe(true);
});

it('finds no person behind keys without a member, whoever made them', async () => {
  const root = await api.ours.key('admin');
  const child = await createKey(api, { as: root }, 'analyst', { name: 'Head of Security' });
  const own = await createKey(api, { as: ada.key }, 'analyst');
  const before = await inTenant((tx) => readOwnerlessKeys(tx, api.ours.id));
  expect(before.ids.has(child.id)).toBe(true);
  expect(before.ids.has(own.id)).toBe(false);
  await api.call('DELETE', `/api/v1/api-keys/${child.id}`, { as: root });
  const after = await inTenant((tx) => readOwnerlessKeys(tx, api.ours.id));
  expect([after.active, after.ids.size]).toEqual([before.active - 1, before.ids.size]);
  const name = personNamer(after.ids);
  expect(name({ type: 'api_key', id: child.id, name: 'Head of Security', person: child.id, person_name: 'root' })).toMatchObject({
    kind: 'api_key',
    person: null,
  });
  expect(name({ type: 'api_key', id: own.id, name: 'own', person: { id: ada.id, name: 'Ada' } })).toEqual({
    kind: 'api_key',
    id: own.id,
    name: 'Ada',
    person: ada.id,
  });
  expect(name({ type: 'system', id: null, name: 'worker' })).toEqual({ kind: 'system', id: null, name: 'worker', person: null });
});
