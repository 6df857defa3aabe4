import { afterAll, beforeAll, expect, it } from 'vitest';
import { startApp } from '../../testing/http/app.ts';
import { committedDescription } from '../../testing/http/description.ts';
import type { App } from '../app.ts';
import { installPages } from './docs-pages.ts';

let app: App;
let url: string;
beforeAll(async () => {
  ({ app, url } = await startApp(installPages));
});
afterAll(() => app?.close());

it('serves the committed description publicly, byte for byte', async () => {
  const response = await fetch(`${url}/api/v1/openapi.json`);
  expect([response.status, response.headers.get('content-type')]).toEqual([200, 'application/json; charset=utf-8']);
  expect(await response.text()).toBe(committedDescription);
});

it('serves the documentation as one page and one script without third-party requests', async () => {
  const page = await fetch(`${url}/docs`);
  expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
  const html = await page.text();
  expect(html).toContain('/api/v1/openapi.json');
  const scripts = [...html.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, address = '']) => new URL(address, page.url));
  expect(scripts.length).toBeGreaterThan(0);
  for (const address of scripts) {
    expect(address.origin).toBe(url);
    const part = await fetch(address);
    expect([part.status, part.headers.get('content-type')]).toEqual([200, expect.stringMatching(/^(application|text)\/javascript/)]);
    expect((await part.text()).length).toBeGreaterThan(100_000);
  }
  const policy = page.headers.get('content-security-policy') ?? '';
  expect(policy).toContain("default-src 'none'");
  expect(policy).toContain("connect-src 'self'");
  expect(policy).not.toMatch(/https?:|\*/);
});
