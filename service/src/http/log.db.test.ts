import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { unknownToken } from '../testing/evidence/stored-package.ts';
import { startApi, type TestApi } from '../testing/http/api.ts';
import { createMemoryLog } from '../testing/log.ts';

const memory = createMemoryLog();
let api: TestApi;

beforeAll(async () => {
  api = await startApi({
    log: memory.log,
    prepare: async (app) => {
      app.post('/test/careless', { config: { access: 'public' } }, async (request) => {
        const { authorization, cookie } = request.headers;
        request.log.info({ headers: { authorization, cookie } }, 'headers');
        request.log.info({ req: { headers: request.headers } }, 'request headers');
        request.log.warn({ body: request.body, password: 'hunter2-plain' }, 'body');
        request.log.error({ err: Object.assign(new Error('failed'), { connectionString: 'postgres://u:hunter2-url@h/d' }) }, 'error');
        throw Object.assign(new Error('duplicate key'), { code: '23505', detail: 'Key (email)=(hunter2-row) already exists.' });
      });
    },
  });
});
afterAll(() => api?.close());

describe('the log', () => {
  it('has one line per request with its caller, route and status', async () => {
    const { body } = await api.call('GET', '/api/v1/me', { as: api.ours.owner });
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
    await api.call('GET', '/api/v1/members/01994f3e-8a10-7c31-9d3c-5f1f4b8f0a11?x=1', { as: api.ours.owner, headers: { 'x-request-id': 'mine', traceparent } });
    await expect.poll(() => memory.lines().filter((line) => line.request_id === 'mine')).toHaveLength(1);
    expect(memory.lines().find((line) => line.request_id === 'mine')).toMatchObject({
      level: 30,
      msg: 'request',
      method: 'GET',
      route: '/api/v1/members/:id',
      path: '/api/v1/members/01994f3e-8a10-7c31-9d3c-5f1f4b8f0a11',
      status: 400,
      ip: '127.0.0.1',
      actor: `api_key:${(body as { id: string }).id}`,
      trace_id: '0af7651916cd43dd8448eb211c80319c',
      ms: expect.any(Number),
    });
  });

  it('contains no credential, password or cookie, whatever the outcome', async () => {
    const owner = api.ours.owner;
    const password = 'correct horse hunter2';
    const member = { email: 'ada@example.com', name: 'Ada', role: 'viewer', password };
    const answers = [
      await api.call('POST', '/api/v1/members', { as: owner, body: member }),
      await api.call('POST', '/api/v1/members', { as: owner, body: member }),
      await api.call('POST', '/api/v1/sessions', { body: { email: member.email, password: `${password} wrong` } }),
      await api.call('POST', '/api/v1/sessions', { body: { email: member.email, password } }),
      await api.call('POST', '/api/v1/api-keys', { as: owner, body: { name: 'new', role: 'viewer' }, headers: { 'idempotency-key': 'hunter2-idempotency' } }),
      await api.call('GET', `/api/v1/me?token=${owner}`, { headers: { 'x-api-key': owner } }),
      await api.call('GET', '/api/v1/me', { as: 'rrs_hunter2-unknown' }),
      await api.call('GET', '/api/v1/me', { headers: { authorization: 'Basic aHVudGVyMg==', cookie: 'rrs_session=hunter2-session' } }),
      await api.call('POST', '/test/careless', {
        as: owner,
        body: { password, token: owner },
        headers: { cookie: 'rrs_session=hunter2-session', 'x-api-key': 'hunter2-key' },
      }),
    ];
    expect(answers.map(({ status }) => status)).toEqual([201, 409, 401, 201, 201, 400, 401, 401, 500]);
    await expect.poll(() => memory.lines().filter(({ path }) => path === '/test/careless')).toHaveLength(1);
    const cookie = /rrs_session=([^;]+)/.exec(String(answers[3]?.headers.get('set-cookie')))?.[1];
    const { key } = (answers[4]?.body ?? {}) as { key?: string };
    const secrets = [owner, 'hunter2', 'aHVudGVyMg', String(cookie), String(key)];
    for (const secret of secrets) {
      expect(secret).not.toBe('undefined');
      expect(memory.text()).not.toContain(secret);
    }
    expect(memory.text()).toContain('[Redacted]');
    expect(memory.lines().map(({ msg }) => msg)).toEqual(expect.arrayContaining(['headers', 'request headers', 'body', 'error']));
  });

  it('masks the token of a share link, however it is encoded', async () => {
    const token = unknownToken(api.ours.id);
    const everyByte = [...token].map((char) => `%${char.charCodeAt(0).toString(16)}`).join('');
    const paths = [token, `${token}/download?format=zip`, `${token}/`, `${token}/typo`, everyByte, token.replace('_', '%5F')];
    const before = memory.lines().length;
    for (const path of paths) expect((await api.call('GET', `/api/v1/riskops-evidence/shared/${path}`)).status).toBeGreaterThanOrEqual(400);
    await expect.poll(() => memory.lines().slice(before).length).toBeGreaterThanOrEqual(paths.length);
    const logged = memory.lines().slice(before);
    expect(logged[0]).toMatchObject({ path: '/api/v1/riskops-evidence/shared/shr_…', status: 404 });
    for (const secret of [token, token.slice(4), everyByte.slice(0, 60), token.slice(10, 30)]) expect(memory.text()).not.toContain(secret);
  });

  it('does not change other paths', async () => {
    for (const path of ['/api/v1/a_b%20c', '/api/v1/%41_x']) {
      await api.call('GET', path);
      await expect.poll(() => memory.lines().map((line) => line.path)).toContain(path);
    }
  });
});
