import { mkdir, mkdtemp, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startApp } from '../../testing/http/app.ts';
import type { App } from '../app.ts';
import { CONSOLE_POLICY, installConsole, WORKER_POLICY } from './console.ts';

let app: App;
let url: string;
let folder: string;
let missing: string | null = null;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'rrs-console-'));
  ({ app, url } = await startApp((api) => {
    api.get('/api/v1/things', { config: { access: 'public' } }, () => ({}));
    installConsole(api, { folder, missing: () => missing });
  }));
});
afterAll(async () => {
  await app?.close();
  await rm(folder, { recursive: true, force: true });
});

const page = (path: string, headers: Record<string, string> = {}) =>
  fetch(`${url}${path}`, { headers: { accept: 'text/html,*/*', ...headers }, redirect: 'manual' });

async function build(text: string): Promise<void> {
  await mkdir(join(folder, 'files'), { recursive: true });
  await writeFile(join(folder, 'index.html'), `<p>${text}</p>`);
  await writeFile(join(folder, 'files/a-1234.js'), 'plain');
  await writeFile(join(folder, 'files/a-1234.js.gz'), gzipSync('compressed'));
  await writeFile(join(folder, 'files/verify-worker-1234.js'), 'worker');
  await writeFile(join(folder, '.stamp'), 'secret of the build');
  await utimes(join(folder, 'index.html'), new Date(), new Date(Date.now() + text.length * 1000));
}

it('says that the console is being built, or why there is none, and serves it as soon as it is there', async () => {
  const waiting = await page('/');
  expect([waiting.status, await waiting.text()]).toEqual([503, expect.stringContaining('is being built')]);
  missing = 'There is no console here.';
  expect(await (await page('/')).text()).toContain(missing);
  await build('first');
  expect(await (await page('/')).text()).toBe('<p>first</p>');
  await build('the second');
  expect(await (await page('/')).text()).toBe('<p>the second</p>');
});

it('serves the index page at paths of pages, with any query, under a strict policy', async () => {
  await build('page');
  for (const path of ['/', '/findings', '/findings/1', '/findings?severity=critical,high&open=1', '/shared/token']) {
    const response = await page(path);
    expect([response.status, response.headers.get('content-security-policy'), response.headers.get('cache-control')], path).toEqual([
      200,
      CONSOLE_POLICY,
      'no-cache',
    ]);
  }
});

it('lets the worker that reads packages connect to nothing', async () => {
  await build('worker');
  expect((await page('/files/verify-worker-1234.js')).headers.get('content-security-policy')).toBe(WORKER_POLICY);
  expect((await page('/files/a-1234.js')).headers.get('content-security-policy')).toBe(CONSOLE_POLICY);
  expect(WORKER_POLICY).toContain("default-src 'none'");
  expect(WORKER_POLICY).not.toContain('connect-src');
});

it.each(['/api/v1/nothing', '/docs/nothing', '/problems/x/y', '/.well-known/nothing', '/files/nothing.js', '/files/..%2F.stamp'])(
  'returns a problem for %s',
  async (path) => {
    const response = await page(path);
    expect([response.status, response.headers.get('content-type')]).toEqual([404, 'application/problem+json']);
  },
);

it('returns a problem to programs at paths without a route, and 405 where only the method is wrong', async () => {
  expect((await fetch(`${url}/findings`)).status).toBe(404);
  expect((await fetch(`${url}/api/v1/things`, { method: 'POST' })).status).toBe(405);
});

it('compresses files as the browser wants, and confirms those that it has', async () => {
  await build('files');
  expect(await (await page('/files/a-1234.js', { 'accept-encoding': 'gzip' })).text()).toBe('compressed');
  expect(await (await page('/files/a-1234.js', { 'accept-encoding': 'gzip;q=0' })).text()).toBe('plain');
  const first = await page('/');
  expect((await page('/', { 'if-none-match': first.headers.get('etag') ?? '' })).status).toBe(304);
});
