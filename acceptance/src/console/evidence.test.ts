import { expect, test } from 'vitest';
import { expectAccessible } from './accessible.ts';
import { goTo, startConsole } from './console.ts';
import { chooseFiles, fileOf, type SealedPackage, sealPackage, shareLink, verdict } from './packages.ts';
import { trivyReport } from './reports.ts';

let first: SealedPackage;
let second: SealedPackage;
let checkpoint: string;
const web = startConsole(async (service) => {
  await web.upload('trivy.json', trivyReport(6));
  const { body } = await web.api('/findings?severity=low&limit=1');
  const [low] = body.data as { id: string }[];
  await web.api(`/findings/${low?.id}`, { status: 'false_positive', reason: 'The code is not used', justification: 'code_not_present' }, 'PATCH');
  first = await sealPackage(service, 'Update the web image');
  checkpoint = String((await web.api('/riskops-evidence/log/checkpoint')).body.note);
  second = await sealPackage(service, 'Update the base image');
});

const pages = () =>
  [
    ['/evidence', 'Evidence packages, table'],
    [`/evidence/${first.id}`, 'What it states'],
    [`/evidence/${first.id}?part=contents`, 'Decision register'],
    [`/evidence/${first.id}?part=verify`, 'What you trust'],
    [`/evidence/${first.id}?part=sharing`, 'Share links'],
    [`/evidence/${first.id}?part=files`, 'Downloads'],
    ['/evidence/new', 'Which work item?'],
    [`/evidence/new?work_item_id=${first.itemId}`, 'Seal it'],
    ['/evidence/log', 'Entries'],
    ['/evidence/keys', 'Signing keys'],
  ] as const;

// The walk of all pages opens them wide and in both themes.
test('every page is accessible and silent at 320 pixels', async () => {
  await shareLink(web.service, first.id);
  const { page, problems } = await web.open('/', { theme: 'dark', width: 320 });
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
  for (const [path, landmark] of pages()) {
    await goTo(page, path);
    if (path === '/evidence') await page.getByRole('grid', { name: 'Evidence packages' }).getByText('Update the web image').waitFor();
    else await page.getByRole('region', { name: landmark, exact: true }).first().waitFor();
    await page.locator('[aria-busy="true"]').first().waitFor({ state: 'detached' });
    await expectAccessible(page, path);
    expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth'), path).toBe(0);
    expect(problems, path).toEqual([]);
  }
});

test('a package is found by key, and shows what it states and who decided what', async () => {
  const { page, problems } = await web.open('/');
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
  await page.keyboard.press('g');
  await page.keyboard.press('e');
  await page.getByRole('grid', { name: 'Evidence packages' }).getByText('Update the base image').waitFor();
  await page.keyboard.press('j');
  await page.keyboard.press('j');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Update the web image' }).waitFor();
  await page.getByRole('region', { name: 'What it states' }).getByText('No time-stamping authority').waitFor();
  await page.getByRole('link', { name: 'Controls and decisions' }).click();
  const register = page.getByRole('region', { name: 'Decision register', exact: true });
  await register.getByText('Dismissed a finding as a false positive').waitFor();
  await register.getByText('The code is not used').waitFor();
  expect(problems).toEqual([]);
});

test('reading a package does not lead to reading it again', async () => {
  const viewed = async () => {
    const { body } = await web.api(`/audit-events?action=package.viewed&object_id=${second.id}&limit=50`);
    return (body.data as unknown[]).length;
  };
  const before = await viewed();
  const { page, problems } = await web.open(`/evidence/${second.id}?part=sharing`);
  await page.getByText('Nobody has a link').waitFor();
  await page.getByRole('img', { name: 'Live: changes arrive by themselves' }).waitFor();
  // The event of this link comes after those of reading, and shows on the page.
  await shareLink(web.service, second.id, { recipient: 'Barbara Liskov' });
  await page.getByText('Barbara Liskov').waitFor();
  // Sealing it for this test read it too.
  expect(await viewed()).toBe(before + 1);
  expect(problems).toEqual([]);
});

test('a package is previewed, sealed, and appears when it is ready', async () => {
  const { page, problems } = await web.open('/evidence');
  await page.getByRole('link', { name: 'Seal a package' }).click();
  await page.getByLabel('Find a work item').fill('base image');
  await page.getByRole('link', { name: 'Update the base image' }).click();
  await page.getByText('What a package of “Update the base image” would state now').waitFor();
  await page.getByText('Not remediated').waitFor();
  await page.getByText('6 findings, 1 scan').waitFor();
  await page.getByLabel('Findings (CSV)').uncheck();
  await page.getByLabel('Note').fill('For the audit of 2026');
  await page.getByRole('button', { name: 'Seal the package' }).click();
  await page.getByRole('region', { name: 'What it states' }).getByText('For the audit of 2026').waitFor();
  await page.getByRole('button', { name: 'Download' }).click();
  await page.getByRole('menuitem', { name: 'Report (PDF)' }).waitFor();
  expect(await page.getByRole('menuitem', { name: 'Findings (CSV)' }).count()).toBe(0);
  await page.keyboard.press('Escape');
  await page.getByRole('link', { name: 'All packages of this work item' }).click();
  await page.getByRole('grid').getByText('Superseded').click();
  await page.getByRole('note').getByRole('link', { name: 'Open the package that replaced it' }).waitFor();
  expect(problems).toEqual([]);
});

test('a package is shared once, for a time, and the link is revoked', async () => {
  const { page, problems } = await web.open(`/evidence/${first.id}?part=sharing`);
  await page.getByRole('button', { name: 'Share', exact: true }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('textbox', { name: 'For' }).fill('Margaret Hamilton');
  await dialog.getByLabel('Works for').selectOption('30 days');
  await dialog.getByLabel('Can be downloaded').selectOption('Once');
  await expectAccessible(page, 'share dialog');
  await dialog.getByRole('button', { name: 'Create the link' }).click();
  const link = await dialog.getByLabel('Link').inputValue();
  expect(link).toMatch(/\/shared\/shr_/);
  await dialog.getByRole('button', { name: 'Done' }).click();
  const row = page.getByRole('row').filter({ hasText: 'Margaret Hamilton' });
  await row.getByText('0 of 1').waitFor();
  const recipient = await web.open(new URL(link).pathname, { signedIn: false });
  await recipient.page.getByText('shared this evidence package with Margaret Hamilton').waitFor();
  await page.getByRole('button', { name: 'Revoke the link of Margaret Hamilton' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Revoke the link' }).click();
  await row.getByText('Revoked').waitFor();
  expect([...problems, ...recipient.problems]).toEqual([]);
});

test('a stored package is verified in the browser', async () => {
  const { page, problems } = await web.open(`/evidence/${first.id}?part=verify`);
  await page.getByRole('button', { name: 'Download and verify in this browser' }).click();
  await verdict(page, 'Verified').waitFor();
  expect(problems).toEqual([]);
});

test('the log shows that it only grew, and that entries are in it', async () => {
  const { page, problems } = await web.open('/evidence/log');
  await page.getByRole('button', { name: 'Check that entry 1 is in the log' }).click();
  await page.getByText(/Entry 1 is in the log: \d+ hash/).waitFor();
  await chooseFiles(page, 'Choose a checkpoint', fileOf('checkpoint.txt', checkpoint));
  await page.getByText('The log only grew since your checkpoint').waitFor();
  const forged = checkpoint.replace(/^[A-Za-z0-9+/]{43}=$/m, `${'A'.repeat(43)}=`);
  await chooseFiles(page, 'Choose a checkpoint', fileOf('forged.txt', forged));
  await page.getByRole('alert').getByText('The log was rewritten').waitFor();
  await chooseFiles(page, 'Choose a checkpoint', fileOf('other.txt', 'hello'));
  await page.getByRole('alert').getByText('This is not a checkpoint of a log.').waitFor();
  await page.getByRole('link', { name: 'Update the base image, No. 1' }).first().waitFor();
  expect(problems).toEqual([]);
});

test('a package that does not exist is a refusal with a reason', async () => {
  const { page, problems } = await web.open(`/evidence/nothing`, { expected: [400, 404] });
  await page.getByRole('alert').waitFor();
  await expectAccessible(page, 'no such package');
  expect(problems).toEqual([]);
});
