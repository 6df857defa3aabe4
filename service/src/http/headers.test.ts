import type { InjectOptions } from 'fastify';
import { Type } from 'typebox';
import { describe, expect, it, onTestFinished } from 'vitest';
import { startApp } from '../testing/http/app.ts';
import type { App, AppOptions } from './app.ts';
import { installPages } from './openapi/docs-pages.ts';
import { Strict } from './schemas.ts';

function routes(app: App): void {
  installPages(app);
  app.get('/api/v1/hello', { config: { access: 'public' } }, async () => ({ hello: true }));
  app.get('/api/v1/me', { config: { access: 'authenticated' } }, async () => ({}));
  app.get('/api/v1/boom', { config: { access: 'public' } }, async () => {
    throw new Error('boom');
  });
  app.post('/api/v1/things', { config: { access: 'public' }, schema: { body: Strict({ name: Type.String() }) } }, async () => ({}));
  app.delete('/api/v1/things', { config: { access: 'public' } }, async (_request, reply) => reply.code(204).send());
}

async function start(overrides: Partial<AppOptions> = {}): Promise<App> {
  const { app } = await startApp(routes, overrides);
  onTestFinished(() => app.close());
  return app;
}

const requests: [string, InjectOptions][] = [
  ['200', { url: '/api/v1/hello' }],
  ['HEAD', { method: 'HEAD', url: '/api/v1/hello' }],
  ['204', { method: 'DELETE', url: '/api/v1/things' }],
  ['302', { url: '/' }],
  ['400', { method: 'POST', url: '/api/v1/things', payload: {} }],
  ['400 malformed', { method: 'POST', url: '/api/v1/things', headers: { 'content-type': 'application/json' }, payload: '{' }],
  ['400 address', { url: '/api/v1/%zz' }],
  ['401', { url: '/api/v1/me' }],
  ['404', { url: '/nowhere' }],
  ['405', { method: 'PUT', url: '/api/v1/hello' }],
  ['406', { url: '/api/v1/hello', headers: { accept: 'text/html' } }],
  ['415', { method: 'POST', url: '/api/v1/things', headers: { 'content-type': 'text/plain' }, payload: 'x' }],
  ['500', { url: '/api/v1/boom' }],
  ['a page', { url: '/problems/conflict' }],
  ['the description', { url: '/api/v1/openapi.json' }],
  ['the documentation', { url: '/docs/' }],
];

describe('security headers', () => {
  it('are set on every kind of response', async () => {
    const app = await start();
    for (const [name, request] of requests) {
      const { headers } = await app.inject(request);
      expect.soft(headers, name).toMatchObject({
        'x-content-type-options': 'nosniff',
        'x-frame-options': 'DENY',
        'referrer-policy': 'no-referrer',
        'cross-origin-resource-policy': 'same-origin',
        'cache-control': 'no-store',
        'content-security-policy': expect.stringMatching(/^default-src 'none';.*frame-ancestors 'none'$/),
        'x-request-id': expect.stringMatching(/^[0-9a-f-]{36}$/),
      });
      expect.soft(headers, name).not.toHaveProperty('strict-transport-security');
      expect.soft(headers, name).not.toHaveProperty('server');
      expect.soft(headers, name).not.toHaveProperty('x-powered-by');
    }
  });

  it('require HTTPS only if the public URL uses it', async () => {
    const app = await start({ publicUrl: () => 'https://rrs.example' });
    for (const [name, request] of requests) {
      const { headers } = await app.inject(request);
      expect.soft(headers['strict-transport-security'], name).toBe('max-age=31536000');
    }
  });
});

describe('X-Request-Id', () => {
  it.each(['build-1742', 'a', '0af7651916cd43dd.b7ad_6b7', 'x'.repeat(128)])('is kept if it is valid (%s)', async (id) => {
    const app = await start();
    expect((await app.inject({ url: '/api/v1/hello', headers: { 'x-request-id': id } })).headers['x-request-id']).toBe(id);
    const problem = await app.inject({ url: '/nowhere', headers: { 'x-request-id': id } });
    expect(problem.json().request_id).toBe(id);
  });

  it.each(['', ' ', 'two words', 'x'.repeat(129), '<script>', 'a,b', 'é', '../../etc', '{"a":1}'])('is replaced if it is invalid (%s)', async (id) => {
    const app = await start();
    const answer = await app.inject({ url: '/nowhere', headers: { 'x-request-id': id } });
    expect(answer.headers['x-request-id']).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(answer.json().request_id).toBe(answer.headers['x-request-id']);
  });

  it('differs from request to request', async () => {
    const app = await start();
    const ids = await Promise.all(Array.from({ length: 50 }, async () => (await app.inject({ url: '/api/v1/hello' })).headers['x-request-id']));
    expect(new Set(ids).size).toBe(50);
  });
});

describe('cross-origin requests', () => {
  const preflight = (origin: string) => ({
    method: 'OPTIONS' as const,
    url: '/api/v1/things',
    headers: { origin, 'access-control-request-method': 'PATCH', 'access-control-request-headers': 'authorization,if-match' },
  });
  const corsHeadersOf = (headers: Record<string, unknown>) => Object.keys(headers).filter((name) => name.startsWith('access-control-'));

  it('are refused unless their origin is configured', async () => {
    const app = await start();
    const answer = await app.inject({ url: '/api/v1/hello', headers: { origin: 'https://console.example' } });
    expect(corsHeadersOf(answer.headers)).toEqual([]);
    const asked = await app.inject(preflight('https://console.example'));
    expect([asked.statusCode, corsHeadersOf(asked.headers)]).toEqual([405, []]);
  });

  it('from a configured origin may use every method and read responses and errors', async () => {
    const app = await start({ corsOrigins: ['https://console.example', 'https://other.example'] });
    const asked = await app.inject(preflight('https://console.example'));
    expect(asked.statusCode).toBe(204);
    expect(asked.headers).toMatchObject({
      'access-control-allow-origin': 'https://console.example',
      'access-control-allow-methods': 'GET, HEAD, POST, PUT, PATCH, DELETE',
      'access-control-allow-headers': 'authorization,if-match',
      'access-control-allow-credentials': 'true',
      'x-request-id': expect.any(String),
    });
    for (const url of ['/api/v1/hello', '/api/v1/me', '/api/v1/nowhere', '/api/v1/boom']) {
      const { headers } = await app.inject({ url, headers: { origin: 'https://other.example' } });
      expect(headers['access-control-allow-origin']).toBe('https://other.example');
      expect(headers.vary).toContain('Origin');
      expect(String(headers['access-control-expose-headers'])).toContain('etag');
    }
  });

  it.each(['https://console.example.evil.example', 'https://evil-console.example', 'http://console.example', 'https://console.example:8443', 'null', ''])(
    'that are nearly configured may not (%s)',
    async (origin) => {
      const app = await start({ corsOrigins: ['https://console.example'] });
      const answer = await app.inject({ url: '/api/v1/hello', headers: { origin } });
      expect(corsHeadersOf(answer.headers)).toEqual([]);
      expect(answer.headers.vary).toContain('Origin');
      const asked = await app.inject(preflight(origin));
      expect([asked.statusCode, corsHeadersOf(asked.headers)]).toEqual([405, []]);
    },
  );
});
