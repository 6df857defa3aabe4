import { once } from 'node:events';
import { request as httpRequest } from 'node:http';
import { connect } from 'node:net';
import { Type } from 'typebox';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp } from '../testing/http/app.ts';
import { createMemoryLog } from '../testing/log.ts';
import type { App } from './app.ts';
import { installPages } from './openapi/docs-pages.ts';
import { type Problem, problemKinds } from './problems.ts';
import { Strict } from './schemas.ts';

const BODY_LIMIT = 2_000;
const memory = createMemoryLog();
const sent: number[] = [];
let app: App;
let port: number;
let url: string;

beforeAll(async () => {
  const routes = (api: App): void => {
    installPages(api);
    api.addHook('onSend', async (_request, reply) => void sent.push(reply.statusCode));
    const config = { access: 'public' } as const;
    const body = Strict({ name: Type.String() });
    api.post('/api/v1/things', { config, schema: { body } }, async (request) => request.body);
    api.get('/api/v1/things', { config }, async () => ({ ok: true }));
    api.delete('/api/v1/things/:id', { config }, async (_request, reply) => reply.code(204).send());
    api.get('/api/v1/search', { config, schema: { querystring: Strict({ q: Type.Optional(Type.String()) }) } }, async (request) => request.query);
    api.get('/api/v1/boom', { config }, async () => {
      throw Object.assign(new Error('relation "secret_table" does not exist'), { detail: 'Failing row contains (hunter2)', code: '42P01' });
    });
  };
  ({ app, port, url } = await startApp(routes, { bodyLimit: BODY_LIMIT, logger: memory.log, accessLog: memory.log.access }));
});
afterAll(() => app?.close());

interface Call {
  method?: string;
  headers?: Record<string, string>;
  body?: string | Uint8Array;
}

async function problemAt(path: string, { method = 'GET', headers = {}, body }: Call = {}): Promise<{ problem: Problem; headers: Headers }> {
  const response = await fetch(`${url}${path}`, { method, headers, ...(body === undefined ? {} : { body: body as string }) });
  expect(response.headers.get('content-type')).toBe('application/problem+json');
  const problem = (await response.json()) as Problem;
  const kind = problemKinds[problem.code];
  expect(problem).toMatchObject({ status: response.status, title: kind.title, type: `${url}/problems/${problem.code}`, instance: path.split('?')[0] });
  expect(response.status).toBe(kind.status);
  expect(problem.request_id).toBe(response.headers.get('x-request-id'));
  expect(problem.detail).toMatch(/\.$/);
  return { problem, headers: response.headers };
}

const json = { 'content-type': 'application/json' };
const post = (body: string | Uint8Array, headers: Record<string, string> = json) => problemAt('/api/v1/things', { method: 'POST', headers, body });

describe('the type of a problem', () => {
  it.each(Object.entries(problemKinds))('links to a page that explains %s', async (code, { status, title }) => {
    const page = await fetch(`${url}/problems/${code}`);
    expect(page.status).toBe(200);
    expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
    const text = await page.text();
    for (const part of [code, title, `HTTP ${status}`]) expect(text).toContain(part);
  });

  it.each(['nonsense', 'toString', '__proto__', '%3Cscript%3E'])('has no page if it does not exist (%s)', async (code) => {
    const { problem } = await problemAt(`/problems/${code}`);
    expect(problem.code).toBe('not_found');
  });
});

describe('a path', () => {
  it.each(['/nowhere', '/api/v1/nowhere', '/api/v2/things', '/api/v1/things/', '/api/v1//things', '/API/V1/things', '/docs/js/other.js'])(
    'that does not exist is not found (%s)',
    async (path) => {
      const response = await app.inject({ url: path, headers: { accept: '*/*' } });
      expect(response.statusCode).toBe(404);
      expect(response.json()).toMatchObject({ code: 'not_found', instance: path });
    },
  );

  it.each([
    ['PATCH', '/api/v1/things', 'GET, HEAD, POST'],
    ['OPTIONS', '/api/v1/things', 'GET, HEAD, POST'],
    ['GET', '/api/v1/things/7', 'DELETE'],
    ['PROPFIND', '/api/v1/things', 'GET, HEAD, POST'],
    ['POST', '/problems/conflict', 'GET, HEAD'],
  ])('returns 405 with the supported methods (%s %s)', async (method, path, allow) => {
    const { problem, headers } = await problemAt(path, { method });
    expect(problem.code).toBe('method_not_allowed');
    expect(headers.get('allow')).toBe(allow);
  });

  it('is checked before the body', async () => {
    for (const headers of [json, { 'content-type': 'text/xml' }, { 'content-type': 'not a type' }]) {
      expect((await problemAt('/api/v1/nowhere', { method: 'POST', headers, body: '{' })).problem.code).toBe('not_found');
      expect((await problemAt('/api/v1/things', { method: 'PUT', headers, body: '{' })).problem.code).toBe('method_not_allowed');
    }
  });

  it.each(['/api/v1/things/%zz', '/api/v1/things/%ff', '/api/v1/things/%c3%28', '/api/v1/%'])(
    'with invalid percent-encoding is malformed (%s)',
    async (path) => {
      expect((await problemAt(path, { method: 'DELETE' })).problem.code).toBe('malformed_request');
    },
  );

  it.each(['?q=%ff', '?q=%', '?%zz=1', '?q=%ed%a0%80'])('is refused if its query has invalid percent-encoding (%s)', async (query) => {
    const { problem } = await problemAt(`/api/v1/search${query}`);
    expect(problem.errors).toContainEqual(expect.objectContaining({ in: 'query', code: 'invalid_encoding' }));
  });
});

describe('the Accept header', () => {
  it.each(['text/html', 'application/xml, text/*', 'application/json;q=0', 'image/*;q=0.5'])(
    'must include a media type that the service produces (%s)',
    async (accept) => {
      expect((await problemAt('/api/v1/things', { headers: { accept } })).problem.code).toBe('not_acceptable');
    },
  );

  it.each(['*/*', 'application/json', 'application/*', 'text/html, application/json;q=0.1', 'APPLICATION/JSON; charset=utf-8', 'application/problem+json'])(
    'may include more than JSON (%s)',
    async (accept) => {
      expect((await fetch(`${url}/api/v1/things`, { headers: { accept } })).status).toBe(200);
    },
  );
});

describe('a body', () => {
  it.each(['text/plain', 'application/xml', 'multipart/form-data; boundary=x', 'application/x-www-form-urlencoded', 'application/jsonp', 'garbage'])(
    'must be JSON (not %s)',
    async (type) => {
      expect((await post('{"name":"a"}', { 'content-type': type })).problem.code).toBe('unsupported_media_type');
    },
  );

  it('needs a Content-Type', async () => {
    expect((await post(Buffer.from('{"name":"a"}'), {})).problem.code).toBe('unsupported_media_type');
  });

  it.each(['application/json', 'application/json; charset=utf-8', 'Application/JSON', 'application/merge-patch+json'])('is accepted as %s', async (type) => {
    const response = await fetch(`${url}/api/v1/things`, { method: 'POST', headers: { 'content-type': type }, body: '{"name":"ä"}' });
    expect([response.status, await response.json()]).toEqual([200, { name: 'ä' }]);
  });

  it.each(['{', '{"name":}', 'name', "{'name':'a'}", '{"name":"a"}}', '{"name":"a",}', 'NaN', '\u0000', '"\u0001"'])(
    'must be valid JSON (not %j)',
    async (text) => {
      const { problem } = await post(text);
      expect(problem.code).toBe('malformed_request');
      expect(problem.detail).toContain('not valid JSON');
    },
  );

  it.each(['{"__proto__":{"x":1},"name":"a"}', '{"name":"a","constructor":{"prototype":{"x":1}}}', '{"\\u005f_proto__":{"x":1}}'])(
    'must not contain prototype keys (%s)',
    async (text) => {
      const { problem } = await post(text);
      expect(problem.code).toBe('malformed_request');
      expect(problem.detail).toContain('__proto__');
      expect(({} as { x?: number }).x).toBeUndefined();
    },
  );

  it.each([
    ['a stray byte', [0xff]],
    ['a cut character', [0xc3]],
    ['an overlong NUL', [0xc0, 0x80]],
    ['a surrogate', [0xed, 0xa0, 0x80]],
  ])('must be UTF-8 (not %s)', async (_, bytes) => {
    const { problem } = await post(Buffer.concat([Buffer.from('{"name":"'), Buffer.from(bytes), Buffer.from('"}')]));
    expect(problem).toMatchObject({ code: 'malformed_request', detail: 'The body is not valid UTF-8.' });
  });

  it('is reported as missing only if the operation needs one', async () => {
    const { problem } = await post('');
    expect(problem).toMatchObject({ code: 'validation_failed', errors: [{ in: 'body', path: '', code: 'required', detail: 'a JSON body is required' }] });
    expect((await fetch(`${url}/api/v1/things/7`, { method: 'DELETE', headers: json })).status).toBe(204);
  });

  it('may be nested only to a limited depth', async () => {
    const deep = 900;
    const { problem } = await post(`{"name":${'['.repeat(deep)}${']'.repeat(deep)}}`);
    expect(problem.errors?.map(({ code }) => code).sort()).toEqual(['too_deep', 'wrong_type']);
  });

  it('is refused above the size limit, with or without Content-Length', async () => {
    const large = JSON.stringify({ name: 'x'.repeat(BODY_LIMIT) });
    const { problem } = await post(large);
    expect(problem).toMatchObject({ code: 'payload_too_large', detail: `The body exceeds the limit of ${BODY_LIMIT} bytes.` });
    const chunked = await new Promise<{ status: number | undefined; length: unknown }>((resolve, reject) => {
      const request = httpRequest(`${url}/api/v1/things`, { method: 'POST', headers: json }, (response) => {
        response.resume().on('end', () => resolve({ status: response.statusCode, length: request.getHeader('content-length') }));
      });
      request.on('error', reject);
      request.write(large.slice(0, 100));
      request.end(large.slice(100));
    });
    expect(chunked).toEqual({ status: 413, length: undefined });
    const exact = JSON.stringify({ name: 'x'.repeat(BODY_LIMIT - '{"name":""}'.length) });
    expect((await fetch(`${url}/api/v1/things`, { method: 'POST', headers: json, body: exact })).status).toBe(200);
  });

  it('gets a response even if it is much larger than the limit', async () => {
    expect((await post('x'.repeat(5_000_000))).problem.code).toBe('payload_too_large');
  });

  it('that never arrives is not reported as a database error', async () => {
    const before = sent.length;
    const socket = connect(port, '127.0.0.1');
    socket.write('POST /api/v1/things HTTP/1.1\r\nhost: x\r\nexpect: 100-continue\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{"na');
    const [go] = await once(socket, 'data');
    expect(String(go)).toContain('100 Continue');
    socket.destroy();
    await expect.poll(() => sent.slice(before)).toEqual([400]);
    expect(memory.text()).not.toContain('database');
  });
});

describe('an internal error', () => {
  it('returns the request ID and no internals', async () => {
    const before = memory.lines().length;
    const { problem } = await problemAt('/api/v1/boom', { headers: { 'x-request-id': 'the-one' } });
    expect(problem).toMatchObject({ code: 'internal_error', request_id: 'the-one' });
    expect(JSON.stringify(problem)).not.toMatch(/secret_table|hunter2|42P01|\.ts|at .*\(/);
    expect(memory.text()).not.toContain('hunter2');
    const logged = memory.lines().slice(before);
    expect(logged).toContainEqual(
      expect.objectContaining({ level: 50, reqId: 'the-one', err: expect.objectContaining({ message: expect.stringContaining('secret_table') }) }),
    );
  });
});
