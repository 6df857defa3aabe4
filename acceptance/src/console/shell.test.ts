import type { Page } from 'playwright-core';
import { afterAll, expect, test } from 'vitest';
import { expectAccessible, expectAccessibleInBoth } from './accessible.ts';
import { OWNER, startConsole } from './console.ts';
import { type IdentityProvider, startIdentityProvider } from './identity-provider.ts';

let provider: IdentityProvider;
const web = startConsole(undefined, async () => {
  provider = await startIdentityProvider({ name: OWNER.name, email: OWNER.email });
  return provider.settings;
});
afterAll(() => provider?.close());

test('a person signs in, and comes back to the page they wanted', async () => {
  const { page, problems } = await web.open('/settings/profile', { signedIn: false, expected: [401] });
  await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  await page.getByLabel('E-mail').fill(OWNER.email);
  await page.locator('input[name=password]').fill('not the password');
  await page.keyboard.press('Enter');
  await page.getByRole('alert').waitFor();
  await page.locator('input[name=password]').fill(OWNER.password);
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: OWNER.name }).waitFor();
  expect(new URL(page.url()).pathname).toBe('/settings/profile');
  expect(problems).toEqual([]);
});

test('people sign in at the identity provider, and come back to the page they wanted', async () => {
  const { page, problems } = await web.open('/settings/profile?x=1', { signedIn: false, expected: [401], site: provider.issuer });
  await page.getByRole('link', { name: `Sign in with ${provider.name}` }).click();
  await page.getByRole('heading', { name: 'Example ID' }).waitFor();
  await page.getByRole('link', { name: `Continue as ${OWNER.name}` }).click();
  await page.getByRole('heading', { name: OWNER.name }).waitFor();
  expect(page.url()).toBe(`${web.service.url}/settings/profile?x=1`);
  const cookies = await page.context().cookies();
  expect(cookies.map(({ name, httpOnly }) => [name, httpOnly])).toEqual([['rrs_session', true]]);
  expect(problems).toEqual([]);
});

test('a sign-in that the identity provider or the service refuses is explained, and can be repeated', async () => {
  const { page, problems } = await web.open('/assets', { signedIn: false, expected: [401], site: provider.issuer });
  const start = page.getByRole('link', { name: `Sign in with ${provider.name}` });
  await start.click();
  await page.getByRole('link', { name: 'Refuse' }).click();
  await page.getByRole('alert').getByText(`${provider.name} refused the sign-in. Sign in again, or ask the administrators`).waitFor();
  await expectAccessibleInBoth(page, 'refused sign-in');
  provider.as({ name: 'Grace Hopper', email: 'grace@example.com' });
  await start.click();
  await page.getByRole('link', { name: 'Continue as Grace Hopper' }).click();
  await page.getByRole('alert').getByText('You are not a member yet. Ask an administrator').waitFor();
  provider.as({ name: OWNER.name, email: OWNER.email });
  await start.click();
  await page.getByRole('link', { name: `Continue as ${OWNER.name}` }).click();
  await page.getByRole('heading', { level: 1, name: 'Assets' }).waitFor();
  expect(problems).toEqual([]);
});

test('a member of several organizations names the one to sign in to, also with a phone', async () => {
  const name = 'the identity provider of Meridian Parcel and all of its subsidiaries';
  const before = (opened: Page) =>
    opened.route('**/api/v1/sign-in-methods', async (route) => {
      const response = await route.fetch();
      const methods = (await response.json()) as { oidc: object };
      await route.fulfill({ response, json: { ...methods, oidc: { ...methods.oidc, name } } });
    });
  const at = '/sign-in?error=choose_organization&next=/work';
  const { page, problems } = await web.open(at, { signedIn: false, site: provider.issuer, width: 320, before });
  await page.getByLabel('Organization').fill('default');
  // One button is the way on, and the whole of its name can be read.
  expect(await page.locator('[data-variant=filled]').allTextContents()).toEqual([`Sign in with ${name}`]);
  const cut = '[...document.querySelectorAll("[data-variant] *")].filter((each) => each.scrollWidth > each.clientWidth + 1 && each.clientWidth > 0).length';
  expect(await page.evaluate<number>(cut)).toBe(0);
  const started = page.waitForRequest((request) => request.url().includes('/oidc/start'));
  await page.keyboard.press('Enter');
  expect(new URL((await started).url()).search).toBe('?next=/work&organization=default');
  await page.getByRole('link', { name: `Continue as ${OWNER.name}` }).click();
  await page.getByRole('heading', { level: 1, name: 'Work' }).waitFor();
  expect(problems).toEqual([]);
});

test('signing out ends the session in all tabs', async () => {
  const { page, problems } = await web.open('/sign-in', { signedIn: false, expected: [401] });
  await page.getByLabel('E-mail').fill(OWNER.email);
  await page.locator('input[name=password]').fill(OWNER.password);
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
  const other = await web.open('/', { context: page.context(), expected: [401] });
  await other.page.getByRole('heading', { name: 'Overview' }).waitFor();
  await page.getByRole('button', { name: `Account of ${OWNER.name}` }).click();
  await page.getByRole('menuitem', { name: 'Sign out' }).click();
  await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  await other.page.getByRole('heading', { name: 'Sign in' }).waitFor();
  expect([...problems, ...other.problems]).toEqual([]);
});

test('a session that ends in the middle of something is renewed over the page, and what was typed stays', async () => {
  const { page, problems } = await web.open('/work/board', { expected: [401] });
  await page.getByRole('region', { name: 'Open', exact: true }).waitFor();
  await page.keyboard.press('c');
  const dialog = page.getByRole('dialog', { name: 'New work item' });
  await dialog.getByLabel('Title').fill('Kept');
  await page.context().clearCookies();
  await page.keyboard.press('Enter');
  const again = page.getByRole('dialog', { name: /^Your session ended/ });
  await again.locator('input[name=password]').fill(OWNER.password);
  await expectAccessible(page, 'session ended');
  await page.keyboard.press('Enter');
  await again.waitFor({ state: 'detached' });
  await dialog.getByRole('button', { name: 'Create the work item' }).click();
  await page.getByRole('heading', { level: 1, name: 'Kept' }).waitFor();
  expect(problems).toEqual([]);
});

test('while the service asks to wait, the page counts down and goes on by itself', async () => {
  let refusals = 1;
  const before = (opened: Page) =>
    opened.route('**/api/v1/members?*', (route) =>
      refusals-- > 0
        ? route.fulfill({ status: 503, headers: { 'retry-after': '2' }, contentType: 'application/problem+json', json: { status: 503, title: 'Busy' } })
        : route.continue(),
    );
  const { page, problems } = await web.open('/settings/members', { before, expected: [503] });
  await page.getByText('The service asked to wait. The request is repeated in 2 s.').waitFor();
  await page.getByText('The service asked to wait. The request is repeated in 1 s.').waitFor();
  await page.getByText(OWNER.email).waitFor();
  await page.getByText('The service asked to wait.').waitFor({ state: 'detached' });
  expect(problems).toEqual([]);
});

test('the frame is accessible and silent', async () => {
  const { page, problems } = await web.open('/');
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
  await expectAccessibleInBoth(page, 'overview');
  await page.keyboard.press('?');
  await page.getByRole('dialog', { name: 'Keys of this page' }).waitFor();
  await expectAccessibleInBoth(page, 'keys');
  await page.keyboard.press('Escape');
  await page.keyboard.press('Control+k');
  await page.getByRole('combobox', { name: 'Search findings, assets and commands' }).waitFor();
  await expectAccessibleInBoth(page, 'palette');
  expect(problems).toEqual([]);
});

test('text that is hard to read is noticed, also if other text in the same place is not', async () => {
  const { page } = await web.open('/');
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
  await expectAccessible(page, 'overview');
  await page.getByRole('heading', { name: 'Overview' }).evaluate((heading) => {
    Object(heading).style.color = 'rgb(200, 200, 200)';
  });
  await expect(expectAccessible(page, 'overview, pale', { what: 'colors' })).rejects.toThrow('overview, pale');
});

test('the palette runs commands', async () => {
  const { page, problems } = await web.open('/');
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
  await page.keyboard.press('Control+k');
  await page.getByRole('combobox', { name: 'Search findings, assets and commands' }).waitFor();
  await page.keyboard.type('go to settings');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Settings' }).waitFor();
  expect(problems).toEqual([]);
});

test('files have names with a hash, are compressed and never expire', async () => {
  const html = await (await fetch(web.service.url, { headers: { accept: 'text/html' } })).text();
  const script = /src="(\/files\/[^"]+\.js)"/.exec(html)?.[1] ?? '';
  const response = await fetch(`${web.service.url}${script}`, { headers: { 'accept-encoding': 'br' } });
  expect([response.status, response.headers.get('content-encoding'), response.headers.get('cache-control')]).toEqual([
    200,
    'br',
    'public, max-age=31536000, immutable',
  ]);
  expect((await fetch(`${web.service.url}/files/nothing.js`)).status).toBe(404);
});
