import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { withClient } from '../../db/connection/with-client.ts';
import { newId } from '../../shared/ids.ts';
import { outranks, type Role, roles } from '../../shared/permissions.ts';
import { eventually } from '../../testing/eventually.ts';
import { startApi, type TestApi } from '../../testing/http/api.ts';
import { addPerson, behindProxy, createKey, signIn, statusOf, trySignIn } from '../../testing/people.ts';
import { startReplica } from '../../testing/replica.ts';

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
const change = (id: string, body: object, by: { as?: string; headers?: Record<string, string> } = asOwner()) =>
  api.call('PATCH', `/api/v1/members/${id}`, { ...by, body });
const remove = (id: string, by: { as?: string; headers?: Record<string, string> } = asOwner()) => api.call('DELETE', `/api/v1/members/${id}`, by);

async function roleOfKey(id: string): Promise<Role> {
  return ((await api.call('GET', `/api/v1/api-keys/${id}`, asOwner())).body as { role: Role }).role;
}

describe('a member', () => {
  it('can be added, read, changed and removed', async () => {
    const added = await api.call('POST', '/api/v1/members', { ...asOwner(), body: { email: 'Ada@Example.com', name: 'Ada', role: 'viewer' } });
    const { id } = added.body as { id: string };
    expect(added).toMatchObject({ status: 201, body: { email: 'ada@example.com', name: 'Ada', role: 'viewer', has_password: false, version: 1 } });
    expect(added.headers.get('location')).toBe(`/api/v1/members/${id}`);

    const changed = await change(id, { name: 'Ada Lovelace', role: 'analyst', password: 'an engine of brass' });
    expect(changed).toMatchObject({ status: 200, body: { name: 'Ada Lovelace', role: 'analyst', has_password: true, version: 2 } });
    expect((await api.call('GET', `/api/v1/members/${id}`, asOwner())).body).toEqual(changed.body);
    for (const [q, found] of [
      ['LOVELACE', [id]],
      ['ada@', [id]],
      ['%', []],
    ] as const) {
      const { body } = await api.call('GET', `/api/v1/members?q=${encodeURIComponent(q)}`, asOwner());
      expect(
        (body as { data: { id: string }[] }).data.map((member) => member.id),
        q,
      ).toEqual(found);
    }
    expect(await trySignIn(api, 'ADA@example.com', 'an engine of brass')).toMatchObject({
      status: 201,
      body: { id, role: 'analyst', email: 'ada@example.com' },
    });

    expect(await remove(id)).toMatchObject({ status: 204, body: null });
    expect(await remove(id)).toMatchObject({ status: 404 });
    expect(await api.call('GET', `/api/v1/members/${id}`, asOwner())).toMatchObject({ status: 404, body: { code: 'not_found' } });
    expect(await trySignIn(api, 'ada@example.com', 'an engine of brass')).toMatchObject({ status: 401 });
    const { body } = await api.call('GET', '/api/v1/members?limit=200', asOwner());
    expect(JSON.stringify(body)).not.toContain('ada@example.com');
  });

  it('is unique by e-mail, ignoring case, also when ten requests add it at once', async () => {
    const spellings = ['grace@example.com', 'GRACE@example.com', 'Grace@Example.Com'];
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, n) =>
        api.call('POST', '/api/v1/members', { ...asOwner(), body: { email: spellings[n % 3], name: 'Grace', role: 'viewer' } }),
      ),
    );
    expect(answers.map(({ status }) => status).toSorted()).toEqual([201, ...Array<number>(9).fill(409)]);
    const elsewhere = await api.call('POST', '/api/v1/members', { as: api.theirs.owner, body: { email: spellings[0], name: 'Grace', role: 'viewer' } });
    expect(elsewhere.status).toBe(201);
  });

  it('of another organization is not found', async () => {
    const { id } = await addPerson(api, api.theirs, 'viewer');
    expect(await change(id, { role: 'owner' })).toMatchObject({ status: 404 });
    expect(await remove(id)).toMatchObject({ status: 404 });
    expect(await api.call('GET', `/api/v1/members/${id}`, asOwner())).toMatchObject({ status: 404 });
  });

  it('never exposes its password or hash', async () => {
    const { id } = await addPerson(api, api.ours, 'viewer');
    for (const path of [`/api/v1/members/${id}`, '/api/v1/members?limit=200']) {
      expect(JSON.stringify((await api.call('GET', path, asOwner())).body)).not.toMatch(/argon2|password_hash|"password"/);
    }
  });

  it('has a password of at least 12 characters or none', async () => {
    const body = { email: 'short@example.com', name: 'Short', role: 'viewer' };
    for (const password of ['', 'eleven char', null, 'x'.repeat(201)]) {
      const answer = await api.call('POST', '/api/v1/members', { ...asOwner(), body: { ...body, password } });
      expect(answer).toMatchObject({ status: 400, body: { errors: [{ path: '/password' }] } });
    }
  });
});

describe('changing members', () => {
  const pairs = (['owner', 'admin'] as const).flatMap((by) => roles.map((role): [Role, Role] => [by, role]));
  it.each(pairs)('%s can add, change and remove %s only if that role is not higher', async (by, role) => {
    const as = await api.ours.key(by);
    const allowed = !outranks(role, by);
    const added = await api.call('POST', '/api/v1/members', { as, body: { email: `${by}-${role}@pairs.example`, name: 'x', role } });
    expect(added.status).toBe(allowed ? 201 : 403);
    const { id } = await addPerson(api, api.ours, role);
    expect((await change(id, { name: 'renamed' }, { as })).status).toBe(allowed ? 200 : 403);
    expect((await change(id, { password: 'a password of my choice' }, { as })).status).toBe(allowed ? 200 : 403);
    expect((await remove(id, { as })).status).toBe(allowed ? 204 : 403);
  });

  it.each(['analyst', 'viewer', 'auditor'] as const)('%s cannot change members', async (role) => {
    const as = await api.ours.key(role);
    const { id } = await addPerson(api, api.ours, 'viewer');
    expect((await change(id, { name: 'renamed' }, { as })).status).toBe(403);
    expect((await remove(id, { as })).status).toBe(403);
    expect((await api.call('GET', `/api/v1/members/${id}`, { as })).status).toBe(200);
  });

  it('an admin cannot make anyone an owner, not even themselves', async () => {
    const admin = await addPerson(api, api.ours, 'admin');
    const headers = await signIn(api, admin);
    expect(await change(admin.id, { role: 'owner' }, { headers })).toMatchObject({ status: 403, body: { code: 'forbidden' } });
  });
});

describe('a demotion', () => {
  it.each([
    ['owner', 'admin', { owner: 'admin', admin: 'admin', analyst: 'analyst', viewer: 'viewer', auditor: 'auditor' }],
    ['admin', 'analyst', { admin: 'analyst', analyst: 'analyst', viewer: 'viewer' }],
    ['admin', 'viewer', { admin: 'viewer', analyst: 'viewer', viewer: 'viewer', auditor: 'viewer' }],
  ] as const)('from %s to %s lowers the keys that would have a higher role', async (from, to, expected) => {
    const person = await addPerson(api, api.ours, from);
    const session = await signIn(api, person);
    const keys = await Promise.all((Object.keys(expected) as Role[]).map((role) => createKey(api, { headers: session }, role)));
    expect(await change(person.id, { role: to })).toMatchObject({ status: 200 });
    const now = await Promise.all(keys.map(async ({ id, role }) => [role, await roleOfKey(id)]));
    expect(Object.fromEntries(now)).toEqual(expected);
    expect(await replica.call('GET', '/api/v1/me', { headers: session })).toMatchObject({ status: 200, body: { role: to } });
    for (const { key } of keys) expect(await statusOf(replica, key)).toBe(200);
  });

  it('does not change revoked keys or keys of others', async () => {
    const [one, other] = [await addPerson(api, api.ours, 'admin'), await addPerson(api, api.ours, 'admin')];
    const headers = await signIn(api, one);
    const [mine, gone] = [await createKey(api, { headers: await signIn(api, other) }, 'admin'), await createKey(api, { headers }, 'admin')];
    await api.call('DELETE', `/api/v1/api-keys/${gone.id}`, asOwner());
    await change(one.id, { role: 'viewer' });
    expect([await roleOfKey(mine.id), await roleOfKey(gone.id)]).toEqual(['admin', 'admin']);
  });
});

describe('a removal', () => {
  it('ends the sessions and revokes the keys of the member immediately, on every replica', async () => {
    const person = await addPerson(api, api.ours, 'admin');
    const sessions = [await signIn(api, person), await signIn(replica, person)];
    const { key, id } = await createKey(api, { headers: sessions[0] ?? {} }, 'admin');
    const credentials = [...sessions, key];
    for (const credential of credentials) expect(await statusOf(replica, credential)).toBe(200);
    await remove(person.id);
    for (const credential of credentials) expect([await statusOf(replica, credential), await statusOf(api, credential)]).toEqual([401, 401]);
    expect(await api.call('GET', `/api/v1/api-keys/${id}`, asOwner())).toMatchObject({ body: { status: 'revoked' } });
  });
});

describe('changing a member during a sign-in', () => {
  it('neither deadlocks nor leaves a session behind', async () => {
    for (let round = 0; round < 5; round++) {
      const person = await addPerson(api, api.ours, 'viewer');
      const ending = round % 2 === 0 ? () => remove(person.id) : () => change(person.id, { password: 'another password now' });
      const [ended, ...signedIn] = await Promise.all([ending(), ...Array.from({ length: 4 }, () => trySignIn(api, person.email, person.password))]);
      expect(ended.status).toBeLessThan(300);
      for (const { status } of signedIn) expect([201, 401]).toContain(status);
      const cookies = signedIn.flatMap(({ headers }) => headers.get('set-cookie')?.split(';')[0] ?? []);
      const left = await Promise.all(cookies.map((cookie) => statusOf(api, { cookie })));
      expect(left.filter((status) => status !== 401)).toEqual([]);
    }
  });

  it('does not block the rows that the sign-in writes for the organization', async () => {
    const { id } = await addPerson(api, api.ours, 'viewer');
    await withClient(api.databaseUrl, async (signingIn) => {
      await signingIn.query('begin');
      await signingIn.query('update rrs.members set failed_sign_ins = 0 where id = $1', [id]);
      const removing = remove(id);
      const waiting = `select count(*)::int as n from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
      await eventually(async () => (await signingIn.query(waiting)).rows).toEqual([{ n: 1 }]);
      await signingIn.query(
        `insert into rrs.audit_events (org_id, id, actor_type, actor_name, action, object_type, object_id) values ($1, $2, 'member', 'x', 'session.created', 'session', 'x')`,
        [api.ours.id, newId()],
      );
      await signingIn.query('commit');
      expect((await removing).status).toBe(204);
    });
  });
});
