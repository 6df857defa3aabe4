import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { NO_BROWSER, openBrowser } from './browser.ts';
import { call } from './http.ts';
import { type Service, startUsed } from './service.ts';

let service: Service;
let browser: Browser | null;

beforeAll(async () => {
  [service, browser] = await Promise.all([startUsed(), openBrowser()]);
});

beforeEach(({ skip }) => skip(browser === null, NO_BROWSER));

afterAll(() => browser?.close());

async function openPage(path: string) {
  if (browser === null) throw new Error('no browser');
  const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
  const problems: string[] = [];
  page.on('console', (message) => {
    if (message.type() === 'error') problems.push(`console: ${message.text()}`);
  });
  page.on('pageerror', (error) => problems.push(`error: ${error.message}`));
  page.on('requestfailed', (request) => problems.push(`failed: ${request.url()}`));
  await page.route('**', (route) => {
    const target = route.request().url();
    if (target.startsWith(service.url) || target.startsWith('data:') || target.startsWith('blob:')) return route.continue();
    problems.push(`request to another site: ${target}`);
    return route.abort();
  });
  await page.goto(`${service.url}${path}`, { waitUntil: 'networkidle' });
  return { page, problems };
}

test('the documentation page loads nothing from other sites, and can send requests', async () => {
  const { page, problems } = await openPage('/docs/');
  expect(await page.title()).toBe('Remediation Risk Service API');
  await page.getByRole('heading', { name: 'Remediation Risk Service', level: 1 }).waitFor();
  await page
    .getByPlaceholder('Token')
    .first()
    .fill(service.key ?? '');

  await page.locator('aside').getByText('Members and keys').first().click();
  await page.locator('aside').getByText('Create an API key').click();
  await page.getByRole('heading', { name: 'Create an API key' }).waitFor();

  await page.locator('aside').getByText('Get the current credential').click();
  await page.getByRole('button', { name: /Test Request.*\/me\)/ }).click();
  const [answer] = await Promise.all([page.waitForResponse(/\/api\/v1\/me$/), page.getByRole('button', { name: /^Send get request/ }).click()]);
  expect(answer.status()).toBe(200);
  expect(problems).toEqual([]);
  await page.close();
});

test('each problem type has a page', async () => {
  const { body } = await call(service.url, '/api/v1/me');
  expect(body.type).toBe(`${service.url}/problems/unauthenticated`);
  const { page, problems } = await openPage('/problems/unauthenticated');
  expect(await page.locator('h1').textContent()).not.toBe('');
  expect(await page.locator('body').textContent()).toContain('HTTP 401');
  await page.getByRole('link', { name: 'API documentation' }).click();
  // The test above shows that the page works. Drawing it takes seconds.
  await page.waitForURL('**/docs/', { waitUntil: 'commit' });
  await page.close();
  expect(problems).toEqual([]);
  expect((await call(service.url, '/problems/no_such_thing')).status).toBe(404);
});
