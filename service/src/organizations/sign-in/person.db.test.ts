import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AUDIENCE, type IdentityProvider, startIdentityProvider } from '../../testing/fakes/identity-provider.ts';
import { startApi, type TestApi } from '../../testing/http/api.ts';
import { addNewcomer, addPerson, behindProxy, createKey, fromRandomAddress, signIn, statusOf } from '../../testing/people.ts';

let provider: IdentityProvider;
let api: TestApi;
beforeAll(async () => {
  provider = await startIdentityProvider();
  api = await startApi({ config: { ...behindProxy, RRS_OIDC_ISSUER: provider.issuer, RRS_OIDC_AUDIENCE: AUDIENCE } });
});
afterAll(async () => {
  await api?.close();
  await provider?.stop();
});

type Credential = string | { cookie: string };
const using = (credential: Credential) =>
  typeof credential === 'string' ? { as: credential, headers: fromRandomAddress() } : { headers: { ...fromRandomAddress(), ...credential } };
const personOf = async (credential: Credential): Promise<{ id: string; name: string }> => {
  const { status, body } = await api.call('GET', '/api/v1/me', using(credential));
  expect(status, JSON.stringify(body)).toBe(200);
  return (body as { person: { id: string; name: string } }).person;
};
/** An access token of one subject. */
const token = (sub: string, claims: Record<string, unknown> = {}) => provider.forge({ organization: 'ours', sub, email_verified: true, ...claims });

describe('one person', () => {
  it('is a member with sessions, keys, keys made by keys, and access tokens with and without a role', async () => {
    const ada = await addPerson(api, api.ours, 'admin');
    const session = await signIn(api, ada);
    const key = await createKey(api, { headers: session }, 'admin');
    const keyOfKey = await createKey(api, { as: key.key }, 'admin');
    const sso = await token('ada-at-idp', { email: ada.email.toUpperCase() });
    const ssoWithRole = await token('ada-at-idp', { email: ada.email, role: 'admin', name: 'A. L.' });
    const keyOfSso = await createKey(api, { as: ssoWithRole }, 'analyst');
    const keyOfThat = await createKey(api, { as: (await createKey(api, { as: ssoWithRole }, 'admin')).key }, 'viewer');
    const { name } = (await api.call('GET', '/api/v1/me', { headers: session })).body as { name: string };
    for (const credential of [session, key.key, keyOfKey.key, sso, ssoWithRole, keyOfSso.key, keyOfThat.key]) {
      expect(await personOf(credential)).toEqual({ id: ada.id, name });
    }
  });

  it('is recognized by the subject of the token, once it was used with the e-mail address of the member', async () => {
    const grace = await addPerson(api, api.ours, 'analyst');
    expect(await personOf(await token('grace-at-idp', { role: 'analyst', name: 'Grace' }))).toEqual({ id: 'grace-at-idp', name: 'Grace' });
    expect((await personOf(await token('grace-at-idp', { role: 'analyst', email: grace.email }))).id).toBe(grace.id);
    for (const claims of [{}, { email: 'grace.new@ours.example' }, { email: grace.email, email_verified: false }]) {
      expect((await personOf(await token('grace-at-idp', { role: 'viewer', ...claims }))).id).toBe(grace.id);
    }
    expect((await personOf(await token('grace-at-idp'))).id).toBe(grace.id);
    const linked = await api.call('GET', `/api/v1/audit-events?object_id=${grace.id}&action=member.subject_linked`, { as: api.ours.owner });
    expect(linked.body).toMatchObject({ data: [{ after: { subject: 'grace-at-idp' }, person: { id: grace.id } }] });
    expect((linked.body as { data: unknown[] }).data).toHaveLength(1);
  });

  it('stays the same when the member is renamed', async () => {
    const person = await addPerson(api, api.ours, 'admin');
    const key = await createKey(api, { headers: await signIn(api, person) }, 'admin');
    await api.call('PATCH', `/api/v1/members/${person.id}`, { as: api.ours.owner, body: { name: 'New Name' } });
    expect(await personOf(key.key)).toEqual({ id: person.id, name: 'New Name' });
  });

  it('stays the same when the member is removed, whose keys end', async () => {
    const person = await addPerson(api, api.ours, 'admin');
    const key = await createKey(api, { headers: await signIn(api, person) }, 'admin');
    const sso = await token('removed-at-idp', { email: person.email, role: 'admin' });
    expect((await personOf(sso)).id).toBe(person.id);
    await api.call('DELETE', `/api/v1/members/${person.id}`, { as: api.ours.owner });
    expect(await statusOf(api, key.key)).toBe(401);
    expect((await personOf(sso)).id).toBe(person.id);
    const made = await createKey(api, { as: sso }, 'analyst');
    expect((await personOf(made.key)).id).toBe(person.id);
  });

  it('is a key that no member stands behind, with all keys that it made', async () => {
    const root = await api.ours.key('admin');
    const child = await createKey(api, { as: root }, 'admin', { name: 'Head of Security' });
    const grandchild = await createKey(api, { as: child.key }, 'analyst', { name: 'Auditor' });
    const person = await personOf(root);
    expect(person.name).toBe('admin of ours');
    expect(await personOf(child.key)).toEqual(person);
    expect(await personOf(grandchild.key)).toEqual(person);
  });

  it('is a subject that no member stands behind, with all keys that it made', async () => {
    const sso = await token('robot', { role: 'admin', name: 'Robot' });
    const key = await createKey(api, { as: sso }, 'admin');
    const keyOfKey = await createKey(api, { as: key.key }, 'viewer');
    for (const credential of [sso, key.key, keyOfKey.key]) expect(await personOf(credential)).toEqual({ id: 'robot', name: 'Robot' });
  });
});

describe('different persons', () => {
  it('are keys that were made without a credential, and members', async () => {
    const [ada, grace] = [await addPerson(api, api.ours, 'viewer'), await addPerson(api, api.ours, 'viewer')];
    const credentials = [await api.ours.key('admin'), await api.ours.key('admin'), await signIn(api, ada), await signIn(api, grace)];
    const ids = await Promise.all(credentials.map(async (credential) => (await personOf(credential)).id));
    expect(new Set(ids).size).toBe(4);
  });

  it('are a member and a subject that only claims the e-mail address', async () => {
    const person = await addPerson(api, api.ours, 'analyst');
    expect((await personOf(await token('impostor', { role: 'analyst', email: person.email, email_verified: false }))).id).toBe('impostor');
  });

  it('are the same subject in two organizations', async () => {
    const [here, there] = [await addPerson(api, api.ours, 'analyst'), await addPerson(api, api.theirs, 'analyst')];
    expect((await personOf(await token('both', { email: here.email }))).id).toBe(here.id);
    expect((await personOf(await token('both', { organization: 'theirs', email: there.email }))).id).toBe(there.id);
    expect((await personOf(await token('both'))).id).toBe(here.id);
  });
});

describe('a password that somebody else chose', () => {
  const changePassword = (headers: { cookie: string }, current_password: string, new_password: string) =>
    api.call('PUT', '/api/v1/me/password', { headers: { ...fromRandomAddress(), ...headers }, body: { current_password, new_password } });

  it('lets its member only read, until the member changes it', async () => {
    const admin = await addPerson(api, api.ours, 'admin');
    const grace = await addNewcomer(api, api.ours, 'admin', (await createKey(api, { headers: await signIn(api, admin) }, 'admin')).key);
    const session = await signIn(api, grace);
    const refused = { status: 403, body: { code: 'password_change_required', detail: expect.stringContaining('chosen by a key for admin') } };
    expect((await api.call('GET', '/api/v1/me', using(session))).body).toMatchObject({ must_change_password: true, person: { id: grace.id } });
    expect((await api.call('GET', '/api/v1/findings', using(session))).status).toBe(200);
    const key = { name: 'a key to keep', role: 'viewer' };
    expect(await api.call('POST', '/api/v1/api-keys', { ...using(session), body: key })).toMatchObject(refused);
    // An administrator cannot lift it in the name of the member, other than with a new password.
    expect(await api.call('PATCH', `/api/v1/members/${grace.id}`, { ...using(session), body: { password: 'another long password' } })).toMatchObject(refused);

    expect(await changePassword(session, grace.password, 'known to nobody else')).toMatchObject({ status: 204 });
    const own = await signIn(api, { email: grace.email, password: 'known to nobody else' });
    expect((await api.call('GET', '/api/v1/me', using(own))).body).toMatchObject({ must_change_password: false });
    expect(await api.call('POST', '/api/v1/api-keys', { ...using(own), body: key })).toMatchObject({ status: 201 });
  });

  it('is noted whenever somebody else sets it, also for a member who had chosen one, whose keys stay usable', async () => {
    const grace = await addPerson(api, api.ours, 'admin');
    const own = (await createKey(api, { headers: await signIn(api, grace) }, 'admin')).key;
    const set = (as: string, password: string) => api.call('PATCH', `/api/v1/members/${grace.id}`, { as, body: { password } });
    expect((await set(own, 'chosen with my own key')).body).toMatchObject({ must_change_password: false });
    expect((await set(api.ours.owner, 'chosen by the owner key')).body).toMatchObject({ must_change_password: true });
    const session = await signIn(api, { email: grace.email, password: 'chosen by the owner key' });
    expect(await api.call('DELETE', `/api/v1/members/${grace.id}`, using(session))).toMatchObject({ status: 403, body: { code: 'password_change_required' } });
    expect(await createKey(api, { as: own }, 'viewer')).toMatchObject({ role: 'viewer' });
  });
});

it('audit events name the person next to the credential, and can be filtered by person', async () => {
  const person = await addPerson(api, api.ours, 'admin');
  const session = await signIn(api, person);
  const key = await createKey(api, { headers: session }, 'admin');
  const made = await createKey(api, { as: key.key }, 'viewer');
  const { body } = await api.call('GET', `/api/v1/audit-events?person_id=${person.id}&action=api_key.created&sort=occurred_at`, { as: api.ours.owner });
  expect(body).toMatchObject({
    data: [
      { actor: { type: 'member', id: person.id }, person: { id: person.id }, object: { id: key.id } },
      {
        actor: { type: 'api_key', id: key.id, name: 'a key for admin' },
        person: { id: person.id, name: expect.stringMatching(/^Person/) },
        object: { id: made.id },
      },
    ],
  });
});
