import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { can, roles, rolesWith } from '../../shared/permissions.ts';
import { startApp } from '../../testing/http/app.ts';
import type { App } from '../app.ts';

let app: App;

beforeAll(async () => {
  ({ app } = await startApp((api) => {
    const answer = async () => ({ ok: true });
    api.get('/api/v1/open', { config: { access: 'public' } }, answer);
    api.get('/api/v1/me', { config: { access: 'authenticated' } }, async (request) => ({ name: request.actor.name, role: request.actor.role }));
    api.post('/api/v1/me', { config: { access: 'authenticated' } }, answer);
    api.get('/api/v1/members', { config: { access: 'members:read' } }, answer);
    api.post('/api/v1/members', { config: { access: 'members:manage' } }, answer);
  }));
});
afterAll(() => app?.close());

const me = (headers: Record<string, string>) => app.inject({ url: '/api/v1/me', headers });

describe('a route', () => {
  it.each([undefined, {}, { access: undefined }])('must declare its access, or the app does not start (%j)', async (config) => {
    await expect(startApp((api) => void api.get('/api/v1/oops', { config } as object, async () => ({})))).rejects.toThrow(
      'the route GET /api/v1/oops declares no access',
    );
  });

  it('is open to the callers that it declares', async () => {
    expect((await app.inject({ url: '/api/v1/open' })).statusCode).toBe(200);
    expect((await app.inject({ url: '/api/v1/open', headers: { authorization: 'Bearer wrong' } })).statusCode).toBe(200);
    for (const role of roles) {
      const headers = { authorization: `Bearer ada:${role}` };
      expect((await me(headers)).statusCode).toBe(200);
      const read = await app.inject({ url: '/api/v1/members', headers });
      const changed = await app.inject({ method: 'POST', url: '/api/v1/members', headers });
      expect([read.statusCode, changed.statusCode]).toEqual([can(role, 'members:read') ? 200 : 403, can(role, 'members:manage') ? 200 : 403]);
    }
  });

  it('names the required permission and its roles when it refuses', async () => {
    const refused = await app.inject({ method: 'POST', url: '/api/v1/members', headers: { authorization: 'Bearer ada:viewer' } });
    expect(refused.json()).toMatchObject({
      code: 'forbidden',
      detail: `This operation requires the permission "members:manage" (roles: ${rolesWith('members:manage').join(', ')}). Your role is viewer.`,
    });
  });

  it('checks HEAD like GET', async () => {
    expect((await app.inject({ method: 'HEAD', url: '/api/v1/me' })).statusCode).toBe(401);
    expect((await app.inject({ method: 'HEAD', url: '/api/v1/members', headers: { authorization: 'Bearer ada:viewer' } })).statusCode).toBe(200);
  });

  it('checks the caller before the body', async () => {
    const answer = await app.inject({ method: 'POST', url: '/api/v1/me', headers: { 'content-type': 'application/json' }, payload: '{' });
    expect(answer.statusCode).toBe(401);
  });
});

describe('a credential', () => {
  it.each([
    { authorization: 'Bearer ada:viewer' },
    { authorization: 'bearer ada:viewer' },
    { authorization: 'BEARER   ada:viewer ' },
    { 'x-api-key': 'ada:viewer' },
    { authorization: 'Basic YWRhOng=', 'x-api-key': 'ada:viewer' },
    { cookie: 'rrs_session=ada' },
    { cookie: 'theme=dark; rrs_session=ada; lang=de' },
  ])('is accepted in %j', async (headers) => {
    const cookie = 'cookie' in headers;
    const answer = await me(headers as Record<string, string>);
    expect(answer.statusCode).toBe(cookie ? 401 : 200);
    if (cookie) expect(answer.json().detail).toContain('unknown, expired or revoked');
    else expect(answer.json()).toEqual({ name: 'ada', role: 'viewer' });
  });

  it.each([
    [{}, 'No credential was sent.'],
    [{ authorization: 'Basic YWRhOng=' }, 'must have the form'],
    [{ authorization: 'Bearer' }, 'must have the form'],
    [{ authorization: 'Bearer two words' }, 'must have the form'],
    [{ authorization: `Bearer ${'x'.repeat(9_000)}` }, 'must have the form'],
    [{ 'x-api-key': '' }, 'No credential was sent.'],
    [{ cookie: 'my_rrs_session=ada' }, 'No credential was sent.'],
    [{ cookie: 'x=1;rrs_session=' }, 'No credential was sent.'],
  ])('is not found in %j', async (headers, detail) => {
    const answer = await me(headers as Record<string, string>);
    expect(answer.statusCode).toBe(401);
    expect(answer.headers['www-authenticate']).toBe('Bearer realm="rrs"');
    expect(answer.json().detail).toContain(detail);
  });

  it('gets a different challenge if it is wrong than if it is missing', async () => {
    const answer = await me({ authorization: 'Bearer wrong' });
    expect(answer.headers['www-authenticate']).toBe('Bearer realm="rrs", error="invalid_token"');
    expect(answer.json().code).toBe('unauthenticated');
  });

  it('in a bearer header takes precedence over others', async () => {
    expect((await me({ authorization: 'Bearer ada:viewer', 'x-api-key': 'bob:owner' })).json()).toEqual({ name: 'ada', role: 'viewer' });
    expect((await me({ authorization: 'Bearer wrong', 'x-api-key': 'bob:owner' })).statusCode).toBe(401);
  });
});

describe('a session', () => {
  let own: App;
  beforeAll(async () => {
    const principal = (role: 'viewer') => ({
      actor: {
        orgId: 'o',
        type: 'member',
        id: 'm',
        name: 'Ada',
        role,
        memberId: 'm',
        person: { id: 'm', name: 'Ada' },
        requestId: null,
        address: null,
      } as const,
      organization: { id: 'o', slug: 'o', name: 'o' },
      email: null,
      expiresAt: null,
    });
    const routes = (api: App): void => {
      for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']) {
        api.route({ method, url: '/api/v1/me', config: { access: 'authenticated' }, handler: async () => ({}) });
      }
    };
    const authenticate = async ({ kind }: { kind: string }) => (kind === 'session' ? principal('viewer') : null);
    ({ app: own } = await startApp(routes, { authenticate, publicUrl: () => 'https://rrs.example' }));
  });
  afterAll(() => own?.close());

  const call = async (method: string, headers: Record<string, string>) =>
    (await own.inject({ method: method as 'POST', url: '/api/v1/me', headers: { cookie: 'rrs_session=s', ...headers } })).statusCode;

  it.each(['POST', 'PUT', 'PATCH', 'DELETE'])('can change data only from pages of this origin (%s)', async (method) => {
    for (const headers of [
      {},
      { origin: 'https://rrs.example' },
      { origin: 'https://rrs.example', 'sec-fetch-site': 'same-origin' },
      { 'sec-fetch-site': 'same-origin' },
    ]) {
      expect.soft(await call(method, headers as Record<string, string>), JSON.stringify(headers)).toBe(200);
    }
    const foreign = [
      { origin: 'https://evil.example' },
      { origin: 'null' },
      { origin: 'http://rrs.example' },
      { origin: 'https://rrs.example.evil.example' },
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site' },
      { 'sec-fetch-site': 'none' },
      { origin: 'https://rrs.example', 'sec-fetch-site': 'cross-site' },
    ];
    for (const headers of foreign) expect.soft(await call(method, headers as Record<string, string>), JSON.stringify(headers)).toBe(403);
  });

  it('can read from any page that the browser allows', async () => {
    expect(await call('GET', { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' })).toBe(200);
  });
});
