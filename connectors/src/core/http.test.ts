import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Type } from 'typebox';
import { afterEach, describe, expect, it } from 'vitest';
import { contextOf } from '../testing/host.ts';
import { ConnectorError } from './connector-error.ts';
import { defineScanner } from './contract.ts';

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

/** A vendor that responds as given, and a client for it. */
async function clientOf(respond: RequestListener, attempts = 1, more: { login?: () => Promise<{ token: string; expiresInSeconds: number }> } = {}) {
  const server = createServer(respond);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closing.push(() => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  });
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const connector = defineScanner({
    id: 'vendor',
    name: 'Vendor',
    version: 1,
    description: 'A vendor.',
    documentation: 'https://vendor.example',
    permissions: 'read access',
    config: Type.Object({}),
    credentials: Type.Object({}),
    baseUrl: () => `http://${host}`,
    authorize: ({ token }) => (token === '' ? {} : { authorization: `Bearer ${token}` }),
    ...more,
    check: async () => {},
    async *findings() {
      yield { items: [], checkpoint: null };
      return { coverage: 'changes', cursor: null };
    },
  });
  return { host, ...contextOf(connector, { config: {}, credentials: {} }, { attempts }) };
}

describe('redirects', () => {
  it.each([
    ['in a loop', '/', 'redirects too many times'],
    ['to a file', 'file:///etc/passwd', 'redirects to file:///etc/passwd, which is not an http or https URL'],
    ['to another origin', 'http://127.0.0.1:1/x?token=abc', 'redirects to http://127.0.0.1:1, which is not the configured URL'],
    ['to an invalid URL', 'http://[', 'redirects to “http://[”, which is not a valid URL'],
  ])('%s are refused with the reason', async (_where, location, words) => {
    const { http, host } = await clientOf((_request, response) => response.writeHead(302, { location }).end());
    await expect(http.text({ path: '/' })).rejects.toMatchObject({ kind: 'configuration', message: expect.stringMatching(`^${host} `) });
    await expect(http.text({ path: '/' })).rejects.toThrow(words);
  });
});

describe('failing vendors', () => {
  it.each([
    [500, 'Vendor returned a server error (500)', ', also after retries'],
    [429, 'Vendor is limiting the request rate (429)', ', also after retries'],
  ])('the error for %s says whether it was retried', async (status, words, retried) => {
    const once = await clientOf((_request, response) => response.writeHead(status).end());
    await expect(once.http.text({ path: '/' })).rejects.toThrow(`${words}.`);
    const often = await clientOf((_request, response) => response.writeHead(status).end(), 3);
    await expect(often.http.text({ path: '/' })).rejects.toThrow(`${words}${retried}.`);
  });

  it('that limit requests without saying for how long are asked again after a minute at the latest', async () => {
    const { http, waits } = await clientOf((_request, response) => response.writeHead(429).end(), 5);
    await expect(http.text({ path: '/' })).rejects.toMatchObject({ kind: 'rate_limited' });
    expect(waits).toEqual([15_000, 30_000, 45_000, 60_000]);
  });

  it.each([
    ['in seconds', { 'ratelimit-reset': '40' }, 40_000],
    ['as a time', { 'ratelimit-reset': String(Math.floor(Date.now() / 1000) + 600) }, 600_000],
    ['as a time in milliseconds', { 'x-ratelimit-reset': String(Date.now() + 600_000) }, 600_000],
    ['as a time that is over', { 'x-ratelimit-reset': '1700000000' }, 1_000],
  ])('that say when a limit is reset are asked again then (%s)', async (_how, headers: Record<string, string>, expected) => {
    const { http, waits } = await clientOf((_request, response) => response.writeHead(429, headers).end(), 2);
    await expect(http.text({ path: '/' })).rejects.toMatchObject({ kind: 'rate_limited' });
    expect(waits).toHaveLength(1);
    expect(Math.abs((waits[0] ?? 0) - expected)).toBeLessThan(30_000);
  });

  it('a wrong clock is named instead of missing permissions', async () => {
    const date = new Date(Date.now() - 3_600_000).toUTCString();
    const { http } = await clientOf((_request, response) => response.writeHead(403, { date }).end('Signature expired'));
    await expect(http.text({ path: '/' })).rejects.toMatchObject({
      kind: 'configuration',
      status: 403,
      message: expect.stringContaining('clock of Vendor by 60 minutes'),
    });
  });

  it('a web page is named as such', async () => {
    const { http } = await clientOf((_request, response) => response.end('\n<!DOCTYPE html><html><title>Sign in</title></html>'));
    await expect(http.getJson('api', Type.Object({}))).rejects.toMatchObject({
      kind: 'invalid_answer',
      message: expect.stringContaining('/api is a web page'),
    });
  });

  it('messages never contain characters that cannot be stored', async () => {
    const { http } = await clientOf((_request, response) => response.writeHead(400).end('bad\0request \ud800'));
    await expect(http.text({ path: '/' })).rejects.toThrow('badrequest');
    expect(new ConnectorError('incomplete', `a\0b${'x'.repeat(1_997)}\u{1f600}`).message).toMatch(/^abx+\ufffd$/);
  });
});

describe('secrets in messages', () => {
  it.each([
    ['a token', 'issued-at-run-time', 'issued-at-run-time'],
    ['keys as JSON', JSON.stringify({ id: 'AKIA-AT-RUN-TIME', session: 'session-of-the-role' }), 'session-of-the-role'],
  ])('that a login has issued are replaced: %s', async (_what, token, secret) => {
    const login = async () => ({ token, expiresInSeconds: 600 });
    const echo: RequestListener = (_request, response) => response.writeHead(400).end(`bad credential ${secret}, ${encodeURIComponent(secret)}`);
    const { http } = await clientOf(echo, 1, { login });
    await expect(http.text({ path: '/' })).rejects.toThrow('bad credential …, …');
  });

  it('that a login has signed are replaced', async () => {
    const { http } = await clientOf((request, response) => response.writeHead(400).end(`cannot read ${request.headers.authorization}`));
    await expect(http.text({ path: '/', headers: { authorization: 'Bearer signed.by.us' } })).rejects.toThrow('cannot read Bearer …');
  });
});

it('a request names the service and its version', async () => {
  const { http } = await clientOf((request, response) => response.end(request.headers['user-agent']));
  expect((await http.text({ path: '/' })).body).toMatch(/^remediation-risk-service\/\d+\.\d+\.\d+$/);
});
