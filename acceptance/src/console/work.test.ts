import { createHash } from 'node:crypto';
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { expectAccessible, expectAccessibleInBoth } from './accessible.ts';
import { OWNER, startConsole } from './console.ts';
import { trivyReport } from './reports.ts';

const web = startConsole(async () => {
  await web.upload('trivy.json', trivyReport(24));
});

interface Item {
  id: string;
  title: string;
  status: string;
  version: number;
  findings: { total: number };
}

let taken = 0;
/** A work item with findings that no other one has. */
async function newItem(title: string, findings = 1): Promise<Item> {
  const { body } = await web.api(`/findings?limit=${findings}&has_work_item=false&sort=-risk_score`);
  const finding_ids = (body.data as { id: string }[]).map(({ id }) => id);
  taken += findings;
  const { body: item } = await web.api('/work-items', { title, finding_ids });
  expect(item.id, JSON.stringify([item, taken])).toBeDefined();
  return item as unknown as Item;
}
const read = async (id: string) => (await web.api(`/work-items/${id}`)).body as unknown as Item;
const column = (page: Page, name: string) => page.getByRole('region', { name, exact: true });

test('findings become a work item by key: the title is proposed, and the list of work shows it', async () => {
  const { page, problems } = await web.open('/findings?status=open&severity=low&sort=-risk_score');
  await page.getByRole('grid', { name: 'Findings' }).getByRole('row').nth(1).waitFor();
  for (const key of ['j', 'x', 'j', 'x', 'w']) await page.keyboard.press(key);
  const dialog = page.getByRole('dialog', { name: 'Work item for 2 findings' });
  await dialog.waitFor();
  expect(await dialog.getByLabel('Title').inputValue()).toContain('Fix 2 findings on');
  await expectAccessible(page, 'new work item');
  // The service searches for members.
  const asked = page.waitForRequest((request) => request.url().includes('/members?limit=20&q=love'));
  await dialog.getByLabel('Assignee').fill('love');
  await asked;
  await dialog.locator('option[value="ada@example.com"]').waitFor({ state: 'attached' });
  await dialog.getByLabel('Title').fill('Update two libraries');
  await page.keyboard.press('Enter');
  await page.getByRole('status').getByText('Created the work item “Update two libraries”.').waitFor();
  await page.getByRole('button', { name: 'Open', exact: true }).click();
  await page.getByRole('heading', { name: 'Update two libraries' }).waitFor();
  await page.getByRole('table').getByRole('row').nth(2).waitFor();
  expect(await page.getByRole('table').getByRole('row').count()).toBe(3);
  await page.keyboard.press('g');
  await page.keyboard.press('w');
  await page.getByRole('grid', { name: 'Work items' }).getByText('Update two libraries').waitFor();
  expect(problems).toEqual([]);
});

test('findings are added to a work item that exists', async () => {
  const item = await newItem('Something to add to');
  const { page, problems } = await web.open('/findings?status=open&has_work_item=false&sort=-risk_score', { width: 1920 });
  await page.getByRole('grid', { name: 'Findings' }).getByRole('row').nth(1).waitFor();
  await page.keyboard.press('j');
  await page.keyboard.press('w');
  await page.getByRole('dialog').getByText('Existing').click();
  await page.getByRole('combobox', { name: 'Work item' }).fill('something to');
  await page.getByRole('option', { name: 'Something to add to' }).click();
  await page.getByRole('button', { name: 'Add to the work item' }).click();
  await page.getByText('1 finding changed.').waitFor();
  expect((await read(item.id)).findings.total).toBe(2);
  // Wide lists have a column for it, and the row knows at once.
  await page.locator('tr[data-active] [data-column=work]').getByText('Something to add to').waitFor();
  expect(problems).toEqual([]);
});

test('list, board and all parts of a work item are accessible', async () => {
  const item = await newItem('Looked at');
  const { page, problems } = await web.open('/work?sort=due_at');
  await page.getByRole('grid', { name: 'Work items' }).getByRole('row').nth(1).waitFor();
  await expectAccessibleInBoth(page, 'work');
  await page.getByRole('navigation', { name: 'List or board' }).getByRole('link', { name: 'Board' }).click();
  await column(page, 'Open').getByText(item.title).waitFor();
  await expectAccessibleInBoth(page, 'board');
  await page.goto(`${web.service.url}/work/${item.id}`);
  await page.getByRole('heading', { name: 'What a package would lack' }).waitFor();
  await page.getByText('Major').first().waitFor();
  await expectAccessibleInBoth(page, 'work item');
  for (const [tab, heading] of [
    ['Proof', 'No proof yet'],
    ['Tickets', 'No tickets'],
    ['Approvals', 'The state now'],
    ['Packages', 'No packages yet'],
    ['Activity', 'Timeline'],
  ] as const) {
    await page.getByRole('navigation', { name: 'Parts of the work item' }).getByRole('link', { name: tab }).click();
    await page.getByRole('heading', { name: heading }).waitFor();
    await expectAccessibleInBoth(page, tab);
  }
  await page.goto(`${web.service.url}/work/drift`);
  await page.getByRole('heading', { name: 'All tickets are in sync' }).waitFor();
  await expectAccessibleInBoth(page, 'drift');
  expect(problems).toEqual([]);
});

test('a card moves by key and by drag, as far as the findings allow', async () => {
  const item = await newItem('Moved around');
  const { page, problems } = await web.open('/work/board?q=moved');
  await column(page, 'Open').getByText(item.title).waitFor();
  await page.keyboard.press('j');
  await page.keyboard.press('Shift+L');
  await column(page, 'In progress').getByText(item.title).waitFor();
  expect(await read(item.id)).toMatchObject({ status: 'in_progress' });

  await page.getByRole('button', { name: 'Move Moved around' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('radio', { name: /^Blocked/ }).check();
  await dialog.getByLabel('Reason').fill('Waits for a window');
  await page.getByRole('button', { name: 'Set to blocked' }).click();
  await column(page, 'Blocked').getByText(item.title).waitFor();

  const card = page.locator(`[data-card="${item.id}"]`);
  await card.dragTo(column(page, 'In progress'));
  await column(page, 'In progress').getByText(item.title).waitFor();
  await card.dragTo(column(page, 'Verified'));
  await page.getByText('A work item closes by itself, when all its findings are verified or excepted.').waitFor();
  expect(await read(item.id)).toMatchObject({ status: 'in_progress' });
  expect(problems).toEqual([]);
});

test('an edit shows both versions if somebody else was faster', async () => {
  const item = await newItem('Edited by two');
  const { page, problems } = await web.open(`/work/${item.id}`, { expected: [412] });
  await page.getByRole('button', { name: 'Edit' }).click();
  const dialog = page.getByRole('dialog', { name: 'Edit the work item' });
  await dialog.getByLabel('Title').fill('My title');
  await web.api(`/work-items/${item.id}`, { title: 'Their title', assignee: 'Grace' }, 'PATCH');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await dialog.getByRole('row', { name: 'Title Their title My title' }).waitFor();
  await dialog.getByRole('row', { name: 'Assignee Grace –' }).waitFor();
  await expectAccessible(page, 'conflict');
  expect((await read(item.id)).title).toBe('Their title');
  await dialog.getByRole('button', { name: 'Save my version' }).click();
  await page.getByRole('heading', { name: 'My title' }).waitFor();
  expect((await read(item.id)).title).toBe('My title');
  expect(problems).toEqual([]);
});

test('an approval is about the state that the person saw, and shows it later', async () => {
  const item = await newItem('To be approved');
  const { page, problems } = await web.open(`/work/${item.id}?tab=approvals`, { expected: [409] });
  await page.getByRole('button', { name: 'Approve' }).click();
  const dialog = page.getByRole('dialog', { name: 'Approve this state' });
  await dialog.getByText('“To be approved”: 1 finding').waitFor();
  await web.api(`/work-items/${item.id}`, { title: 'Changed meanwhile' }, 'PATCH');
  await dialog.getByRole('button', { name: 'Approve' }).click();
  await dialog.getByRole('alert').getByText('is not the current state of the work item').waitFor();
  await dialog.getByText('“Changed meanwhile”: 1 finding').waitFor();
  await dialog.getByRole('button', { name: 'Approve' }).click();
  await page.getByText('Approved by Ada Lovelace').waitFor();
  await page.getByText('the state is the same now').waitFor();

  await web.api(`/work-items/${item.id}`, { title: 'Changed afterwards' }, 'PATCH');
  await page.reload();
  await page.getByText('the state changed since').waitFor();
  await page.getByText('What was approved').click();
  await page.getByText('“Changed meanwhile”: 1 finding').waitFor();
  await expectAccessible(page, 'approvals');
  expect(problems).toEqual([]);
});

test('proof is added with its hash, and a package says what it lacks before it is sealed', async () => {
  const item = await newItem('Proven');
  const { page, problems } = await web.open(`/work/${item.id}?tab=proof`);
  await page.getByRole('heading', { name: 'No proof yet' }).waitFor();
  const content = Buffer.from('all tests passed');
  await page.locator('input[type=file]').setInputFiles({ name: 'result.txt', mimeType: 'text/plain', buffer: content });
  const sha256 = createHash('sha256').update(content).digest('hex');
  await page.getByRole('dialog').getByTitle(sha256).waitFor();
  await page.getByRole('button', { name: 'Add the file' }).click();
  await page.getByRole('link', { name: 'result.txt' }).waitFor();
  expect(await page.getByRole('table').getByTitle(sha256).count()).toBe(1);
  await page.getByRole('button', { name: 'Add a link' }).click();
  await page.getByLabel('Address').fill('https://example.com/pull/7');
  await page.getByLabel('Title').fill('Pull request 7');
  await page.getByRole('button', { name: 'Add the link' }).click();
  await page.getByRole('link', { name: 'Pull request 7' }).waitFor();
  await expectAccessible(page, 'proof');

  await page.getByRole('navigation', { name: 'Parts of the work item' }).getByRole('link', { name: 'Packages' }).click();
  await page.getByRole('button', { name: 'Seal a package' }).click();
  const dialog = page.getByRole('dialog', { name: 'Seal a package' });
  await dialog.getByText('1 finding, 1 scan and 2 artifacts').waitFor();
  await dialog.getByText('Not remediated').waitFor();
  await expectAccessible(page, 'seal');
  await dialog.getByLabel('Note').fill('First');
  await dialog.getByRole('button', { name: 'Seal with these gaps' }).click();
  await page.getByRole('row', { name: /Package 1 Ready Grade/ }).waitFor();
  expect(problems).toEqual([]);
});

test('people talk about the work, and withdraw what they said', async () => {
  const item = await newItem('Talked about');
  const { page, problems } = await web.open(`/work/${item.id}?tab=activity`);
  await page.getByRole('textbox', { name: 'Comment' }).fill('<b>Not markup</b>');
  await page.keyboard.press('Control+Enter');
  await page.getByText('<b>Not markup</b>').waitFor();
  await page.getByRole('button', { name: 'Withdraw the comment of Ada Lovelace' }).click();
  await page.getByText('Withdrawn by Ada Lovelace.').waitFor();
  expect(problems).toEqual([]);
});

test('work fits on 320 pixels', async () => {
  const item = await newItem('On a phone');
  await web.api(`/work-items/${item.id}`, { assignee: OWNER.email }, 'PATCH');
  for (const path of ['/work?q=phone', '/work/board', `/work/${item.id}`]) {
    const { page, problems } = await web.open(path, { width: 320 });
    await page.getByText('On a phone').first().waitFor();
    await page.getByText(OWNER.name, { exact: true }).first().waitFor();
    expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth'), path).toBe(0);
    await expectAccessible(page, `${path}, 320 pixels`);
    expect(problems).toEqual([]);
  }
});
