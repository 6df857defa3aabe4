import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { expectAccessible, expectAccessibleInBoth } from './accessible.ts';
import { startConsole } from './console.ts';
import { trivyReport } from './reports.ts';
import { madeUpFindings, scrollToRow } from './scrolling.ts';

const web = startConsole(async () => {
  await web.upload('trivy.json', trivyReport(240));
});

const rows = (page: Page) => page.getByRole('grid', { name: 'Findings' }).getByRole('row');
const active = (page: Page) => page.locator('tr[data-active]');
const ready = (page: Page) => rows(page).nth(1).waitFor();

test('the list, the drawer and a dialog are accessible', async () => {
  const { page, problems } = await web.open('/findings?status=open&sort=-risk_score');
  await ready(page);
  await expectAccessibleInBoth(page, 'findings');
  await page.keyboard.press('j');
  await page.keyboard.press('Enter');
  await page.getByRole('complementary', { name: 'Finding' }).getByRole('heading', { name: 'History' }).waitFor();
  await expectAccessibleInBoth(page, 'drawer');
  await page.keyboard.press('a');
  await page.getByRole('dialog').waitFor();
  await page.getByRole('button', { name: '30 days' }).click();
  expect(await page.getByLabel('Ends after this many days').inputValue()).toBe('30');
  await expectAccessibleInBoth(page, 'acceptance');
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
  // Values that exist are offered.
  await page.keyboard.press('/');
  await page.keyboard.type('component:library-12');
  await page.getByRole('option', { name: 'library-120' }).waitFor();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await page.waitForURL('**/findings?severity=critical,high&has_fix=true&component=library-12');
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
  const dismissed = async () => ((await web.api('/findings?status=false_positive&limit=1')).body.data as { title: string }[])[0]?.title ?? 'nothing';
  // The row shows the change before it is stored.
  await expect.poll(async () => title.includes(await dismissed())).toBe(true);
  expect(problems).toEqual([]);
});

test('an accepted risk names its compensating control, until the field is emptied', async () => {
  const { page, problems } = await web.open('/findings?severity=low&sort=risk_score');
  await ready(page);
  await page.keyboard.press('j');
  const dialog = page.getByRole('dialog', { name: /^Accept risk: / });
  const accepted = async () =>
    ((await web.api('/findings?status=risk_accepted&limit=1')).body.data as { acceptance: { compensating_control: string | null } }[])[0]?.acceptance;
  const control = 'Requests pass a filter';
  await page.keyboard.press('a');
  await dialog.getByLabel('Reason').fill('Behind the VPN');
  await dialog.getByLabel('Compensating control').fill(control);
  await page.getByRole('button', { name: 'Change the finding' }).click();
  await dialog.waitFor({ state: 'detached' });
  await expect.poll(accepted).toMatchObject({ compensating_control: control });
  await page.keyboard.press('Enter');
  await page.getByRole('complementary', { name: 'Finding' }).getByText(`Compensating control: ${control}`, { exact: true }).waitFor();
  await page.keyboard.press('a');
  expect(await dialog.getByLabel('Compensating control').inputValue()).toBe(control);
  await dialog.getByLabel('Reason').fill('Still behind the VPN');
  await dialog.getByLabel('Compensating control').fill('');
  await page.getByRole('button', { name: 'Change the finding' }).click();
  await page.getByRole('status').getByText('Acceptance changed: ').waitFor();
  await expect.poll(accepted).toMatchObject({ compensating_control: null });
  expect(problems).toEqual([]);
});

test('under the four-eyes policy, extending an accepted risk is a request, which can be withdrawn', async () => {
  const [finding] = (await web.api('/findings?severity=low&status=open&limit=1')).body.data as { id: string }[];
  const expires_at = new Date(Date.now() + 30 * 86_400_000).toISOString();
  await web.api(`/findings/${finding?.id}`, { status: 'risk_accepted', reason: 'Behind the VPN', owner: 'Grace Hopper', expires_at }, 'PATCH');
  await web.api('/organization', { policy: { four_eyes: true } }, 'PATCH');
  const { page, problems } = await web.open(`/findings/${finding?.id}`);
  await page.getByRole('button', { name: 'Accept risk' }).click();
  const dialog = page.getByRole('dialog', { name: /^Accept risk: / });
  expect(await dialog.getByLabel('Who is responsible for the risk').inputValue()).toBe('Grace Hopper');
  await dialog.getByLabel('Reason').fill('Still behind the VPN');
  await page.getByRole('button', { name: 'Change the finding' }).click();
  await page.getByRole('status').getByText('Another person has to approve it: ').waitFor();
  await page.getByText('Ada Lovelace asks to change the acceptance of this risk.').waitFor();
  await page.getByRole('button', { name: 'Withdraw the request' }).click();
  await page.getByRole('dialog').getByLabel('Reason').fill('No longer needed');
  await page.getByRole('dialog').getByRole('button', { name: 'Withdraw' }).click();
  await page.getByText('The request is withdrawn.').waitFor();
  expect((await web.api(`/findings/${finding?.id}`)).body).toMatchObject({ status: 'risk_accepted', acceptance: { reason: 'Behind the VPN' } });
  await web.api('/organization', { policy: { four_eyes: false } }, 'PATCH');
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
  // The rows are read again before the dialog closes, which has keys of its own.
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  const { body } = await web.api('/findings?status=remediated&total=exact&limit=1');
  expect((body.page as { total: { count: number } }).total.count).toBe(60);
  await page.keyboard.press('u');
  await page.getByText('Undone. 60 findings changed.').waitFor();
  await rows(page).nth(1).getByText('Open', { exact: true }).waitFor();
  const { body: after } = await web.api('/findings?status=remediated&total=exact&limit=1');
  expect((after.page as { total: { count: number } }).total.count).toBe(0);
  expect(problems).toEqual([]);
});

test('all findings of a filter change together, and the rows on the screen know it', async () => {
  const { page, problems } = await web.open('/findings?has_fix=true&sort=-risk_score');
  await ready(page);
  await page.keyboard.press('Control+a');
  await page.getByRole('button', { name: 'Select all 240 that match' }).click();
  await page.keyboard.press('t');
  await page.getByRole('dialog').getByLabel('Tags').fill('bulk');
  await page.keyboard.press('Enter');
  await page.keyboard.press('Control+Enter');
  await page.getByRole('button', { name: 'Change 240 findings' }).click();
  await page.getByText('240 findings changed.').waitFor();
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await page.keyboard.press('Escape');
  // The row is as new as the finding: the next change of it is not refused.
  await page.keyboard.press('j');
  await page.keyboard.press('e');
  await page.getByRole('status').getByText('In progress:').waitFor();
  await page.keyboard.press('u');
  await page.getByText('Undone. Open:').waitFor();
  expect(problems).toEqual([]);
});

test('what others change is shown in its row, which stays where it is', async () => {
  const list = '/findings?status=open&severity=critical&sort=-risk_score';
  const { page, problems } = await web.open(list);
  await ready(page);
  await page.getByLabel('Live: changes arrive by themselves').waitFor();
  const { body } = await web.api(`${list}&limit=1`);
  const [first] = body.data as { id: string; title: string }[];
  await web.api(`/findings/${first?.id}`, { status: 'in_progress' }, 'PATCH');
  await rows(page).nth(1).getByText('In progress').waitFor();
  await rows(page).nth(1).getByText(String(first?.title)).waitFor();
  await page.getByRole('button', { name: 'Findings changed since this list was read.' }).click();
  await rows(page).nth(1).getByText('Open', { exact: true }).waitFor();
  await web.api(`/findings/${first?.id}`, { status: 'open', reason: 'As before' }, 'PATCH');
  expect(problems).toEqual([]);
});

test('a key that is held passes rows without reading them', async () => {
  const { page, problems } = await web.open('/findings?sort=-risk_score');
  await ready(page);
  let asked = 0;
  page.on('request', (request) => {
    asked += /\/findings\/[0-9a-f-]{36}/.test(request.url()) ? 1 : 0;
  });
  await page.keyboard.press('j');
  await page.keyboard.press('Enter');
  const title = page.getByRole('complementary', { name: 'Finding' }).getByRole('heading', { level: 2 }).first();
  await title.waitFor();
  for (let repeated = 0; repeated < 40; repeated++) await page.keyboard.down('j');
  await page.keyboard.up('j');
  expect(await active(page).getAttribute('aria-rowindex')).toBe('42');
  const last = (await active(page).locator('[data-column=title] span').first().textContent()) ?? '';
  await expect.poll(() => title.textContent()).toBe(last);
  // What was opened, and what was reached: a few requests each. The rows in between would have been more than a hundred.
  expect(asked).toBeLessThan(40);
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

/** The words in tables that are on more than one line. */
const BROKEN_WORDS = `[...document.querySelectorAll('aside table :is(th, td)')].flatMap((cell) => {
  const texts = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
  const broken = [];
  for (let text = texts.nextNode(); text; text = texts.nextNode()) {
    for (const { index, 0: word } of text.data.matchAll(/[^\\s-]+/g)) {
      const range = document.createRange();
      range.setStart(text, index);
      range.setEnd(text, index + word.length);
      if (range.getClientRects().length > 1) broken.push(word);
    }
  }
  return broken;
})`;

test('rows become cards at 320 pixels, without scrolling sideways', async () => {
  const { page, problems } = await web.open('/findings?sort=-risk_score', { width: 320 });
  await ready(page);
  expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBe(0);
  await expectAccessible(page, 'findings, 320 pixels');
  await page.keyboard.press('j');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: /^Risk / }).waitFor();
  expect(await page.evaluate(BROKEN_WORDS)).toEqual([]);
  // Nor is a dialog wider than the screen.
  await page.keyboard.press('a');
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Reason').waitFor();
  expect(
    await dialog.evaluate((element) =>
      [element, ...element.querySelectorAll('*')]
        .filter((each) => each.scrollWidth > each.clientWidth + 1 && each.clientWidth > 0 && !each.matches('input, .visually-hidden'))
        .map((each) => each.className),
    ),
  ).toEqual([]);
  expect(problems).toEqual([]);
});

test('a wide list names the tools of a finding, and a cell says what it cuts to whoever points at it', async () => {
  const { page, problems } = await web.open('/findings?sort=-risk_score', { width: 1600 });
  await ready(page);
  const first = rows(page).nth(1);
  await expect.poll(() => first.locator('[data-column=source]').textContent()).toBe('Trivy');
  const title = first.locator('[data-column=title]');
  await title.hover();
  expect(await title.getAttribute('title')).toBe(await title.locator('span').first().textContent());
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

test('facets count what each value would leave, and lead there', async () => {
  const { page, problems } = await web.open('/findings?status=open');
  await ready(page);
  await page.getByRole('group', { name: 'Filters with counts' }).getByRole('button', { name: 'Severity' }).click();
  const critical = page.getByRole('menuitemcheckbox', { name: /^Critical/ });
  await critical.waitFor();
  const { body } = await web.api('/findings?status=open&severity=critical&limit=1&total=exact');
  const total = (body.page as { total: { count: number } }).total.count;
  expect(await critical.textContent()).toBe(`Critical${total}`);
  await critical.click();
  await page.waitForURL('**/findings?status=open&severity=critical');
  await page.getByText(String(total), { exact: true }).first().waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('group', { name: 'Filters with counts' }).getByRole('button', { name: 'Source', exact: true }).click();
  await page.getByRole('menuitemcheckbox', { name: /^Trivy/ }).click();
  await page.waitForURL('**/findings?status=open&severity=critical&source=trivy');
  await page.getByRole('button', { name: 'Remove the filter Source: Trivy' }).waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('group', { name: 'Filters with counts' }).getByRole('button', { name: 'Source kind' }).click();
  await page.getByRole('menuitemcheckbox', { name: `Import ${total}` }).click();
  await page.getByRole('button', { name: 'Remove the filter Source kind: import' }).waitFor();
  expect(problems).toEqual([]);
});

test('a view is saved, renamed, opened by default and deleted', async () => {
  const { page, problems } = await web.open('/findings?severity=critical&has_fix=true');
  await ready(page);
  await page.getByRole('button', { name: 'Save view' }).click();
  await page.getByRole('textbox', { name: 'Name' }).fill('Critical with a fix');
  await page.keyboard.press('Enter');
  const views = page.getByRole('navigation', { name: 'Views' });
  await views.getByRole('link', { name: 'Critical with a fix' }).waitFor();
  await page.getByRole('button', { name: 'Change the view Critical with a fix' }).click();
  await page.getByRole('menuitem', { name: 'Rename' }).click();
  await page.getByRole('textbox', { name: 'Name' }).fill('Exploited');
  await page.keyboard.press('Enter');
  // Everybody has a view of this name. The own one stands in for it.
  await views.getByRole('link', { name: 'Exploited' }).and(page.locator('[aria-current=page]')).waitFor();
  expect(await views.getByRole('link', { name: 'Exploited' }).count()).toBe(1);
  await page.getByRole('button', { name: 'Change the view Exploited' }).click();
  await page.getByRole('menuitem', { name: 'Make it my default' }).click();
  await page.getByRole('status').getByText('The list opens with “Exploited” from now on.').waitFor();
  await page.keyboard.press('g');
  await page.keyboard.press('o');
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
  expect(await page.getByRole('link', { name: 'Findings', exact: true }).getAttribute('href')).toBe('/findings?severity=critical&has_fix=true');
  await page.keyboard.press('g');
  await page.keyboard.press('f');
  await page.getByRole('link', { name: 'Exploited', exact: true }).and(page.locator('[aria-current=page]')).waitFor();
  await page.getByRole('button', { name: 'Change the view Exploited' }).click();
  await page.getByRole('menuitem', { name: 'Delete' }).click();
  await views.locator('a[href*="kev=true"]').waitFor();
  expect((await web.api('/views')).body.data).toEqual([]);
  expect(problems).toEqual([]);
});

test('findings are grouped, and a group leads to its findings', async () => {
  const { page, problems } = await web.open('/findings?status=open');
  await ready(page);
  await page.getByLabel('Group by').selectOption('component');
  const groups = page.getByRole('grid', { name: 'Groups of findings' });
  await groups.getByRole('row').nth(1).waitFor();
  await expectAccessible(page, 'groups');
  await page.keyboard.press('j');
  const name = (await active(page).locator('[data-column=title]').textContent()) ?? '';
  await page.keyboard.press('Enter');
  await ready(page);
  expect(new URL(page.url()).searchParams.get('component')).toBeTruthy();
  expect(await rows(page).count()).toBe(2);
  expect(name).toContain(new URL(page.url()).searchParams.get('component'));
  expect(problems).toEqual([]);
});

test('the drawer goes on to the next finding, and people comment there', async () => {
  const { page, problems } = await web.open('/findings?status=open&severity=high&sort=-risk_score');
  await ready(page);
  await page.keyboard.press('j');
  await page.keyboard.press('Enter');
  const drawer = page.getByRole('complementary', { name: 'Finding' });
  const first = await drawer.getByRole('heading', { level: 2 }).first().textContent();
  await drawer.getByRole('button', { name: 'Next finding' }).click();
  await expect.poll(() => drawer.getByRole('heading', { level: 2 }).first().textContent(), { timeout: 20_000 }).not.toBe(first);
  await drawer.getByRole('textbox', { name: 'Comment' }).fill('Seen it in the logs');
  await drawer.getByRole('button', { name: 'Comment', exact: true }).click();
  await drawer.getByText('Seen it in the logs').waitFor();
  await drawer.getByRole('button', { name: 'Previous finding' }).click();
  await expect.poll(() => drawer.getByRole('heading', { level: 2 }).first().textContent(), { timeout: 20_000 }).toBe(first);
  await drawer.getByText('No comments yet.').waitFor();
  expect(problems).toEqual([]);
});

test('the service says which statuses are possible, and why others are not', async () => {
  const { body } = await web.api('/findings?status=open&severity=high&limit=1');
  const [first] = body.data as { id: string }[];
  await web.api(`/findings/${first?.id}`, { status: 'false_positive', justification: 'code_not_present', reason: 'Not used' }, 'PATCH');
  const { page, problems } = await web.open(`/findings/${first?.id}`);
  await page.getByRole('button', { name: /^Status/ }).waitFor();
  expect(await page.getByRole('button', { name: /^Remediated/ }).count()).toBe(0);
  await page.keyboard.press('r');
  await page.getByText('A finding that is false positive cannot become remediated.').waitFor();
  const dialog = page.getByRole('dialog', { name: /^Status: / });
  await dialog.getByRole('radio', { name: /^Open/ }).check();
  await dialog.getByLabel('Reason').fill('It is used after all');
  await page.getByRole('button', { name: 'Change the finding' }).click();
  await page.getByRole('button', { name: /^Remediated/ }).waitFor();
  expect(problems).toEqual([]);
});

test('a part of a page that fails leaves the others working', async () => {
  // The service never answers so. A part of the page must not believe it.
  const before = (opened: Page) =>
    opened.route(/\/api\/v1\/findings\/[0-9a-f-]{36}$/, async (route) => {
      const response = await route.fetch();
      await route.fulfill({ response, json: { ...((await response.json()) as object), sightings: null } });
    });
  const { page, problems } = await web.open('/findings?severity=low&sort=-risk_score', { before });
  await ready(page);
  await page.keyboard.press('j');
  await page.keyboard.press('Enter');
  const drawer = page.getByRole('complementary', { name: 'Finding' });
  await drawer.getByRole('alert').getByText('This part of the page failed').waitFor();
  await drawer.getByRole('heading', { name: 'History' }).waitFor();
  await expectAccessible(page, 'a failed part');
  await page.keyboard.press('j');
  await page.keyboard.press('t');
  await page.getByRole('dialog', { name: /^Tags: / }).waitFor();
  expect(problems.filter((problem) => !/sightings|reading 'map'|ErrorBoundary|error boundary|Boundary/.test(problem))).toEqual([]);
});

test('10,000 rows scroll, each screen of new rows takes less than 100 ms of processor time, and memory stays small', async () => {
  const { body } = await web.api('/findings?limit=1');
  const [row] = body.data as Record<string, unknown>[];
  const PAGES = 100;
  // The rows are made up inside the page, so that nobody has to import 10,000 findings, and nothing but the page is measured.
  const before = (opened: Page) => opened.addInitScript(madeUpFindings, { row, pages: PAGES });
  const { page, problems } = await web.open('/findings', { before });
  await ready(page);
  const { busy, heapMb } = await scrollToRow(page, PAGES * 100);
  await page.getByText(`Row ${PAGES * 100}`, { exact: true }).waitFor();
  // The processor time does not depend on what else the machine does, as the time of a frame would. Each position takes two frames. One may take longer,
  // for example because memory is collected.
  expect(Math.max(...busy) / 2).toBeLessThan(100);
  expect(busy.toSorted((a, b) => a - b).at(-2)).toBeLessThan(100);
  // Elements show other rows than before, still in the order in which they are read aloud.
  const order = await rows(page).evaluateAll((each) => each.map((row) => Number(row.getAttribute('aria-rowindex'))));
  expect(order).toEqual(order.toSorted((a, b) => a - b));
  expect(heapMb).toBeLessThan(100);
  // Rows that were left are read again.
  await page.evaluate("document.querySelector('[role=grid]').scrollTo(0, 0)");
  await page.getByText('Row 1', { exact: true }).waitFor();
  expect(problems).toEqual([]);
}, 120_000);

test('“Fix first” has what is exploited, overdue or at a high risk, and not all that is open', async () => {
  const exposed = { type: 'host', name: 'shop.example.com', criticality: 'critical', exposure: 'internet' };
  const { body: asset } = await web.api('/assets', exposed);
  const cvss = { vector: 'CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:C/C:H/I:H/A:H' };
  const { body: finding } = await web.api('/findings', { title: 'Open to everybody', severity: 'critical', cvss, asset_id: asset.id });
  const { page, problems } = await web.open('/findings');
  await ready(page);
  await page.getByRole('navigation', { name: 'Views' }).getByRole('link', { name: 'Fix first' }).click();
  await page.waitForURL('**/findings?fix_first=true&sort=-risk_score');
  await page.getByRole('button', { name: 'Remove the filter To fix first' }).waitFor();
  // The other findings are open as well, and neither at a high risk nor overdue.
  await expect.poll(() => rows(page).count(), { message: `of a risk of ${(finding.risk as { score: number }).score}` }).toBe(2);
  await rows(page).nth(1).getByText('Open to everybody').waitFor();
  expect(problems).toEqual([]);
});

test('a list that stopped counting counts all on request, and its query can be copied as a command', async () => {
  const before = (opened: Page) =>
    opened.route(/\/findings\?.*total=bounded/, async (route) => {
      const response = await route.fetch();
      const body = await response.json();
      await route.fulfill({ response, json: { ...body, page: { ...body.page, total: { count: 100, relation: 'at_least' } } } });
    });
  const { page, problems } = await web.open('/findings?has_fix=true&sort=-risk_score', { before });
  await ready(page);
  await page.getByRole('button', { name: 'Count all' }).click();
  const { body } = await web.api('/findings?has_fix=true&total=exact');
  await page.getByText(String((body.page as { total: { count: number } }).total.count), { exact: true }).waitFor();
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await page.getByRole('button', { name: 'Export' }).click();
  await page.getByRole('menuitem', { name: 'Copy as curl' }).click();
  await page.getByText('Copied').waitFor();
  const copied = await page.evaluate<string>('navigator.clipboard.readText()');
  expect(copied).toBe(`curl -H "Authorization: Bearer $RRS_API_KEY" "${new URL(page.url()).origin}/api/v1/findings?has_fix=true&sort=-risk_score"`);
  expect(problems).toEqual([]);
});

test('a finding shows the version that fixes it, and since when the fix is available', async () => {
  const asset = { type: 'host', name: 'patched.example.com' };
  const finding = { title: 'Old library', severity: 'info', asset, component: 'old-library', version: '1.0', fixed_version: '1.1' };
  await web.upload('patched.json', JSON.stringify([{ ...finding, fix_published_date: '2021-12-10' }]));
  const { body } = await web.api('/findings?component=old-library');
  const [first] = body.data as { id: string }[];
  const { page, problems } = await web.open(`/findings/${first?.id}`);
  await page.getByText('Fix available since').waitFor();
  await page.getByText('Dec 10, 2021').waitFor();
  expect(problems).toEqual([]);
});
