import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { call } from '../http.ts';
import { checkout } from '../service.ts';
import { expectAccessible, expectAccessibleInBoth } from './accessible.ts';
import { goTo, OWNER, startConsole } from './console.ts';
import { sealPackage } from './packages.ts';
import { trivyReport } from './reports.ts';

const web = startConsole();

/** Every route of the console, as its areas declare them. */
const routes = readdirSync(join(checkout, 'console/src/pages')).flatMap((area) => {
  const text = readFileSync(join(checkout, 'console/src/pages', area, 'area.ts'), 'utf8');
  return [...text.matchAll(/\{ path: '([^']+)'/g)].flatMap(([, path]) => (path === undefined ? [] : [path]));
});

/** Something to look at for routes that are about one thing. A route that begins like this and is not listed is about something that does not exist. */
const samples: Record<string, string> = {};
const NOTHING = '01994f3e-8a10-7c31-9d3c-5f1f4b8f0a11';
const addressOf = (route: string): string => samples[route] ?? route.replaceAll(/\$\w+/g, NOTHING);

async function first(path: string): Promise<string> {
  return String(((await web.api(path)).body.data as { id: string }[])[0]?.id);
}

async function fillOrganization(): Promise<void> {
  await web.upload('trivy.json', trivyReport(8));
  const { id, itemId } = await sealPackage(web.service, 'Update the image of the shop');
  const link = await web.api(`/riskops-evidence/packages/${id}/share-links`, { recipient: 'Auditor' });
  const connection = await web.api('/integrations', {
    provider: 'snyk',
    config: { api_url: 'http://127.0.0.1:9', organization_id: 'acme' },
    credentials: { token: 'a-token-of-the-tests' },
    schedule: null,
  });
  const run = await web.api(`/integrations/${connection.body.id}/sync`, undefined, 'POST');
  const webhook = await web.api('/webhooks', { url: 'http://127.0.0.1:9/hook', event_types: ['finding.*'] });
  Object.assign(samples, {
    '/findings/$id': `/findings/${await first('/findings?limit=1')}`,
    '/assets/$id': `/assets/${await first('/assets?limit=1')}`,
    '/imports/$id': `/imports/${await first('/imports?limit=1')}`,
    '/work/$id': `/work/${itemId}`,
    '/evidence/$id': `/evidence/${id}`,
    '/shared/$token': new URL(String(link.body.url)).pathname,
    '/integrations/new/$provider': '/integrations/new/jira',
    '/integrations/$id': `/integrations/${connection.body.id}`,
    '/integrations/$id/edit': `/integrations/${connection.body.id}/edit`,
    '/integrations/$id/runs/$run': `/integrations/${connection.body.id}/runs/${run.body.id}`,
    '/settings/webhooks/$id': `/settings/webhooks/${webhook.body.id}`,
  });
}

/** Pages that lead elsewhere for somebody who is signed in. */
const LEADS_AWAY = ['/sign-in', '/setup', '/invitation', '/settings'];
const shown = routes.filter((route) => !LEADS_AWAY.includes(route));

async function walk(state: 'empty' | 'full' | 'errors'): Promise<void> {
  const { page, problems } = await web.open('/', { expected: [404, 500] });
  await page.getByRole('navigation', { name: 'Main' }).waitFor();
  if (state === 'errors')
    await page.route(/\/api\/v1\/(?!me$|events|service)/, (route) =>
      route.fulfill({
        status: 500,
        contentType: 'application/problem+json',
        json: { type: 'about:blank', title: 'Internal error', status: 500, code: 'internal_error', detail: 'Internal error.', request_id: 'r-1' },
      }),
    );
  for (const route of shown) {
    await goTo(page, addressOf(route));
    // What is around the page is the same in every state.
    await expectAccessibleInBoth(page, `${route}, ${state}`, state === 'full' ? 'html' : 'main');
    expect(problems, `${route}, ${state}`).toEqual([]);
  }
}

test('there are routes to walk', () => expect(shown.length).toBeGreaterThan(25));
/** Every page in three states and two themes takes longer than other tests. */
const LONG_MS = 300_000;

test('every page of an empty organization is accessible and silent', () => walk('empty'), LONG_MS);

test('the first steps are listed until they are done', async () => {
  const { page, problems } = await web.open('/');
  const steps = page.getByRole('region', { name: 'First steps' });
  await steps.waitFor();
  expect(await steps.getByLabel('To do').count()).toBe(5);
  await web.upload('first.json', trivyReport(1, 'registry.example.com/shop/first:1'));
  const id = await first('/findings?limit=1');
  await web.api('/work-items', { title: 'The first one', finding_ids: [id] });
  await page.reload();
  await expect.poll(() => steps.getByLabel('Done').count()).toBe(2);
  await steps.getByRole('link', { name: 'Seal evidence of the work' }).waitFor();
  expect(problems).toEqual([]);
});

test('the pages of people without a session are accessible and silent, also if they fail, and fit 320 pixels', async () => {
  const { body: member } = await web.api('/members', { name: 'Grace Hopper', email: 'grace@example.com', role: 'analyst' });
  const { body: invitation } = await web.api(`/members/${member.id}/invitations`, undefined, 'POST');
  const { pathname, hash } = new URL(String(invitation.url));
  for (const [path, title, submits] of [
    ['/sign-in', 'Sign in', true],
    ['/setup', 'Create the first account', false],
    ['/setup#key=rrs_not-a-key', 'Create the first account', true],
    [`${pathname}${hash}`, 'Choose your password', false],
    ['/invitation#token=nothing', 'Choose your password', false],
  ] as const) {
    const { page, problems } = await web.open(path, { signedIn: false, width: 320, expected: [400, 401, 403, 404, 409] });
    await page.getByRole('heading', { name: title }).waitFor();
    await page.getByRole('button').or(page.getByRole('alert')).first().waitFor();
    await expectAccessibleInBoth(page, path);
    expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth'), path).toBe(0);
    if (submits) {
      for (const field of await page.getByRole('textbox').or(page.locator('input[type=password]')).all()) await field.fill('ada@example.com, wrong');
      await page.getByLabel('E-mail').fill('ada@example.com');
      await page.keyboard.press('Enter');
      await page.getByRole('alert').waitFor();
      await expectAccessibleInBoth(page, `${path}, refused`);
    }
    expect(problems, path).toEqual([]);
  }
});

test('files dropped on any page are imported', async () => {
  const { page, problems } = await web.open('/settings/members');
  await page.getByRole('heading', { name: 'Members' }).waitFor();
  const transfer = await page.evaluateHandle(
    `(() => { const data = new DataTransfer(); data.items.add(new File([${JSON.stringify(trivyReport(3))}], 'dropped.json')); return data; })()`,
  );
  await page.locator('main').dispatchEvent('dragover', { dataTransfer: transfer });
  await page.getByText('Drop reports to import them').waitFor();
  await page.locator('main').dispatchEvent('drop', { dataTransfer: transfer });
  await page.getByRole('region', { name: 'Uploads' }).getByText('3 new').waitFor();
  expect(problems).toEqual([]);
});

test('the palette searches everything', async () => {
  const { page, problems } = await web.open('/');
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
  await page.keyboard.press('Control+k');
  await page.getByRole('combobox', { name: 'Search findings, assets and commands' }).fill('library-2');
  await page.getByRole('option', { name: 'Weakness 2 of library-2' }).waitFor();
  await page.keyboard.press('Enter');
  await page.waitForURL('**/findings/*');
  expect(problems).toEqual([]);
});

test('two tabs share one event stream, and the second takes over when the first is closed', async () => {
  const streams: Page[] = [];
  const before = async (page: Page) =>
    page.context().on('request', (request) => {
      if (request.url().includes('/api/v1/events')) streams.push(request.frame().page());
    });
  const one = await web.open('/settings/api-keys', { before });
  await one.page.getByLabel('Live: changes arrive by themselves').waitFor();
  const two = await web.open('/settings/api-keys', { context: one.page.context() });
  await two.page.getByLabel('Live: changes arrive by themselves').waitFor();
  await web.api('/api-keys', { name: 'seen by both', role: 'viewer' });
  await one.page.getByText('seen by both').waitFor();
  await two.page.getByText('seen by both').waitFor();
  expect(streams.map((page) => page === one.page)).toEqual([true]);
  // A tab that nobody sees asks for nothing until somebody looks at it.
  let asked = 0;
  two.page.on('request', (request) => {
    asked += request.url().includes('/api/v1/api-keys') ? 1 : 0;
  });
  const look = (state: string) =>
    two.page.evaluate(`Object.defineProperties(document, { hidden: { value: ${state === 'hidden'}, configurable: true },
      visibilityState: { value: '${state}', configurable: true } }).dispatchEvent(new Event('visibilitychange', { bubbles: true }))`);
  await look('hidden');
  await web.api('/api-keys', { name: 'seen later by the second', role: 'viewer' });
  await one.page.getByText('seen later by the second').waitFor();
  expect(asked).toBe(0);
  await look('visible');
  await two.page.getByText('seen later by the second').waitFor();
  await one.page.close();
  await expect.poll(() => streams.at(-1) === two.page).toBe(true);
  await two.page.getByLabel('Live: changes arrive by themselves').waitFor();
  await web.api('/api-keys', { name: 'seen by the second', role: 'viewer' });
  await two.page.getByText('seen by the second').waitFor();
  expect([...one.problems, ...two.problems]).toEqual([]);
});

test('signing out leaves nothing behind: neither in memory nor in storage, nor on the page before', async () => {
  const { page, problems } = await web.open('/sign-in', { signedIn: false, expected: [401] });
  await page.getByLabel('E-mail').fill(OWNER.email);
  await page.locator('input[name=password]').fill(OWNER.password);
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
  await goTo(page, '/settings/members');
  await page.getByText(OWNER.email).waitFor();
  await page.getByRole('button', { name: `Account of ${OWNER.name}` }).click();
  await page.getByRole('menuitem', { name: 'Sign out' }).click();
  await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  await page.goBack();
  await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  expect(await page.getByText(OWNER.email).count()).toBe(0);
  const stored = await page.evaluate(`(async () => ({
    local: Object.keys(localStorage).filter((name) => !/^rrs-(?:theme|density|letterKeys|rail)$/.test(name)),
    session: Object.keys(sessionStorage).filter((name) => !name.startsWith('tsr-scroll')),
    databases: (await indexedDB.databases()).length,
    caches: (await caches.keys()).length,
  }))()`);
  expect(stored).toEqual({ local: [], session: [], databases: 0, caches: 0 });
  const answer = await call(web.service.url, '/api/v1/members', { key: web.service.key });
  expect(answer.headers.get('cache-control')).toContain('no-store');
  expect(problems).toEqual([]);
});

test('the offline notice appears, and what is on the screen stays', async () => {
  const { page } = await web.open('/settings/members');
  await page.getByText(OWNER.email).waitFor();
  await page.context().setOffline(true);
  await page.getByText('You are offline.').waitFor();
  expect(await page.getByText(OWNER.email).count()).toBe(1);
  await expectAccessible(page, 'offline');
  await page.context().setOffline(false);
  await page.getByText('You are offline.').waitFor({ state: 'detached' });
});

test(
  'every page of a full organization is accessible and silent',
  async () => {
    await fillOrganization();
    await walk('full');
  },
  LONG_MS,
);

test('every page says what is wrong when the API fails', () => walk('errors'), LONG_MS);
