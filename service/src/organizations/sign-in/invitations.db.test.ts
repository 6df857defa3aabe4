import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Role } from '../../shared/permissions.ts';
import { type ApiAnswer, startApi, type TestApi, type TestOrganization } from '../../testing/http/api.ts';
import { addPerson, behindProxy, createKey, fromRandomAddress, type Person, signIn, statusOf, trySignIn } from '../../testing/people.ts';
import { createTestDatabase } from '../../testing/postgres.ts';
import { createSetupKey } from './setup.ts';

let api: TestApi;

beforeAll(async () => {
  api = await startApi({ config: behindProxy, database: await createTestDatabase() });
});
afterAll(() => api?.close());

const PASSWORD = 'what only the member knows';

async function addWithoutPassword(role: Role, org: TestOrganization = api.ours): Promise<Person> {
  const email = `${crypto.randomUUID()}@example.com`;
  const { body } = await api.call('POST', '/api/v1/members', { as: org.owner, body: { email, name: 'Ada', role } });
  return { id: (body as { id: string }).id, email, password: PASSWORD };
}
const invite = (id: string, as = api.ours.owner) => api.call('POST', `/api/v1/members/${id}/invitations`, { as });
const tokenOf = ({ body }: ApiAnswer): string => (body as { url: string }).url.split('#token=')[1] ?? '';
const inviteToken = async (id: string, as?: string) => tokenOf(await invite(id, as));
const read = (token: string) => api.call('GET', `/api/v1/invitations/${token}`, { headers: fromRandomAddress() });
const accept = (token: string, body: object = { password: PASSWORD }, headers: Record<string, string> = {}) =>
  api.call('POST', `/api/v1/invitations/${token}`, { body, headers: { ...fromRandomAddress(), ...headers } });
const sessionOf = ({ headers }: ApiAnswer) => ({ cookie: (headers.get('set-cookie') ?? '').split(';')[0] ?? '' });

describe('an invitation', () => {
  it('is a link that expires after a day, with the token where browsers do not send it', async () => {
    const { id } = await addWithoutPassword('analyst');
    const answer = await invite(id);
    expect(answer).toMatchObject({
      status: 201,
      body: { kind: 'invitation', url: expect.stringMatching(/^http:\/\/127[^#]+\/invitation#token=inv_[\w-]{64}$/) },
    });
    const { expires_at } = answer.body as { expires_at: string };
    expect(Math.abs(Date.parse(expires_at) - Date.now() - 86_400_000)).toBeLessThan(60_000);
  });

  it('lets the member choose a password and signs in, without anybody else knowing the password', async () => {
    const person = await addWithoutPassword('admin');
    const token = await inviteToken(person.id);
    expect(await read(token)).toMatchObject({ status: 200, body: { kind: 'invitation', email: person.email, name: 'Ada', organization: { slug: 'ours' } } });
    const answer = await accept(token);
    expect(answer).toMatchObject({ status: 201, body: { type: 'member', id: person.id, role: 'admin', must_change_password: false } });
    expect(answer.headers.get('set-cookie')).toMatch(/^rrs_session=.*HttpOnly; SameSite=Lax/);
    expect((await api.call('POST', '/api/v1/api-keys', { headers: sessionOf(answer), body: { name: 'x', role: 'viewer' } })).status).toBe(201);
    expect((await trySignIn(api, person.email, PASSWORD)).status).toBe(201);
  });

  it('works once, also when ten requests use it together', async () => {
    const { id } = await addWithoutPassword('viewer');
    const token = await inviteToken(id);
    const answers = await Promise.all(Array.from({ length: 10 }, (_, n) => accept(token, { password: `password number ${n}` })));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([201, ...Array(9).fill(404)]);
    expect((await read(token)).status).toBe(404);
  });

  it('resets a forgotten password, ends the sessions and, if asked, the API keys', async () => {
    const person = await addPerson(api, api.ours, 'admin');
    const session = await signIn(api, person);
    const { key } = await createKey(api, { headers: session }, 'viewer');
    const token = await inviteToken(person.id);
    expect(await read(token)).toMatchObject({ body: { kind: 'password_reset' } });
    expect(await statusOf(api, session)).toBe(200);
    expect((await accept(token)).status).toBe(201);
    expect([await statusOf(api, session), await statusOf(api, key)]).toEqual([401, 200]);
    expect((await trySignIn(api, person.email, person.password)).status).toBe(401);
    expect((await accept(await inviteToken(person.id), { password: PASSWORD, revoke_api_keys: true })).status).toBe(201);
    expect(await statusOf(api, key)).toBe(401);
  });

  it('unlocks an account that somebody locked with wrong guesses', async () => {
    const person = await addPerson(api, api.ours, 'viewer');
    for (let n = 0; n < 6; n++) await trySignIn(api, person.email, 'a wrong guess');
    await accept(await inviteToken(person.id));
    expect((await trySignIn(api, person.email, PASSWORD)).status).toBe(201);
  });

  it('names its creator to those who check who could know a credential', async () => {
    const { id } = await addWithoutPassword('viewer');
    await accept(await inviteToken(id));
    const { body } = await api.call('GET', `/api/v1/audit-events?object_id=${id}`, { as: api.ours.owner });
    const actions = (body as { data: { action: string; actor: { type: string } }[] }).data.map(({ action, actor }) => [action, actor.type]);
    expect(actions).toEqual(
      expect.arrayContaining([
        ['member.invited', 'api_key'],
        ['member.updated', 'member'],
      ]),
    );
  });
});

describe('an invitation ends', () => {
  it.each([
    ['with the next one', (id: string) => invite(id)],
    [
      'with another role, because its creator may have a lower one',
      (id: string) => api.call('PATCH', `/api/v1/members/${id}`, { as: api.ours.owner, body: { role: 'owner' } }),
    ],
    ['with a new password', (id: string) => api.call('PATCH', `/api/v1/members/${id}`, { as: api.ours.owner, body: { password: 'chosen by the owner' } })],
    ['with the member', (id: string) => api.call('DELETE', `/api/v1/members/${id}`, { as: api.ours.owner })],
    [
      'after its time',
      (id: string) =>
        api.db.withSystem((tx) =>
          tx
            .updateTable('invitations')
            .set({ expires_at: new Date(Date.now() - 1) })
            .where('member_id', '=', id)
            .execute(),
        ),
    ],
  ])('%s', async (_, event) => {
    const { id } = await addWithoutPassword('analyst');
    const token = await inviteToken(id);
    expect((await read(token)).status).toBe(200);
    await event(id);
    expect([(await read(token)).status, (await accept(token)).status]).toEqual([404, 404]);
  });

  it('when its creator is removed or demoted, or the key that created it is revoked', async () => {
    const { id } = await addWithoutPassword('viewer');
    const manage = { as: api.ours.owner };
    for (const end of [
      (admin: Person) => api.call('DELETE', `/api/v1/members/${admin.id}`, manage),
      (admin: Person) => api.call('PATCH', `/api/v1/members/${admin.id}`, { ...manage, body: { role: 'viewer' } }),
    ]) {
      const admin = await addPerson(api, api.ours, 'admin');
      const answer = await api.call('POST', `/api/v1/members/${id}/invitations`, { headers: await signIn(api, admin) });
      await end(admin);
      expect((await accept(tokenOf(answer))).status).toBe(404);
    }
    const as = await api.ours.key('admin');
    const token = await inviteToken(id, as);
    const { body } = await api.call('GET', '/api/v1/me', { as });
    await api.call('DELETE', `/api/v1/api-keys/${(body as { id: string }).id}`, manage);
    expect((await accept(token)).status).toBe(404);
  });
});

describe('an invitation is refused', () => {
  it('to admins for an owner, to others at all, and for a member of another organization', async () => {
    const [owner, viewer] = [await addPerson(api, api.ours, 'owner'), await addPerson(api, api.ours, 'viewer')];
    expect((await invite(owner.id, await api.ours.key('admin'))).status).toBe(403);
    for (const role of ['analyst', 'viewer', 'auditor'] as const) expect((await invite(viewer.id, await api.ours.key(role))).status).toBe(403);
    expect((await invite(viewer.id, api.theirs.owner)).status).toBe(404);
  });

  it('with a token of another kind or organization, a short password, or from another site', async () => {
    const { id } = await addWithoutPassword('viewer');
    const token = await inviteToken(id);
    const bytes = Buffer.from(token.slice(4), 'base64url');
    const crossed = `inv_${Buffer.concat([bytes.subarray(0, 32), Buffer.from(api.theirs.id.replaceAll('-', ''), 'hex')]).toString('base64url')}`;
    for (const wrong of [crossed, token.replace('inv_', 'stp_'), token.toLowerCase(), 'x']) expect((await accept(wrong)).status).toBe(404);
    expect((await accept(token, { password: 'short' })).status).toBe(400);
    expect((await accept(token, { password: PASSWORD }, { origin: 'https://attacker.example' })).status).toBe(403);
    expect((await accept(token)).status).toBe(201);
  });

  it('to an address that guesses', async () => {
    const headers = fromRandomAddress();
    const statuses = [];
    for (let n = 0; n < 31; n++) statuses.push((await api.call('GET', `/api/v1/invitations/inv_${n}`, { headers })).status);
    expect([statuses[29], statuses[30]]).toEqual([404, 429]);
  });
});

describe('the setup', () => {
  const setUp = (key: string, headers: Record<string, string> = {}) =>
    api.call('POST', '/api/v1/setup', {
      body: { key, email: 'First@Example.com', name: 'First', password: PASSWORD },
      headers: { ...fromRandomAddress(), ...headers },
    });
  const isRequired = async () => ((await api.call('GET', '/api/v1/service')).body as { setup_required: boolean }).setup_required;
  const newKey = () => api.db.withSystem((tx) => createSetupKey(tx, api.theirs.id));

  it('creates the first owner, once, and ends with the first member', async () => {
    const key = await newKey();
    expect(await isRequired()).toBe(true);
    expect((await setUp(key, { origin: 'https://attacker.example' })).status).toBe(403);
    expect((await setUp(`${key.slice(0, -1)}${key.endsWith('A') ? 'B' : 'A'}`)).status).toBe(404);
    const answers = await Promise.all([setUp(key), setUp(key)]);
    expect(answers.map(({ status }) => status).toSorted()).toEqual([201, 404]);
    const done = answers.find(({ status }) => status === 201) ?? answers[0];
    expect(done?.body).toMatchObject({ role: 'owner', email: 'first@example.com', must_change_password: false, organization: { slug: 'theirs' } });
    expect(done && (await statusOf(api, sessionOf(done)))).toBe(200);
    expect((await trySignIn(api, 'first@example.com', PASSWORD)).status).toBe(201);
    expect((await setUp(key)).status).toBe(404);
    expect(await isRequired()).toBe(false);
  });

  it('is over when a member was added in another way', async () => {
    const key = await newKey();
    await addPerson(api, api.theirs, 'viewer');
    expect((await setUp(key)).status).toBe(404);
  });
});
