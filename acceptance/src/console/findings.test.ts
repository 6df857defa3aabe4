import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { expectAccessible, startConsole } from './console.ts';
import { trivyReport } from './reports.ts';

const web = startConsole(async () => {
  await web.upload('trivy.json', trivyReport(240));
});

const rows = (page: Page) => page.getByRole('grid', { name: 'Findings' }).getByRole('row');
const active = (page: Page) => page.locator('tr[data-active]');
const ready = (page: Page) => rows(page).nth(1).waitFor();

test.each(['light', 'dark'] as const)('the list, the drawer and a dialog are accessible (%s)', async (theme) => {
  const { page, problems } = await web.open('/findings?status=open&sort=-risk_score', { theme });
  await ready(page);
  await expectAccessible(page, `findings, ${theme}`);
  await page.keyboard.press('j');
  await page.keyboard.press('Enter');
  await page.getByRole('complementary', { name: 'Finding' }).getByRole('heading', { name: 'History' }).waitFor();
  await expectAccessible(page, `drawer, ${theme}`);
  await page.keyboard.press('a');
  await page.getByRole('dialog').waitFor();
  await expectAccessible(page, `acceptance, ${theme}`);
  expect(problems).toEqual([]);
});

test('a query of the address is a query of the API, typed or chosen', async () => {
  const { page, problems } = await web.open('/findings');
  await ready(page);
  await page.keyboard.press('/');
  await page.keyboard.type('severity:critical,high has_fix:true');
  await page.keyboard.press('Enter');
  await page.waitForURL('**/findings?severity=critical,high&has_fix=true');
  await page.getByText('120', { exact: true }).waitFor();
  const { body } = await web.api('/findings?severity=critical,high&has_fix=true&total=exact');
  expect((body.page as { total: { count: number } }).total.count).toBe(120);
  await page.getByRole('button', { name: 'Remove the filter Severity: critical or high' }).click();
  await page.waitForURL('**/findings?has_fix=true');
  await page.goBack();
  await page.waitForURL('**/findings?severity=critical,high&has_fix=true');
  expect(problems).toEqual([]);
});

test('findings are triaged by key: each change is stored, and the last one can be undone', async () => {
  const { page, problems } = await web.open('/findings?status=open&severity=low&sort=-risk_score');
  await ready(page);
  await page.keyboard.press('j');
  const title = (await active(page).locator('[data-column=title]').textContent()) ?? '';
  await page.keyboard.press('e');
  await active(page).getByText('In progress').waitFor();
  await page.getByRole('status').getByText('In progress:').waitFor();
  await page.keyboard.press('u');
  await page.getByText('Undone.').waitFor();
  await active(page).getByText('Open').waitFor();
  await page.keyboard.press('f');
  await page.getByRole('dialog').getByLabel('Reason').fill('The code is not used');
  await page.getByRole('button', { name: 'Change the finding' }).click();
  await active(page).getByText('False positive').waitFor();
  const { body } = await web.api(`/findings?status=false_positive&limit=1`);
  expect(title).toContain((body.data as { title: string }[])[0]?.title);
  expect(problems).toEqual([]);
});

test('many findings change together, after the service said what would happen', async () => {
  const { page, problems } = await web.open('/findings?status=open&severity=medium&sort=-risk_score');
  await ready(page);
  await page.keyboard.press('Control+a');
  await page.getByText(/^\d+ selected$/).waitFor();
  await page.keyboard.press('r');
  await page.getByRole('dialog').getByLabel('Reason').fill('Updated the image');
  await page.getByRole('button', { name: 'Show what would change' }).click();
  await page.getByRole('dialog').getByText('60 of 60 findings change.').waitFor();
  await page.getByRole('button', { name: 'Change 60 findings' }).click();
  await page.getByText('60 findings changed.').waitFor();
  const { body } = await web.api('/findings?status=remediated&total=exact&limit=1');
  expect((body.page as { total: { count: number } }).total.count).toBe(60);
  expect(problems).toEqual([]);
});

test('somebody else’s change is not overwritten', async () => {
  const { page, problems } = await web.open('/findings?status=open&severity=high&sort=-risk_score', { expected: [412] });
  await ready(page);
  await page.keyboard.press('j');
  const { body } = await web.api('/findings?status=open&severity=high&sort=-risk_score&limit=1');
  const [first] = body.data as { id: string }[];
  await fetch(`${web.service.url}/api/v1/findings/${first?.id}`, {
    method: 'PATCH',
    headers: { authorization: `Bearer ${web.service.key}`, 'content-type': 'application/merge-patch+json' },
    body: JSON.stringify({ tags: ['changed meanwhile'] }),
  });
  await page.keyboard.press('e');
  await page.getByText('Somebody changed this finding in the meantime.').waitFor();
  await active(page).getByText('Open').waitFor();
  expect(problems).toEqual([]);
});

test('addresses in reports become links only if they are http or https', async () => {
  const { body } = await web.api('/findings?limit=1');
  const [first] = body.data as { id: string }[];
  const { page, problems } = await web.open(`/findings/${first?.id}`);
  await page.getByRole('link', { name: 'https://example.com/advisory' }).waitFor();
  expect(await page.getByRole('link', { name: 'javascript:' }).count()).toBe(0);
  expect(problems).toEqual([]);
});

test('rows become cards at 320 pixels, without scrolling sideways', async () => {
  const { page, problems } = await web.open('/findings?sort=-risk_score', { width: 320 });
  await ready(page);
  expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBe(0);
  await expectAccessible(page, 'findings, 320 pixels');
  expect(problems).toEqual([]);
});

test('an empty list says why, and offers a way out', async () => {
  const { page, problems } = await web.open('/findings?q=nothing-like-this');
  await page.getByRole('heading', { name: 'No findings match' }).waitFor();
  await page.getByRole('link', { name: 'Show all findings' }).click();
  await ready(page);
  expect(problems).toEqual([]);
});

test('a list that cannot be read shows the reason, and can be asked for again', async () => {
  const { page, problems } = await web.open('/findings?severity=purple', { expected: [400] });
  await page.getByRole('alert').getByText('The request was refused').waitFor();
  await expectAccessible(page, 'findings, refused');
  expect(problems).toEqual([]);
});
