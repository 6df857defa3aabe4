import type { Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { fakes, type RunningFake, serveFake } from '../../../connectors/src/fakes.ts';
import { commands } from '../../../console/src/keys/commands.ts';
import { startVendor, type Vendor } from '../vendor.ts';
import { goTo, startConsole } from './console.ts';
import { BOARD, FINDINGS, keyEffects, pressKeys } from './key-effects.ts';
import { fileOf, verdict } from './packages.ts';
import { trivyReport } from './reports.ts';

let scanner: Vendor;
let jira: RunningFake;
/** Set by `npm run test:journeys`: how many findings the organization has beside those of the journeys. */
const MORE = Number(process.env.RRS_JOURNEY_FINDINGS ?? 0);
const EACH = 10_000;
const web = startConsole(async () => {
  for (let n = 0; n < MORE; n += EACH) await web.upload('more.json', trivyReport(EACH, `registry.example.com/other/image-${n}:1`, 10_000 + n));
  await web.upload('trivy.json', trivyReport(40, 'registry.example.com/shop/keys:1'));
  // Findings at the end of the list: what happens to the work items does not change its first rows.
  const { body } = await web.api('/findings?severity=low&limit=2');
  const [first, second] = body.data as { id: string }[];
  await web.api('/work-items', { title: 'On the board', finding_ids: [first?.id] });
  const { body: started } = await web.api('/work-items', { title: 'Started', finding_ids: [second?.id] });
  await web.api(`/work-items/${started.id}`, { status: 'in_progress' }, 'PATCH');
});
const vendor = fakes.find(({ id }) => id === 'jira');
beforeAll(async () => {
  if (vendor === undefined) throw new Error('there is no fake of Jira');
  scanner = await startVendor();
  scanner.setSize({ issues: 12, records: 0 });
  jira = await serveFake(vendor, { pageSize: 50 });
});
afterAll(async () => {
  scanner.close();
  await jira.close();
});

/** Presses Tab until the element has the focus, as somebody without a mouse does. */
async function tabTo(page: Page, target: Locator): Promise<void> {
  await target.first().waitFor();
  for (let step = 0; step < 150; step++) {
    if (await target.first().evaluate((element) => element === element.ownerDocument.activeElement)) return;
    await page.keyboard.press('Tab');
  }
  throw new Error(`the Tab key does not lead to ${String(target)}`);
}
async function follow(page: Page, target: Locator): Promise<void> {
  await tabTo(page, target);
  await page.keyboard.press('Enter');
}
async function type(page: Page, target: Locator, text: string): Promise<void> {
  await tabTo(page, target);
  await page.keyboard.press('Control+a');
  await page.keyboard.type(text);
}
const press = async (page: Page, ...keys: string[]) => {
  for (const key of keys) await page.keyboard.press(key);
};
const rows = (page: Page) => page.getByRole('grid', { name: 'Findings' }).getByRole('row');
const total = async (query: string): Promise<number> => {
  const { body } = await web.api(`/findings?${query}&limit=1&total=exact`);
  return (body.page as { total: { count: number } }).total.count;
};

/** More than forty keys, one after the other. */
const LONG_MS = 120_000;

test(
  'every key of the console does what the help says',
  async () => {
    const { page, problems } = await web.open(FINDINGS);
    for (const [name, { path, check }] of Object.entries(keyEffects)) {
      for (const keys of commands[name as keyof typeof commands].keys) {
        // Each key begins on the page as it opens: nothing is selected, no row is active.
        await goTo(page, '/settings/usage');
        await goTo(page, path);
        await (path === BOARD ? page.getByRole('link', { name: 'Started' }) : rows(page).nth(1)).waitFor();
        await check(page, () => pressKeys(page, keys)).catch((error: unknown) => {
          throw new Error(`${name} (${keys})`, { cause: error });
        });
      }
    }
    expect(problems).toEqual([]);
  },
  LONG_MS,
);

test('letters do nothing if somebody switched them off, and keys with Ctrl still work', async () => {
  const { page, problems } = await web.open(FINDINGS);
  await rows(page).nth(1).waitFor();
  await page.evaluate("localStorage.setItem('rrs-letterKeys', 'off')");
  await page.reload();
  await rows(page).nth(1).waitFor();
  await press(page, 'j', 'x', '?');
  await press(page, 'Control+k');
  await page.getByRole('dialog', { name: 'Search or run a command' }).waitFor();
  expect(await page.locator('tr[data-active]').count()).toBe(0);
  expect(problems).toEqual([]);
});

test('journey 1: a hundred findings are triaged with thirty keys', async () => {
  await web.upload('hundred.json', trivyReport(100, 'registry.example.com/shop/triage:1', 1000));
  const query = 'asset=registry.example.com/shop/triage';
  const { page, problems } = await web.open('/');
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
  let pressed = 0;
  const key = async (...keys: string[]) => {
    pressed += keys.length;
    await press(page, ...keys);
  };
  const bulk = async (count: number) => {
    await key('Control+Enter');
    await page.getByRole('dialog').getByText(`${count} of ${count} findings change.`).waitFor();
    await key('Enter');
    await page.getByRole('dialog').waitFor({ state: 'hidden' });
    // That of the change before may still be there.
    await page.getByText(`${count} findings changed.`).last().waitFor();
    await key('Escape');
  };
  const filter = async (text: string, severity: RegExp, count: number) => {
    await key('/');
    await page.keyboard.type(text);
    await key('Enter');
    // The rows of the filter before stay until those of this one are there.
    await rows(page).nth(1).getByText(severity).waitFor();
    await key('Escape', 'Control+a');
    await page.getByText(`${count} selected`).waitFor();
  };
  await key('g', 'f');
  await rows(page).nth(1).waitFor();
  // Equals together: one dialog and one request for each dozen.
  await filter('asset:registry.example.com/shop/triage severity:low', /^Low$/, 25);
  await key('f');
  await page.getByRole('dialog').getByLabel('Reason').waitFor();
  await key('Tab');
  await page.keyboard.type('The code is not used');
  await bulk(25);
  // Those that are triaged no longer match the view.
  await filter('severity:medium', /^Medium$/, 25);
  await key('a');
  await page.getByRole('dialog').getByLabel('Reason').waitFor();
  await key('Tab', 'Tab');
  await page.keyboard.type('Only in the test environment');
  await bulk(25);
  await filter('severity:critical,high', /^(?:Critical|High)$/, 50);
  await key('e');
  await page.getByRole('dialog').getByLabel('Reason').waitFor();
  await bulk(50);
  expect([await total(`${query}&status=open`), await total(`${query}&status=in_progress`), await total(`${query}&status=false_positive`)]).toEqual([0, 50, 25]);
  expect(pressed).toBeLessThanOrEqual(30);
  expect(problems).toEqual([]);
});

test('journey 2: a report is imported, and its findings are a key away', async () => {
  const { page, problems } = await web.open('/');
  const report = fileOf('by-key.json', trivyReport(7, 'registry.example.com/shop/imported:1', 3000));
  page.on('filechooser', (chooser) => void chooser.setFiles(report));
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
  await press(page, 'g', 'i');
  await page.getByText('Drop reports here').waitFor();
  await press(page, 'c');
  const uploads = page.getByRole('region', { name: 'Uploads' });
  await uploads.getByText('7 new').waitFor();
  await follow(page, uploads.getByRole('link', { name: 'by-key.json' }));
  await page.getByRole('heading', { name: 'by-key.json' }).waitFor();
  await follow(page, page.getByRole('link', { name: 'As a list of findings' }));
  await rows(page).nth(7).waitFor();
  expect(await rows(page).count()).toBe(8);
  expect(problems).toEqual([]);
});

test('journey 3: a scanner is connected, tested and run', async () => {
  const { page, problems } = await web.open('/');
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
  await press(page, 'g', 'n');
  await page.getByRole('heading', { name: 'No connections' }).waitFor();
  await press(page, 'c');
  await page.getByRole('heading', { name: 'Connect' }).waitFor();
  await press(page, '/');
  await page.keyboard.type('snyk');
  await follow(page, page.locator('a[href="/integrations/new/snyk"]'));
  await type(page, page.locator('[name="/config/api_url"]'), scanner.origin);
  await type(page, page.locator('[name="/config/organization_id"]'), 'acme');
  await type(page, page.locator('[name="/credentials/token"]'), 'the-secret-token-6789');
  await follow(page, page.getByRole('button', { name: 'Test and save' }));
  await page.getByRole('heading', { level: 1, name: 'Snyk' }).waitFor();
  await follow(page, page.getByRole('button', { name: 'Sync now' }));
  await page.getByRole('region', { name: 'Runs', exact: true }).getByText('12 new').waitFor();
  await follow(page, page.getByRole('link', { name: 'Findings of this connection' }));
  await rows(page).nth(12).waitFor();
  expect(problems).toEqual([]);
});

test('journey 4: findings become work, with a ticket, proof and an approval', async () => {
  await web.upload('work.json', trivyReport(2, 'registry.example.com/shop/work:1', 4000));
  await web.api('/integrations', { provider: 'jira', ...vendor?.settings(jira.origin), schedule: null });
  const { page, problems } = await web.open('/findings?asset=registry.example.com/shop/work&status=open');
  await rows(page).nth(2).waitFor();
  await press(page, 'j', 'x', 'j', 'x', 'w');
  const dialog = page.getByRole('dialog', { name: 'Work item for 2 findings' });
  await dialog.getByLabel('Title').waitFor();
  await type(page, dialog.getByLabel('Title'), 'Update by key');
  await page.keyboard.press('Enter');
  await page.getByRole('status').getByText('Created the work item “Update by key”.').waitFor();
  await press(page, 'Escape', 'g', 'w');
  const works = page.getByRole('grid', { name: 'Work items' });
  await works.getByText('Update by key').waitFor();
  await press(page, '/');
  await page.keyboard.type('update');
  await press(page, 'Enter');
  await page.waitForURL('**q=update**');
  await works.getByText('On the board').waitFor({ state: 'detached' });
  await press(page, 'Escape', 'j', 'Enter');
  await page.getByRole('heading', { level: 1, name: 'Update by key' }).waitFor();
  const part = (name: string | RegExp) => follow(page, page.getByRole('navigation', { name: 'Parts of the work item' }).getByRole('link', { name }));

  await part(/^Tickets/);
  await follow(page, page.getByRole('button', { name: 'Create a ticket' }));
  await page.getByRole('dialog').getByLabel('System').waitFor();
  await press(page, 'Control+Enter');
  await page.getByRole('article', { name: /^SEC-/ }).waitFor();

  await part('Proof');
  await follow(page, page.getByRole('button', { name: 'Add a link' }));
  await type(page, page.getByLabel('Address'), 'https://example.com/pull/7');
  await type(page, page.getByLabel('Title'), 'Pull request 7');
  await press(page, 'Enter');
  await page.getByRole('link', { name: 'Pull request 7' }).waitFor();

  await part(/^Findings/);
  await follow(page, page.getByRole('link', { name: 'As a list of findings' }));
  await rows(page).nth(2).waitFor();
  await press(page, 'Control+a', 'r');
  await page.getByRole('dialog').getByLabel('Reason').waitFor();
  await page.keyboard.type('Updated the image');
  await press(page, 'Control+Enter');
  await page.getByRole('dialog').getByText('2 of 2 findings change.').waitFor();
  await press(page, 'Enter');
  await page.getByText('2 findings changed.').waitFor();

  await page.goBack();
  await part(/^Approvals/);
  await follow(page, page.getByRole('button', { name: 'Approve' }));
  await page.getByRole('dialog').getByText('“Update by key”: 2 findings').waitFor();
  await press(page, 'Control+Enter');
  await page.getByText('Approved by Ada Lovelace').waitFor();
  expect(problems).toEqual([]);
});

test('journey 5: a package is sealed, shared, and verified by somebody without an account', async () => {
  await web.upload('sealed.json', trivyReport(2, 'registry.example.com/shop/sealed:1', 5000));
  const { body } = await web.api('/work-items', { title: 'Sealed by key', filter: { asset: 'registry.example.com/shop/sealed' } });
  const { page, problems } = await web.open(`/work/${body.id}?tab=packages`);
  await follow(page, page.getByRole('button', { name: 'Seal a package' }));
  await page.getByRole('dialog').getByText('2 findings, 1 scan and 0 artifacts').waitFor();
  await press(page, 'Control+Enter');
  await page.getByRole('row', { name: /Package 1 Ready/ }).waitFor();
  await follow(page, page.getByRole('link', { name: 'Package 1' }));
  await follow(page, page.getByRole('link', { name: 'Sharing' }));
  await page.getByText('Nobody has a link').waitFor();
  await follow(page, page.getByRole('button', { name: 'Share', exact: true }));
  const dialog = page.getByRole('dialog');
  await type(page, dialog.getByRole('textbox', { name: 'For' }), 'Margaret Hamilton');
  await press(page, 'Enter');
  const link = await dialog.getByLabel('Link').inputValue();
  await follow(page, dialog.getByRole('button', { name: 'Done' }));

  const auditor = await web.open(new URL(link).pathname, { signedIn: false });
  await follow(auditor.page, auditor.page.getByRole('button', { name: /^Download and verify here/ }));
  await verdict(auditor.page, 'Verified').waitFor();
  // The sender sees the receipt without asking for it.
  await page.getByRole('row').filter({ hasText: 'Margaret Hamilton' }).getByText('1', { exact: true }).waitFor();
  expect([...problems, ...auditor.problems]).toEqual([]);
});
