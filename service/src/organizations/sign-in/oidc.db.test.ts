import { createPublicKey } from 'node:crypto';
import { createServer, type RequestListener } from 'node:http';
import { generateKeyPair } from 'jose';
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { AUDIENCE, type IdentityProvider, startIdentityProvider } from '../../testing/fakes/identity-provider.ts';
import { startApi, type TestApi } from '../../testing/http/api.ts';
import { addPerson, behindProxy, createKey, fromRandomAddress, statusOf } from '../../testing/people.ts';
import { startReplica } from '../../testing/replica.ts';
import { openIssuer } from './issuer.ts';
import { createAccessTokenVerifier } from './oidc.ts';

let provider: IdentityProvider;
let stranger: IdentityProvider;
let api: TestApi;

const settingsFor = (issuer: string) => ({ ...behindProxy, RRS_OIDC_ISSUER: issuer, RRS_OIDC_AUDIENCE: AUDIENCE });

beforeAll(async () => {
  [provider, stranger] = await Promise.all([startIdentityProvider(), startIdentityProvider()]);
  api = await startApi({ config: settingsFor(provider.issuer) });
});
afterAll(async () => {
  await api?.close();
  await Promise.all([provider?.stop(), stranger?.stop()]);
});
afterEach(() => vi.useRealTimers());

const me = (token: string) => api.call('GET', '/api/v1/me', { as: token, headers: fromRandomAddress() });
const ours = { organization: 'ours' };
const verifierFor = (issuer: string) =>
  createAccessTokenVerifier({
    open: openIssuer(issuer),
    audience: AUDIENCE,
    organizationClaim: 'organization',
    emailVerifiedClaim: 'email_verified',
    roleClaim: 'role',
  });

describe('an access token of the identity provider', () => {
  it('is accepted with the role in its claim', async () => {
    const token = await provider.token({ ...ours, role: 'analyst', name: 'The pipeline' });
    expect(await me(token)).toMatchObject({
      status: 200,
      body: {
        type: 'oidc',
        id: 'pipeline',
        name: 'The pipeline',
        role: 'analyst',
        organization: { id: api.ours.id, slug: 'ours' },
        expires_at: expect.any(String),
      },
    });
    const refused = await api.call('POST', '/api/v1/api-keys', { as: token, body: { name: 'x', role: 'viewer' } });
    expect(refused).toMatchObject({ status: 403, body: { code: 'forbidden' } });
  });

  it('can contain the id of the organization, and several roles, of which the highest applies', async () => {
    const token = await provider.token({ organization: api.theirs.id, role: ['offline_access', 'viewer', 'admin'] });
    expect(await me(token)).toMatchObject({ status: 200, body: { role: 'admin', organization: { slug: 'theirs' } } });
  });

  it('without a role has the role of the member with its e-mail, as long as that member exists', async () => {
    const { id, email } = await addPerson(api, api.ours, 'auditor');
    const token = await provider.forge({ ...ours, sub: `subject of ${id}`, email: email.toUpperCase(), email_verified: true });
    expect(await me(token)).toMatchObject({ status: 200, body: { type: 'member', id, role: 'auditor' } });
    await api.call('PATCH', `/api/v1/members/${id}`, { as: api.ours.owner, body: { role: 'viewer' } });
    expect(await me(token)).toMatchObject({ body: { role: 'viewer' } });
    await api.call('DELETE', `/api/v1/members/${id}`, { as: api.ours.owner });
    expect((await me(token)).status).toBe(401);
  });

  it('is recorded in the audit trail by its subject, and its keys belong to the member with its e-mail', async () => {
    const { id, email } = await addPerson(api, api.ours, 'viewer');
    const made = await createKey(api, { as: await provider.token({ ...ours, role: 'admin', email, email_verified: true }) }, 'viewer');
    const events = await api.call('GET', `/api/v1/audit-events?object_id=${made.id}`, { as: api.ours.owner });
    expect(events.body).toMatchObject({ data: [{ action: 'api_key.created', actor: { type: 'oidc', id: 'pipeline' } }] });
    expect(await statusOf(api, made.key)).toBe(200);
    await api.call('DELETE', `/api/v1/members/${id}`, { as: api.ours.owner });
    expect(await statusOf(api, made.key)).toBe(401);
  });

  it('with a role above the member it belongs to creates keys up to the role of the member', async () => {
    const { id, email } = await addPerson(api, api.ours, 'analyst');
    const as = await provider.forge({ ...ours, sub: `key of ${id}`, role: 'owner', email, email_verified: true });
    for (const [role, status] of [
      ['owner', 403],
      ['admin', 403],
      ['auditor', 403],
      ['analyst', 201],
      ['viewer', 201],
    ] as const)
      expect([role, (await api.call('POST', '/api/v1/api-keys', { as, body: { name: 'x', role } })).status]).toEqual([role, status]);
  });

  it('of nobody who is a member creates keys for a day, which create no keys that live longer', async () => {
    const as = await provider.forge({ ...ours, sub: 'of no member', role: 'owner' });
    const inHours = (hours: number) => new Date(Date.now() + hours * 3_600_000).toISOString();
    const create = (by: string, expires_at?: string | null) =>
      api.call('POST', '/api/v1/api-keys', { as: by, body: { name: 'short', role: 'admin', ...(expires_at === undefined ? {} : { expires_at }) } });
    const first = await create(as);
    expect(first.status).toBe(201);
    const { id, key, expires_at } = first.body as { id: string; key: string; expires_at: string };
    expect(Date.parse(expires_at)).toBeLessThanOrEqual(Date.parse(inHours(24)));
    expect((await create(as, inHours(25))).status).toBe(400);
    expect((await create(as, inHours(2))).status).toBe(201);
    expect((await create(key, null)).body).toMatchObject({ expires_at });
    expect((await create(key, inHours(48))).status).toBe(400);
    for (const by of [as, key]) {
      const longer = await api.call('PATCH', `/api/v1/api-keys/${id}`, { as: by, body: { expires_at: null } });
      expect(Date.parse((longer.body as { expires_at: string }).expires_at)).toBeLessThanOrEqual(Date.parse(inHours(24)));
    }
    expect((await create(await api.ours.key('admin'), null)).body).toMatchObject({ expires_at: null });
  });

  it('is refused for an unknown organization, an unknown role or no known person', async () => {
    const { email } = await addPerson(api, api.theirs, 'owner');
    for (const claims of [
      { role: 'owner' },
      { organization: 'nowhere', role: 'owner' },
      { organization: ['ours'], role: 'owner' },
      { organization: '01994f3e-8a10-7c31-9d3c-5f1f4b8f0a11', role: 'owner' },
      { ...ours, role: 'superuser' },
      { ...ours, role: '' },
      { ...ours, role: ['superuser'] },
      { ...ours, role: { owner: true } },
      ours,
      { ...ours, email: 'nobody@example.com' },
      { ...ours, email },
      { organization: 'theirs', email },
      { organization: 'theirs', email, email_verified: false },
      { organization: 'theirs', email, email_verified: 'true' },
    ]) {
      expect([claims, (await me(await provider.token(claims))).status]).toEqual([claims, 401]);
    }
    expect(await me(await provider.token({ organization: 'theirs', email, email_verified: true }))).toMatchObject({ status: 200, body: { role: 'owner' } });
  });

  it('without a role is refused if another subject is linked to the member with its e-mail, until an administrator removes that link', async () => {
    const { id, email } = await addPerson(api, api.ours, 'owner');
    const as = (sub: string, claims: object = { email }) => provider.forge({ ...ours, sub, email_verified: true, ...claims });
    expect(await me(await as('first'))).toMatchObject({ status: 200, body: { id } });
    expect((await me(await as('successor with the address'))).status).toBe(401);
    expect(await me(await as('first', {}))).toMatchObject({ status: 200, body: { id } });
    expect(await me(await as('successor with the address', { email, role: 'viewer' }))).toMatchObject({
      body: { person: { id: 'successor with the address' } },
    });
    expect((await api.call('DELETE', `/api/v1/members/${id}/identity-provider-link`, { as: api.ours.owner })).status).toBe(204);
    expect((await me(await as('first', {}))).status).toBe(401);
    expect(await me(await as('successor with the address'))).toMatchObject({ status: 200, body: { id } });
    expect((await me(await as('first'))).status).toBe(401);
  });

  it('is refused if it is an ID token, which every client of the provider receives', async () => {
    for (const claims of [{ nonce: 'x' }, { at_hash: 'x' }, { c_hash: 'x' }, { typ: 'ID' }])
      expect((await me(await provider.forge({ ...ours, role: 'owner', ...claims }))).status).toBe(401);
  });

  it('is refused if it has another audience or issuer', async () => {
    const claims = { ...ours, role: 'owner' };
    expect((await me(await provider.token(claims, { audience: 'https://other.example.com' }))).status).toBe(401);
    expect((await me(await stranger.token(claims))).status).toBe(401);
    expect((await me(await provider.forge({ ...claims, iss: stranger.issuer }))).status).toBe(401);
    expect((await me(await stranger.forge({ ...claims, iss: provider.issuer }))).status).toBe(401);
  });

  it('is refused with a challenge if it is invalid in any way', async () => {
    const claims = { ...ours, role: 'owner' };
    const good = await provider.token(claims);
    const [header = '', payload = '', signature = ''] = good.split('.');
    const base64 = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
    const { privateKey: otherKey } = await generateKeyPair('RS256');
    const pem = createPublicKey({ key: { ...provider.publicJwk }, format: 'jwk' }).export({ type: 'spki', format: 'pem' });
    const now = Math.floor(Date.now() / 1000);
    const bad: Record<string, string> = {
      'signed by another key under the same id': await provider.forge(claims, {}, otherKey),
      'signed by an unknown key': await provider.forge(claims, { kid: 'another' }, otherKey),
      'not signed': `${base64({ alg: 'none' })}.${payload}.`,
      'signed with the public key as a secret': await provider.forge(claims, { alg: 'HS256' }, new TextEncoder().encode(String(pem))),
      'signed with the public JWK as a secret': await provider.forge(claims, { alg: 'HS256' }, new TextEncoder().encode(JSON.stringify(provider.publicJwk))),
      'with the signature cut off': `${header}.${payload}.`,
      truncated: good.slice(0, -10),
      'with another payload': `${header}.${base64({ ...claims, iss: provider.issuer, aud: AUDIENCE, sub: 'x', exp: now + 600 })}.${signature}`,
      'with a trailing dot': `${good}.`,
      expired: await provider.forge({ ...claims, exp: now - 60 }),
      'not yet valid': await provider.forge({ ...claims, nbf: now + 60 }),
      'without an expiry': await provider.forge({ ...claims, exp: null }),
      'without a subject': await provider.forge({ ...claims, sub: null }),
      'without an audience': await provider.forge({ ...claims, aud: null }),
      'without an issuer': await provider.forge({ ...claims, iss: null }),
      'of garbage': 'eyJ.eyJ.eyJ',
      'of nothing': 'eyJ..',
    };
    for (const [what, token] of Object.entries(bad)) {
      const answer = await me(token);
      expect([what, answer.status]).toEqual([what, 401]);
      expect(answer.headers.get('www-authenticate')).toMatch(/error="invalid_token"/);
    }
    expect((await me(good)).status).toBe(200);
    expect((await me(await provider.forge(claims))).status).toBe(200);
  });

  it('signed with a new key is accepted after the provider has rotated its keys, and with the old key refused', async () => {
    const claims = { ...ours, role: 'viewer' };
    const old = await provider.token(claims);
    expect((await me(old)).status).toBe(200);
    await provider.restart();
    const fresh = await provider.token(claims);
    // Keys are fetched at most every 30 seconds, so that invalid tokens cannot trigger a fetch each.
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 31_000 });
    expect((await me(fresh)).status).toBe(200);
    expect((await me(old)).status).toBe(401);
  });
});

describe('an identity provider', () => {
  const answering = async (answer: RequestListener): Promise<string> => {
    const server = createServer(answer);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void server.close());
    const address = server.address();
    return `http://127.0.0.1:${address !== null && typeof address === 'object' ? address.port : 0}`;
  };

  it('that does not answer causes 503 for tokens, while API keys keep working', async () => {
    const gone = await startIdentityProvider();
    const token = await gone.token({ ...ours, role: 'owner' });
    await gone.stop();
    const replica = await startReplica(api.databaseUrl, settingsFor(gone.issuer));
    onTestFinished(() => replica.close());
    const answer = await replica.call('GET', '/api/v1/me', { as: token });
    expect(answer).toMatchObject({ status: 503, body: { code: 'unavailable' } });
    expect(answer.headers.get('retry-after')).toBe('5');
    expect(await statusOf(replica, api.ours.owner)).toBe(200);
  });

  it('that failed for the first token is contacted again for the next one', async () => {
    const late = await startIdentityProvider();
    const token = await late.token({ ...ours, role: 'owner' });
    await late.stop();
    const verify = verifierFor(late.issuer);
    await expect(verify(token)).rejects.toMatchObject({ code: 'unavailable' });
    await late.restart();
    onTestFinished(() => late.stop());
    expect(await verify(await late.token({ ...ours, role: 'owner' }))).toMatchObject({ subject: 'pipeline', role: 'owner' });
    expect(await verify(token)).toBeNull();
  });

  it.each([
    ['an error instead of its keys', 502, '{}'],
    ['a page instead of its keys', 200, '<h1>Maintenance</h1>'],
    ['unexpected JSON instead of its keys', 200, '{"keys": "later"}'],
  ])('that returns %s causes 503, not 401', async (_, status, body) => {
    const issuer: string = await answering((request, response) => {
      if (request.url === '/keys') return response.writeHead(status).end(body);
      return response.end(JSON.stringify({ issuer, jwks_uri: `${issuer}/keys` }));
    });
    const verify = verifierFor(issuer);
    await expect(verify(await provider.forge({ iss: issuer }))).rejects.toMatchObject({ code: 'unavailable' });
  });

  it('whose discovery document has another issuer is not trusted', async () => {
    const issuer = await answering((_request, response) => response.end(JSON.stringify({ issuer: stranger.issuer, jwks_uri: `${stranger.issuer}/jwks` })));
    const verify = verifierFor(issuer);
    await expect(verify(await stranger.token({ ...ours, role: 'owner' }))).rejects.toMatchObject({ code: 'unavailable' });
  });

  it('can end its issuer with a slash that the setting lacks', async () => {
    const issuer = await answering((_request, response) => response.end(JSON.stringify({ issuer: `${issuer}/`, jwks_uri: `${provider.issuer}/jwks` })));
    const verify = verifierFor(issuer);
    expect(await verify(await provider.forge({ ...ours, role: 'viewer', iss: `${issuer}/` }))).toMatchObject({ role: 'viewer' });
    expect(await verify(await provider.forge({ ...ours, role: 'viewer', iss: issuer }))).toBeNull();
  });
});
