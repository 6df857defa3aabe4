import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { startReceiver } from '../receiver.ts';
import { expectAccessible } from './accessible.ts';
import { goTo, OWNER, startConsole } from './console.ts';
import { trivyReport } from './reports.ts';

const web = startConsole(async () => {
  await web.upload('trivy.json', trivyReport(4));
  await web.upload('advisory.json', trivyReport(1, 'registry.example.com/shop/api:1.0').replaceAll('CVE-2026-10001', 'GHSA-abcd-1234-wxyz'));
});

const dialog = (page: Page) => page.getByRole('dialog');
const table = (page: Page, name: string) => page.getByRole('table').filter({ has: page.getByRole('columnheader', { name }) });

test('an owner changes the policies of the organization, and does not overwrite another owner', async () => {
  const { page, problems } = await web.open('/settings/organization', { expected: [400, 412] });
  await page.getByLabel('Critical').fill('7');
  await page.getByLabel('Info').fill('0');
  await page.getByLabel('Four eyes').check({ force: true });
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('alert').waitFor();
  expect(await page.getByLabel('Info').getAttribute('aria-invalid')).toBe('true');
  await page.getByLabel('Info').fill('');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('The organization is changed.').waitFor();
  const { body } = await web.api('/organization');
  expect(body.policy).toMatchObject({ four_eyes: true, sla: { critical: 7, info: null, high: 30 } });
  await page.getByLabel('High').fill('21');
  await patch('/organization', { name: 'Renamed by somebody' });
  await page.getByRole('button', { name: 'Save' }).click();
  // Both see their change: that of the other person is shown, the own one is kept.
  await page.getByRole('button', { name: 'Keep my changes' }).click();
  await page.locator('input[value="Renamed by somebody"]').waitFor();
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('alert').waitFor({ state: 'detached' });
  // The notice of the first change may still be there.
  await expect.poll(async () => (await web.api('/organization')).body).toMatchObject({ name: 'Renamed by somebody', policy: { sla: { high: 21 } } });
  await patch('/organization', { policy: { four_eyes: false } });
  expect(problems).toEqual([]);
});

function patch(path: string, body: object): Promise<Response> {
  return fetch(`${web.service.url}/api/v1${path}`, {
    method: 'PATCH',
    headers: { authorization: `Bearer ${web.service.key}`, 'content-type': 'application/merge-patch+json' },
    body: JSON.stringify(body),
  });
}

test('a member is added with a link, chooses a password, and sees what the role may not do', async () => {
  const { page, problems } = await web.open('/settings/members');
  await page.getByRole('button', { name: 'Add a member' }).click();
  await dialog(page).getByLabel('Name').fill('Grace Hopper');
  await dialog(page).getByLabel('E-mail').fill('grace@example.com');
  await dialog(page).getByLabel('Role').selectOption('viewer');
  await page.getByRole('button', { name: 'Add the member' }).click();
  const link = (await dialog(page).locator('code').textContent()) ?? '';
  await expectAccessible(page, 'link of a member');
  await page.getByRole('button', { name: 'Done' }).click();
  await table(page, 'E-mail').getByText('grace@example.com').waitFor();

  const guest = await web.open(new URL(link).pathname + new URL(link).hash, { signedIn: false, expected: [401] });
  await guest.page.locator('input[type=password]').first().fill('a password of a viewer');
  await guest.page.keyboard.press('Enter');
  await guest.page.getByRole('heading', { name: 'Overview' }).waitFor();
  const other = await web.open('/settings/organization', { context: guest.page.context(), expected: [401] });
  await other.page.getByRole('note').getByText('The role owner can change the organization.').waitFor();
  expect(await other.page.getByRole('button', { name: 'Save' }).count()).toBe(0);
  await expectAccessible(other.page, 'organization, viewer');
  const refused = await web.open('/settings/audit', { context: guest.page.context(), expected: [401, 403] });
  await refused.page.getByRole('alert').getByText('Not allowed').waitFor();
  await refused.page.getByText('(roles: owner, admin, auditor). Your role is viewer.').waitFor();
  await expectAccessible(refused.page, 'audit trail, refused');

  // The event says that she has a password now.
  await page.getByRole('row', { name: 'Grace Hopper' }).getByText('Password').waitFor();
  await page.getByRole('button', { name: 'Actions for Grace Hopper' }).click();
  await page.getByRole('menuitem', { name: 'Edit' }).click();
  await dialog(page).getByLabel('Role').selectOption('auditor');
  await page.getByRole('button', { name: 'Save' }).click();
  await table(page, 'E-mail').getByText('Auditor').waitFor();
  await page.getByRole('button', { name: 'Actions for Grace Hopper' }).click();
  await page.getByRole('menuitem', { name: 'Remove' }).click();
  await page.getByRole('button', { name: 'Remove the member' }).click();
  await table(page, 'E-mail').getByText('grace@example.com').waitFor({ state: 'detached' });
  expect([...problems, ...guest.problems, ...other.problems, ...refused.problems]).toEqual([]);
});

test('an API key is shown once, works, and is revoked', async () => {
  const { page, problems } = await web.open('/settings/api-keys');
  await page.getByRole('button', { name: 'Create a key' }).waitFor();
  await page.keyboard.press('c');
  await dialog(page).getByLabel('Name').fill('nightly import');
  await page.getByRole('button', { name: 'Create the key' }).click();
  const key = (await dialog(page).locator('code').textContent()) ?? '';
  const me = await fetch(`${web.service.url}/api/v1/me`, { headers: { authorization: `Bearer ${key}` } });
  expect(await me.json()).toMatchObject({ name: 'nightly import', role: 'viewer' });
  await page.getByRole('button', { name: 'Done' }).click();
  expect(await page.content()).not.toContain(key);
  await page.getByRole('button', { name: 'Actions for nightly import' }).click();
  await page.getByRole('menuitem', { name: 'Revoke' }).click();
  await page.getByRole('button', { name: 'Revoke the key' }).click();
  await page.getByText('The key is revoked.').waitFor();
  await expectAccessible(page, 'API keys');
  expect(problems).toEqual([]);
});

test('other sessions are listed and ended', async () => {
  const first = await web.open('/sign-in', { signedIn: false, expected: [401] });
  await signIn(first.page, OWNER.password);
  const { page, problems } = await web.open('/settings/sessions');
  const sessions = table(page, 'Signed in with').getByRole('row');
  await page.getByText('(this one)').waitFor();
  const before = await sessions.count();
  expect(before).toBeGreaterThan(2);
  await page.getByRole('button', { name: 'End' }).first().click();
  await page.getByText('The session ended.').waitFor();
  await sessions.nth(before - 1).waitFor({ state: 'detached' });
  await expectAccessible(page, 'sessions');
  expect([...first.problems, ...problems]).toEqual([]);
});

async function signIn(page: Page, password: string): Promise<void> {
  await page.getByLabel('E-mail').fill(OWNER.email);
  await page.locator('input[name=password]').fill(password);
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
}

test('a webhook is added with a secret that is shown once, tested, and its deliveries are sent again', async () => {
  const receiver = await startReceiver();
  const { page, problems } = await web.open('/settings/webhooks');
  await page.getByRole('button', { name: 'Add a webhook' }).click();
  await dialog(page).getByLabel('URL').fill(`${receiver.url}hook`);
  await dialog(page).getByRole('combobox', { name: 'Events' }).fill('finding.created');
  await page.getByRole('button', { name: 'Add the webhook' }).click();
  await dialog(page).getByText('whsec_').waitFor();
  await page.getByRole('button', { name: 'Done' }).click();
  await page.getByRole('button', { name: 'Send a test' }).click();
  await page.getByText('The receiver accepted the test').waitFor();
  const rows = table(page, 'Event').getByRole('row');
  await page.getByRole('button', { name: 'Send webhook.test again' }).click();
  await rows.filter({ hasText: '(again)' }).filter({ hasText: 'Succeeded' }).waitFor();
  await expectAccessible(page, 'webhook');
  await page.getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('button', { name: 'Delete the webhook' }).click();
  await page.getByRole('heading', { name: 'No webhooks' }).waitFor();
  receiver.close();
  expect(problems).toEqual([]);
});

test('a pipeline is trusted, changed and trusted no longer', async () => {
  const { page, problems } = await web.open('/settings/pipelines');
  await page.getByRole('button', { name: 'Trust a pipeline' }).click();
  await dialog(page).getByLabel('Name').fill('shop on GitHub');
  await dialog(page).getByLabel('Conditions').fill('repository: acme/shop\nref: refs/heads/main, refs/heads/release-1');
  await page.getByRole('button', { name: 'Trust the pipeline' }).click();
  await page.getByText('ref: refs/heads/main, refs/heads/release-1, repository: acme/shop').waitFor();
  await expectAccessible(page, 'pipelines');
  await page.getByRole('button', { name: 'Actions for shop on GitHub' }).click();
  await page.getByRole('menuitem', { name: 'Delete' }).click();
  await page.getByRole('button', { name: 'Trust it no longer' }).click();
  await page.getByRole('heading', { name: 'No trusted pipelines' }).waitFor();
  expect(problems).toEqual([]);
});

test('a source is retired with a reason, and used again; an alias is added and revoked', async () => {
  const { page, problems } = await web.open('/settings/sources?retired=false');
  await page.getByRole('button', { name: 'Retire Trivy' }).click();
  await dialog(page).getByText('It still sees 5 active findings.').waitFor();
  await dialog(page).getByLabel('Reason').fill('Replaced by another tool');
  await page.getByRole('button', { name: 'Retire the source' }).click();
  await page.getByRole('heading', { name: 'No sources' }).waitFor();
  await page.getByRole('link', { name: 'Retired' }).click();
  await page.getByRole('button', { name: 'Use again' }).click();
  await page.getByRole('link', { name: 'In use' }).click();
  await page.getByRole('button', { name: 'Retire Trivy' }).waitFor();
  await expectAccessible(page, 'sources');
  await page.getByRole('link', { name: 'Aliases' }).click();
  await page.getByRole('button', { name: 'Add an alias' }).click();
  await dialog(page).getByLabel('Alias').fill('GHSA-abcd-1234-wxyz');
  await dialog(page).getByLabel('Vulnerability').fill('CVE-2026-10002');
  await dialog(page).getByLabel('Reason').fill('Same advisory');
  await page.getByRole('button', { name: 'Add the alias' }).click();
  await page.getByRole('button', { name: 'Revoke GHSA-abcd-1234-wxyz' }).click();
  await dialog(page).getByLabel('Reason').fill('Another one');
  await page.getByRole('button', { name: 'Revoke the alias' }).click();
  await page.getByRole('button', { name: 'Restore GHSA-abcd-1234-wxyz' }).waitFor();
  await expectAccessible(page, 'aliases');
  expect(problems).toEqual([]);
});

test('the audit trail is filtered by the address, shows what changed, and is exported', async () => {
  const { page, problems } = await web.open('/settings/audit?object_type=alias');
  const rows = page.getByRole('grid', { name: 'Audit trail' }).getByRole('row');
  await rows.nth(1).waitFor();
  expect(await rows.count()).toBe(
    Number(((await web.api('/audit-events?object_type=alias&total=exact')).body.page as { total: { count: number } }).total.count) + 1,
  );
  await page.keyboard.press('j');
  await page.keyboard.press('Enter');
  await dialog(page).getByRole('button', { name: 'Everything about this object' }).waitFor();
  await expectAccessible(page, 'entry of the audit trail');
  await dialog(page).getByRole('button', { name: 'Everything about this object' }).click();
  await page.waitForURL('**/settings/audit?object_type=alias&object_id=*');
  await page.getByRole('button', { name: 'Export' }).click();
  const download = page.waitForEvent('download');
  await page.getByRole('menuitem', { name: 'CSV' }).click();
  expect((await download).suggestedFilename()).toMatch(/^audit-trail-.*\.csv$/);
  // Objects have names. Their ids are for those who point at them.
  const { body: asset } = await web.api('/assets', { type: 'host', name: 'named.example.com' });
  await goTo(page, `/settings/audit?object_id=${asset.id}`);
  expect(await rows.nth(1).getByText('named.example.com').getAttribute('data-hint')).toBe(`Asset ${asset.id}`);
  expect(problems).toEqual([]);
});
