import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, beforeEach, describe, expect, expectTypeOf, it } from 'vitest';
import { type Client, counted, createClient, type FindingList, type ListedFinding, RrsConnectionError, RrsError } from './index.ts';

/** What the server does with its next requests, in order. */
type Answer = (request: IncomingMessage, response: ServerResponse) => void;
const answers: Answer[] = [];
const received: { method: string; url: string; headers: IncomingMessage['headers']; body: string }[] = [];
const server = createServer(async (request, response) => {
  const answer = answers.shift() ?? json(200, {});
  received.push({ method: request.method ?? '', url: request.url ?? '', headers: request.headers, body: await text(request) });
  answer(request, response);
});
let url = '';
let client: Client;
const retries: number[] = [];

beforeAll(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  client = createClient({ url: `${url}/`, apiKey: 'rrs_secret', onRetry: ({ seconds }) => retries.push(seconds) });
});
afterAll(() => {
  server.close();
  server.closeAllConnections();
});
beforeEach(() => {
  for (const list of [answers, received, retries]) list.length = 0;
});

const json =
  (status: number, body: unknown, headers: Record<string, string> = {}): Answer =>
  (_, response) =>
    void response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
const problem = (status: number, code: string, headers: Record<string, string> = {}) =>
  json(status, { status, code, detail: 'Do it another way.', request_id: 'r-1', errors: [] }, { 'content-type': 'application/problem+json', ...headers });
const id = '01994f3e-8a10-7c31-9d3c-5f1f4b8f0a11';

describe('a call', () => {
  it('sends path, query, header and body as the operation declares them', async () => {
    await client.call('updateFinding', { path: { id: 'a/b' }, header: { 'If-Match': '"4"' }, body: { tags: ['x'] } });
    await client.call('listFindings', { query: { severity: ['critical', 'high'], limit: 5 } });
    expect(received.map(({ method, url: to }) => `${method} ${to}`)).toEqual([
      'PATCH /api/v1/findings/a%2Fb',
      'GET /api/v1/findings?severity=critical&severity=high&limit=5',
    ]);
    expect(received[0]).toMatchObject({
      body: '{"tags":["x"]}',
      headers: { authorization: 'Bearer rrs_secret', 'if-match': '"4"', 'content-type': 'application/merge-patch+json' },
    });
  });

  it('has the types of the description', () => {
    expectTypeOf(client.call<'listFindings'>).returns.resolves.toEqualTypeOf<FindingList>();
    expectTypeOf(client.list<'listFindings'>).returns.toEqualTypeOf<AsyncGenerator<ListedFinding, void, undefined>>();
    expectTypeOf(client.call<'getFinding'>)
      .parameter(1)
      .toHaveProperty('path');
  });

  it('takes a current token for each request', async () => {
    let count = 0;
    const other = createClient({ url, token: async () => `token-${++count}` });
    await other.call('getMe');
    await other.call('getMe');
    expect(received.map(({ headers }) => headers.authorization)).toEqual(['Bearer token-1', 'Bearer token-2']);
  });
});

describe('a refusal', () => {
  it('is an error with the code, the message and the id of the request', async () => {
    answers.push(problem(404, 'not_found'));
    const error = await client.call('getFinding', { path: { id } }).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(RrsError);
    expect(error).toMatchObject({ status: 404, code: 'not_found', message: 'Do it another way.', requestId: 'r-1', errors: [] });
    expect(received).toHaveLength(1);
  });

  it('by a proxy says that it does not come from the API', async () => {
    answers.push((_, response) => void response.writeHead(403, { 'content-type': 'text/html' }).end('<h1>Forbidden</h1>'));
    await expect(client.call('getMe')).rejects.toMatchObject({ code: null, message: expect.stringContaining('not in the format of the API') });
  });
});

describe('a failed request', () => {
  it('is sent again after the time that the service names', async () => {
    answers.push(problem(429, 'rate_limited', { 'retry-after': '0' }), problem(503, 'unavailable', { 'retry-after': '0' }), json(200, { name: 'Ada' }));
    expect(await client.call('getMe')).toEqual({ name: 'Ada' });
    expect(retries).toEqual([0, 0]);
  });

  it('keeps its idempotency key when it is sent again', async () => {
    answers.push((request) => request.socket.destroy(), json(201, {}));
    await client.call('createWorkItem', { body: { title: 'Update' } });
    const keys = received.map(({ headers }) => headers['idempotency-key']);
    expect(keys).toEqual([expect.stringMatching(/^[0-9a-f]{32}$/), keys[0]]);
  });

  it('is not sent again if it could have an effect twice', async () => {
    answers.push(problem(503, 'unavailable', { 'retry-after': '0' }));
    await expect(client.call('updateFinding', { path: { id }, body: {} })).rejects.toMatchObject({ status: 503 });
    expect(received).toHaveLength(1);
  });

  it('is given up after the last attempt, and at once if the wait is long', async () => {
    answers.push(...Array.from({ length: 5 }, () => problem(503, 'unavailable', { 'retry-after': '0' })));
    await expect(client.call('getMe')).rejects.toMatchObject({ status: 503 });
    expect(received).toHaveLength(4);
    answers.splice(0, 5, problem(429, 'rate_limited', { 'retry-after': '3600' }));
    await expect(client.call('getMe')).rejects.toMatchObject({ status: 429, retryAfter: 3600 });
    expect(received).toHaveLength(5);
  });

  it('stops waiting when it is aborted', async () => {
    const stop = new AbortController();
    const other = createClient({ url, onRetry: () => stop.abort(new Error('enough')) });
    answers.push(problem(503, 'unavailable', { 'retry-after': '50' }));
    await expect(other.call('getMe', { signal: stop.signal })).rejects.toThrow('enough');
  });

  it('says which server did not respond', async () => {
    const nobody = createClient({ url: 'http://127.0.0.1:9', attempts: 1 });
    const error = await nobody.call('getMe').catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(RrsConnectionError);
    expect(String(error)).toMatch(/No response from http:\/\/127\.0\.0\.1:9: .+\. Check the URL/);
  });
});

describe('a list', () => {
  it('goes through all pages with the same filters', async () => {
    const page = (data: string[], next_cursor: string | null) => json(200, { data, page: { next_cursor } });
    answers.push(page(['a', 'b'], 'c1'), page([], 'c2'), page(['c'], null));
    const items: unknown[] = [];
    for await (const item of client.list('listFindings', { query: { status: ['open'] } })) items.push(item);
    expect(items).toEqual(['a', 'b', 'c']);
    expect(received.map(({ url: to }) => to.split('?')[1])).toEqual(['status=open', 'status=open&cursor=c1', 'status=open&cursor=c2']);
  });
});

describe('an upload', () => {
  it('reports its progress', async () => {
    const seen: number[] = [];
    const body = counted(new Blob(['x'.repeat(200_000)]), ({ sent, total }) => seen.push(sent, total ?? -1));
    await client.call('createImport', { body, query: { filename: 'r.json' } });
    expect(received[0]?.body).toHaveLength(200_000);
    expect(seen.slice(-2)).toEqual([200_000, 200_000]);
  });
});

describe('events', () => {
  it('continue after a lost connection, and stop when they are aborted', async () => {
    const event = (n: number) => `id: e${n}\ndata: ${JSON.stringify({ id: `e${n}`, type: 'finding.created', data: { title: 'Löchrig' } })}\n\n`;
    const stream =
      (...parts: (string | Buffer)[]): Answer =>
      (_, response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        for (const part of parts) response.write(part);
        setImmediate(() => response.destroy());
      };
    const first = Buffer.from(`: hello\n\n${event(1)}`);
    const cut = first.indexOf('ö') + 1;
    answers.push(stream(first.subarray(0, cut), first.subarray(cut)), problem(503, 'unavailable'), stream(event(2), event(3)));
    const stop = new AbortController();
    const seen: string[] = [];
    for await (const { id: one, data } of client.events({ types: ['finding.*'], lastEventId: 'e0', signal: stop.signal })) {
      seen.push(`${one} ${(data as { title: string }).title}`);
      if (seen.length === 3) stop.abort();
    }
    expect(seen).toEqual(['e1 Löchrig', 'e2 Löchrig', 'e3 Löchrig']);
    expect(received.map(({ headers }) => headers['last-event-id'])).toEqual(['e0', 'e1', 'e1']);
    expect(received[0]?.url).toBe('/api/v1/events?types=finding.*');
  });

  it('end with the error if the service refuses them', async () => {
    answers.push(problem(403, 'forbidden'));
    await expect(client.events().next()).rejects.toMatchObject({ code: 'forbidden' });
  });
});
