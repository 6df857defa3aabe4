import { generateKeyPair } from 'jose';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { CLIENT, type SignInProvider, startSignInProvider } from '../../testing/fakes/sign-in-provider.ts';
import { type ApiAnswer, startApi, type TestApi } from '../../testing/http/api.ts';
import { addNewcomer, addPerson, behindProxy, fromRandomAddress, type Person, statusOf } from '../../testing/people.ts';
import { startReplica } from '../../testing/replica.ts';

let provider: SignInProvider;
let api: TestApi;

beforeAll(async () => {
  provider = await startSignInProvider();
  api = await startApi({ config: { ...behindProxy, ...provider.settings } });
});
afterAll(async () => {
  await api?.close();
  await provider?.stop();
});

type Service = Pick<TestApi, 'call'>;
const START = '/api/v1/sessions/oidc/start';
const CALLBACK = '/api/v1/sessions/oidc/callback';
const cookiesOf = ({ headers }: ApiAnswer): string[] => headers.getSetCookie().map((cookie) => cookie.split(';')[0] ?? '');
const locationOf = ({ headers }: ApiAnswer): string => headers.get('location') ?? '';

/** Follows the browser to the provider and back, up to the callback, which is not called yet. */
async function start(query = '', service: Service = api): Promise<{ cookie: string; path: string }> {
  const started = await service.call('GET', `${START}${query}`);
  expect(started.status).toBe(302);
  const [cookie = ''] = cookiesOf(started);
  const back = await fetch(locationOf(started), { redirect: 'manual' });
  const { pathname, search } = new URL(back.headers.get('location') ?? '');
  return { cookie, path: `${pathname}${search}` };
}
const finish = ({ cookie, path }: { cookie: string; path: string }, service: Service = api) =>
  service.call('GET', path, { headers: { ...fromRandomAddress(), cookie } });
const signIn = async (query = '', service: Service = api) => finish(await start(query, service), service);

/** The reason that a failed sign-in shows on the sign-in page. It must not set a session. */
function reasonOf(answer: ApiAnswer): string | null {
  expect(answer.status).toBe(303);
  expect(cookiesOf(answer)).toEqual(['rrs_sign_in=']);
  const { origin, pathname, searchParams } = new URL(locationOf(answer));
  expect([origin, pathname]).toEqual([api.url, '/sign-in']);
  return searchParams.get('error');
}
const sessionOf = (answer: ApiAnswer) => ({ cookie: cookiesOf(answer).find((cookie) => cookie.startsWith('rrs_session=')) ?? '' });
const verified = ({ id, email }: Person) => ({ sub: `subject of ${id}`, email, email_verified: true });

describe('signing in at the identity provider', () => {
  it('opens a session of the member with the verified e-mail and goes to the page it was started for', async () => {
    const person = await addPerson(api, api.ours, 'analyst');
    provider.as({ ...verified(person), email: person.email.toUpperCase() });
    const answer = await signIn('?next=/findings%3Fseverity%3Dhigh%23top');
    expect([answer.status, locationOf(answer)]).toEqual([303, `${api.url}/findings?severity=high#top`]);
    const cookies = answer.headers.getSetCookie();
    expect(cookies).toEqual([
      'rrs_sign_in=; Path=/api/v1/sessions/oidc; HttpOnly; SameSite=Lax; Max-Age=0',
      expect.stringMatching(/^rrs_session=ses_[\w-]+; Path=\/; HttpOnly; SameSite=Lax; Max-Age=43200$/),
    ]);
    const me = await api.call('GET', '/api/v1/me', { headers: sessionOf(answer) });
    expect(me.body).toMatchObject({ type: 'member', id: person.id, role: 'analyst', email: person.email, must_change_password: false });
    const member = await api.call('GET', `/api/v1/members/${person.id}`, { as: api.ours.owner });
    expect(member.body).toMatchObject({ identity_provider_linked: true });
    const events = await api.call('GET', `/api/v1/audit-events?actor_id=${person.id}`, { as: api.ours.owner });
    const actions = (events.body as { data: { action: string; after: unknown }[] }).data.map(({ action, after }) => [action, after]);
    expect(actions).toContainEqual(['member.subject_linked', { issuer: provider.issuer, subject: `subject of ${person.id}` }]);
    expect(actions).toContainEqual(['session.created', expect.objectContaining({ method: 'oidc' })]);
  });

  it('sends a request with PKCE, state and nonce, and a cookie that scripts cannot read and that reveals none of them', async () => {
    const started = await api.call('GET', START);
    const request = new URL(locationOf(started)).searchParams;
    expect(Object.fromEntries(request)).toMatchObject({
      client_id: CLIENT.id,
      redirect_uri: `${api.url}${CALLBACK}`,
      scope: 'openid email profile',
      code_challenge_method: 'S256',
    });
    const [cookie = ''] = started.headers.getSetCookie();
    expect(cookie).toMatch(/^rrs_sign_in=[\w-]+; Path=\/api\/v1\/sessions\/oidc; HttpOnly; SameSite=Lax; Max-Age=600$/);
    const value = Buffer.from(cookie.split(/[=;]/)[1] ?? '', 'base64url').toString('latin1');
    for (const name of ['state', 'nonce', 'code_challenge']) {
      expect(request.get(name)).toMatch(/^[\w-]{43}$/);
      expect(value).not.toContain(request.get(name));
    }
  });

  it('works without a secret, with the secret in the body, and with a provider that does not name itself', async () => {
    const person = await addPerson(api, api.ours, 'viewer');
    for (const options of [{ isPublic: true }, { authMethod: 'client_secret_post' }, { namesItself: false }]) {
      const other = await startSignInProvider(options);
      onTestFinished(() => other.stop());
      const replica = await startReplica(api.databaseUrl, { ...behindProxy, ...other.settings });
      onTestFinished(() => replica.close());
      other.as(verified(person));
      expect(await statusOf(replica, sessionOf(await signIn('', replica)))).toBe(200);
    }
  });

  it('takes an e-mail address as verified by the claim that the operator names, unless the provider denies it', async () => {
    const settings = { ...behindProxy, ...provider.settings, RRS_OIDC_EMAIL_VERIFIED_CLAIM: 'xms_edov' };
    const replica = await startReplica(api.databaseUrl, settings);
    onTestFinished(() => replica.close());
    for (const xms_edov of [true, '1']) {
      const { id, email } = await addPerson(api, api.ours, 'viewer');
      provider.as({ sub: `Entra subject of ${id}`, email, xms_edov });
      expect(await statusOf(replica, sessionOf(await signIn('', replica)))).toBe(200);
    }
    const { email } = await addPerson(api, api.ours, 'owner');
    for (const claims of [{}, { xms_edov: false }, { xms_edov: '0' }, { email_verified: true }, { xms_edov: true, email_verified: false }]) {
      provider.as({ sub: 'somebody else', email, ...claims });
      expect(new URL(locationOf(await signIn('', replica))).searchParams.get('error')).toBe('email_not_verified');
    }
  });

  it('finds a linked member by the subject alone, whatever the e-mail', async () => {
    const person = await addPerson(api, api.ours, 'viewer');
    const { sub, ...claims } = verified(person);
    provider.as({ sub, ...claims });
    await signIn();
    for (const email of [undefined, 'new-name@elsewhere.example', (await addPerson(api, api.ours, 'owner')).email]) {
      provider.as({ sub, email, email_verified: true });
      const me = await api.call('GET', '/api/v1/me', { headers: sessionOf(await signIn()) });
      expect(me.body).toMatchObject({ id: person.id });
    }
  });

  it('does not require a change of a password that somebody else chose, because it did not use one', async () => {
    const person = await addNewcomer(api, api.ours, 'admin');
    provider.as(verified(person));
    const headers = sessionOf(await signIn());
    expect((await api.call('POST', '/api/v1/api-keys', { headers, body: { name: 'mine', role: 'viewer' } })).status).toBe(201);
  });

  it('asks for the organization of a person who is a member of several', async () => {
    const person = await addPerson(api, api.ours, 'viewer');
    const body = { email: person.email, name: 'the same', role: 'auditor' };
    await api.call('POST', '/api/v1/members', { as: api.theirs.owner, body });
    provider.as(verified(person));
    expect(reasonOf(await signIn('?next=/assets'))).toBe('choose_organization');
    const chosen = await signIn('?organization=theirs');
    const me = await api.call('GET', '/api/v1/me', { headers: sessionOf(chosen) });
    expect(me.body).toMatchObject({ role: 'auditor', organization: { slug: 'theirs' } });
    provider.as({ ...verified(person), organization: 'ours' });
    const claimed = await api.call('GET', '/api/v1/me', { headers: sessionOf(await signIn('?organization=theirs')) });
    expect(claimed.body).toMatchObject({ organization: { slug: 'ours' } });
  });
});

describe('a sign-in is refused', () => {
  it('for somebody who is not a member, and for a removed member', async () => {
    provider.as({ sub: 'stranger', email: 'stranger@example.com', email_verified: true });
    expect(reasonOf(await signIn())).toBe('no_member');
    const person = await addPerson(api, api.ours, 'viewer');
    provider.as(verified(person));
    expect(sessionOf(await signIn()).cookie).not.toBe('');
    await api.call('DELETE', `/api/v1/members/${person.id}`, { as: api.ours.owner });
    expect(reasonOf(await signIn())).toBe('no_member');
  });

  it.each([undefined, false, 'true', 1, null])('for an e-mail address with email_verified %j', async (email_verified) => {
    const { email } = await addPerson(api, api.ours, 'owner');
    provider.as({ sub: 'somebody', email, email_verified });
    expect(reasonOf(await signIn())).toBe('email_not_verified');
  });

  it('for an e-mail address that only another claim calls verified', async () => {
    const { email } = await addPerson(api, api.ours, 'owner');
    provider.as({ sub: 'somebody of Entra', email, xms_edov: true });
    expect(reasonOf(await signIn())).toBe('email_not_verified');
  });

  it('for another account that got the e-mail address of a linked member', async () => {
    const person = await addPerson(api, api.ours, 'owner');
    provider.as(verified(person));
    await signIn();
    provider.as({ ...verified(person), sub: 'successor' });
    expect(reasonOf(await signIn())).toBe('no_member');
  });

  it('in another browser than the one that started it', async () => {
    const person = await addPerson(api, api.ours, 'viewer');
    provider.as(verified(person));
    const { path } = await start();
    expect(reasonOf(await finish({ cookie: '', path }))).toBe('expired');
    const other = await start();
    expect(reasonOf(await finish({ cookie: other.cookie, path }))).toBe('expired');
    expect(reasonOf(await finish({ cookie: 'rrs_sign_in=made-up', path }))).toBe('expired');
  });

  it('after ten minutes', async () => {
    provider.as(verified(await addPerson(api, api.ours, 'viewer')));
    // The clock is set back, not ahead: IDs of later tests in this process would be ahead, too.
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() - 601_000 });
    onTestFinished(() => void vi.useRealTimers());
    const begun = await start();
    vi.useRealTimers();
    expect(reasonOf(await finish(begun))).toBe('expired');
  });

  it('with a code that was used before, or that another browser received', async () => {
    provider.as(verified(await addPerson(api, api.ours, 'viewer')));
    const first = await start();
    expect(sessionOf(await finish(first)).cookie).not.toBe('');
    expect(reasonOf(await finish(first))).toBe('invalid_response');
    const [victim, attacker] = [await start(), await start()];
    const stolen = new URL(victim.path, api.url);
    const injected = new URL(attacker.path, api.url);
    injected.searchParams.set('code', stolen.searchParams.get('code') ?? '');
    expect(reasonOf(await finish({ cookie: attacker.cookie, path: `${injected.pathname}${injected.search}` }))).toBe('invalid_response');
  });

  it('with a response of another issuer, or without an issuer where the provider always names itself', async () => {
    const claims = verified(await addPerson(api, api.ours, 'viewer'));
    for (const iss of ['https://attacker.example', undefined]) {
      const before = provider.requests.length;
      provider.as(claims, { response: { iss } });
      expect(reasonOf(await signIn())).toBe('invalid_response');
      expect(provider.requests.slice(before)).toEqual(['/authorize']);
    }
  });

  it('with an ID token that is not meant for this sign-in', async () => {
    const claims = verified(await addPerson(api, api.ours, 'viewer'));
    const past = Math.floor(Date.now() / 1000) - 120;
    const { privateKey: key } = await generateKeyPair('ES256');
    for (const wrong of [
      { nonce: 'of another sign-in' },
      { nonce: undefined },
      { aud: 'another client' },
      { aud: [CLIENT.id, 'another client'] },
      { aud: [CLIENT.id, 'another client'], azp: 'another client' },
      { iss: 'https://attacker.example' },
      { exp: past },
      { exp: undefined },
      { sub: undefined },
    ]) {
      provider.as({ ...claims, ...wrong });
      expect([wrong, reasonOf(await signIn())]).toEqual([wrong, 'invalid_response']);
    }
    provider.as(claims, { key });
    expect(reasonOf(await signIn())).toBe('invalid_response');
    provider.as({ ...claims, aud: [CLIENT.id, 'another client'], azp: CLIENT.id });
    expect(sessionOf(await signIn()).cookie).not.toBe('');
  });

  it('with the error of the provider, and if the provider fails', async () => {
    const claims = verified(await addPerson(api, api.ours, 'viewer'));
    for (const [error, reason] of [
      ['access_denied', 'denied'],
      ['server_error', 'invalid_response'],
    ] as const) {
      provider.as(claims, { response: { error, code: undefined } });
      expect(reasonOf(await signIn())).toBe(reason);
    }
    provider.as(claims, { response: { code: undefined } });
    expect(reasonOf(await signIn())).toBe('invalid_response');
    for (const [status, body, reason] of [
      [503, '{}', 'provider_unavailable'],
      [200, '<h1>Maintenance</h1>', 'provider_unavailable'],
      [200, '{"access_token":"x"}', 'invalid_response'],
      [200, '{"id_token":"eyJ.eyJ.eyJ"}', 'invalid_response'],
    ] as const) {
      provider.as(claims, { token: { status, body } });
      expect(reasonOf(await signIn())).toBe(reason);
    }
  });

  it('if the provider cannot be reached, with its page again', async () => {
    const gone = await startSignInProvider();
    await gone.stop();
    const replica = await startReplica(api.databaseUrl, { ...behindProxy, ...gone.settings });
    onTestFinished(() => replica.close());
    const answer = await replica.call('GET', `${START}?next=/assets`);
    expect([answer.status, locationOf(answer)]).toEqual([303, expect.stringMatching(/\/sign-in\?error=provider_unavailable&next=%2Fassets$/)]);
  });
});

describe('the page to go to', () => {
  it.each([
    'https://attacker.example/',
    '//attacker.example',
    '/\\attacker.example',
    '/\t/attacker.example',
    '/.//attacker.example',
    '/a/..//attacker.example',
    '/%2e//attacker.example',
    '\\\\attacker.example',
    'javascript:alert(1)',
    'findings',
    '',
  ])('cannot be %j', async (next) => {
    expect((await api.call('GET', `${START}?next=${encodeURIComponent(next)}`)).status).toBe(400);
  });

  it('is the first page by default', async () => {
    provider.as(verified(await addPerson(api, api.ours, 'viewer')));
    expect(locationOf(await signIn())).toBe(`${api.url}/`);
  });
});

describe('the facts about the service', () => {
  it('include the ways to sign in, without a credential', async () => {
    const methods = { password: true, oidc: { name: new URL(provider.issuer).host, start_url: START } };
    const service = await api.call('GET', '/api/v1/service');
    expect(service).toMatchObject({ status: 200, body: { version: expect.any(String), sign_in: methods, limits: { body_bytes: 1_048_576 } } });
    expect(JSON.stringify(service.body)).not.toContain(CLIENT.secret);
    expect((await api.call('GET', '/api/v1/sign-in-methods')).body).toEqual(methods);
  });

  it('say so if people sign in with a password only', async () => {
    const replica = await startReplica(api.databaseUrl, {});
    onTestFinished(() => replica.close());
    expect((await replica.call('GET', '/api/v1/sign-in-methods')).body).toEqual({ password: true, oidc: null });
    expect(await replica.call('GET', START)).toMatchObject({ status: 404, body: { code: 'not_found' } });
    expect(await replica.call('GET', CALLBACK)).toMatchObject({ status: 404 });
  });
});
