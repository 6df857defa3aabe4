import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Type } from 'typebox';
import { afterEach, describe, expect, it } from 'vitest';
import { contextOf } from '../testing/host.ts';
import { defineScanner } from './contract.ts';

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

/** A vendor that answers as told, and a client for it. */
async function clientOf(answer: RequestListener, attempts = 1) {
  const server = createServer(answer);
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
    authorize: () => ({}),
    check: async () => {},
    async *findings() {
      yield { items: [], checkpoint: null };
      return { coverage: 'changes', cursor: null };
    },
  });
  return { host, ...contextOf(connector, { config: {}, credentials: {} }, { attempts }) };
}

describe('a redirect', () => {
  it.each([
    ['in a circle', '/', 'redirects again and again'],
    ['to a file', 'file:///etc/passwd', 'redirects to file:///etc/passwd, which is no web address'],
    ['elsewhere', 'http://127.0.0.1:1/x?token=abc', 'redirects to http://127.0.0.1:1, which is not the configured address'],
    ['to nowhere', 'http://[', 'redirects to “http://[”, which is no address'],
  ])('%s is called what it is', async (_where, location, words) => {
    const { http, host } = await clientOf((_request, response) => response.writeHead(302, { location }).end());
    await expect(http.text({ path: '/' })).rejects.toMatchObject({ kind: 'configuration', message: expect.stringMatching(`^${host} `) });
    await expect(http.text({ path: '/' })).rejects.toThrow(words);
  });
});

describe('a vendor that fails', () => {
  it.each([
    [500, 'Vendor answered with an error of its own (500)', ', several times'],
    [429, 'Vendor limits how often it may be asked (429)', ', and went on doing so'],
  ])('with %s is said to have done so as often as it was asked', async (status, words, again) => {
    const once = await clientOf((_request, response) => response.writeHead(status).end());
    await expect(once.http.text({ path: '/' })).rejects.toThrow(`${words}.`);
    const often = await clientOf((_request, response) => response.writeHead(status).end(), 3);
    await expect(often.http.text({ path: '/' })).rejects.toThrow(`${words}${again}.`);
  });
});
