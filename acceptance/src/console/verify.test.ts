import { expect, test } from 'vitest';
import { container } from '../../../verifier/vectors/container.ts';
import { call } from '../http.ts';
import { until } from '../service.ts';
import { expectAccessible, expectAccessibleInBoth } from './accessible.ts';
import { startConsole } from './console.ts';
import { chooseFiles, fileOf, type SealedPackage, sealAgain, sealPackage, shareLink, tamperedWith, verdict } from './packages.ts';
import { trivyReport } from './reports.ts';

let sealed: SealedPackage;
const web = startConsole(async (service) => {
  await web.upload('trivy.json', trivyReport(8));
  sealed = await sealPackage(service, 'Update the web image');
});
const PUBLIC = { signedIn: false } as const;

test('a package is verified without an account, and nothing leaves the browser', async () => {
  const { page, problems } = await web.open('/verify', PUBLIC);
  await page.getByText('Compare the fingerprint').waitFor();
  await expectAccessibleInBoth(page, 'verify');
  await page.waitForLoadState('networkidle');
  const requests: string[] = [];
  page.on('request', (request) => requests.push(`${request.method()} ${request.url()}`));
  await chooseFiles(page, 'Choose a package', sealed.zip);
  await verdict(page, 'Verified').waitFor();
  const result = page.getByRole('region', { name: 'Result' });
  await result.getByText('Not remediated').waitFor();
  await result.getByRole('region', { name: 'Checks', exact: true }).getByText('Transparency log').waitFor();
  const { body } = await web.api(`/riskops-evidence/packages/${sealed.id}`);
  await result
    .getByText((body.signature as { key_id: string }).key_id)
    .first()
    .waitFor();
  await expectAccessibleInBoth(page, 'verified');
  expect(requests).toEqual([]);
  expect(problems).toEqual([]);
});

test('a tampered package is rejected with the check that failed', async () => {
  const { page, problems } = await web.open('/verify', PUBLIC);
  await chooseFiles(page, 'Choose a package', tamperedWith(sealed, 'Weakness 3 of library-3'));
  await verdict(page, 'Rejected').waitFor();
  const result = page.getByRole('region', { name: 'Result' });
  await result.getByText('A file differs from the one that was sealed. Its hash does not match.').first().waitFor();
  await result.getByText('payload_changed').first().waitFor();
  expect(await result.getByText('What the package states').count()).toBe(0);
  await expectAccessible(page, 'rejected');
  expect(problems).toEqual([]);
});

test('the person chooses the keys, and whose package it must be', async () => {
  const { page, problems } = await web.open('/verify', PUBLIC);
  await page.getByLabel('The keys that this service publishes').uncheck();
  await chooseFiles(page, 'Choose a package', sealed.zip);
  await verdict(page, 'Consistent, but not proven').waitFor();
  const keys = await fetch(`${web.service.url}/api/v1/riskops-evidence/keys`);
  await chooseFiles(page, 'Keys, certificates and checkpoints', fileOf('keys.json', await keys.text()));
  await verdict(page, 'Verified').waitFor();
  await page.getByText('Whose package it must be').click();
  await page.getByLabel('Organization id').fill('01994f3e-8a10-7c31-9d3c-5f1f4b8f0a11');
  await page.keyboard.press('Enter');
  await verdict(page, 'Rejected').waitFor();
  await page.getByText('The package belongs to another organization than the one you expect.').waitFor();
  await page.getByLabel('Organization id').fill('');
  await page.keyboard.press('Enter');
  await verdict(page, 'Verified').waitFor();
  await chooseFiles(page, 'Keys, certificates and checkpoints', fileOf('notes.txt', 'nothing useful'));
  await page.getByRole('alert').getByText('notes.txt contains no key').waitFor();
  await page.getByRole('button', { name: 'Remove notes.txt' }).click();
  await verdict(page, 'Verified').waitFor();
  expect(problems).toEqual([]);
});

test('a package is compared with an earlier and a newer one', async () => {
  const other = await sealPackage(web.service, 'Another work item');
  const next = await sealAgain(web.service, other.itemId);
  const { page, problems } = await web.open('/verify', PUBLIC);
  await chooseFiles(page, 'Choose a package', other.zip);
  await verdict(page, 'Verified').waitFor();
  await chooseFiles(page, 'Newer package', next.zip);
  await verdict(page, 'Verified, but superseded').waitFor();
  await chooseFiles(page, 'Newer package', sealed.zip);
  await page.getByText('it belongs to another work item, organization or log').waitFor();
  await page.getByRole('button', { name: 'Remove package.zip' }).click();
  await chooseFiles(page, 'Choose another package', next.zip);
  await chooseFiles(page, 'Earlier package', other.zip);
  await verdict(page, 'Verified').waitFor();
  await expectAccessible(page, 'compared');
  expect(problems).toEqual([]);
});

test('a package and keys are dropped together', async () => {
  const { page, problems } = await web.open('/verify', PUBLIC);
  await page.getByText('Drop a package here').waitFor();
  const files = `[new File([Uint8Array.from(atob('${sealed.bytes.toString('base64')}'), (c) => c.charCodeAt(0))], 'evidence.zip'), new File(['nothing'], 'notes.txt')]`;
  const transfer = await page.evaluateHandle(`${files}.reduce((data, file) => (data.items.add(file), data), new DataTransfer())`);
  await page.getByText('Drop a package here').dispatchEvent('drop', { dataTransfer: transfer });
  await page.getByRole('alert').getByText('notes.txt contains no key').waitFor();
  await page.getByRole('button', { name: 'Remove notes.txt' }).click();
  await verdict(page, 'Verified').waitFor();
  expect(problems).toEqual([]);
});

const HOSTILE = /bomb|compressed|same name|name that|name outside|parent folder|absolute name|backslash/;

test('hostile files are refused politely', async () => {
  const { page, problems } = await web.open('/verify', PUBLIC);
  const hostile = container.filter(({ name }) => HOSTILE.test(name));
  expect(hostile.length).toBeGreaterThan(5);
  await page.getByLabel('The keys that this service publishes').uncheck();
  for (const [index, vector] of hostile.entries()) {
    const name = `hostile-${index}.zip`;
    await chooseFiles(page, index === 0 ? 'Choose a package' : 'Choose another package', fileOf(name, (await vector.make()).zip));
    await page.locator('code').getByText(name).waitFor();
    await verdict(page, 'Rejected').waitFor();
  }
  await chooseFiles(page, 'Choose another package', fileOf('empty.zip', ''));
  await verdict(page, 'Rejected').waitFor();
  await page.getByText('The file is not a ZIP archive in the exact form of an evidence package.').first().waitFor();
  expect(problems).toEqual([]);
});

test('a browser that cannot check signatures says so', async () => {
  const script = "Object.defineProperty(crypto, 'subtle', { value: undefined })";
  const { page, problems } = await web.open('/verify', { ...PUBLIC, before: (opened) => opened.addInitScript(script) });
  await page.getByRole('alert').getByText('only on https pages').waitFor();
  await expectAccessible(page, 'no signatures');
  expect(problems).toEqual([]);
});

test('the result fits 320 pixels', async () => {
  const { page, problems } = await web.open('/verify', { ...PUBLIC, width: 320 });
  await chooseFiles(page, 'Choose a package', sealed.zip);
  await verdict(page, 'Verified').waitFor();
  expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBe(0);
  await expectAccessible(page, 'verified, 320 pixels');
  expect(problems).toEqual([]);
});

const uses = async (id: string) => {
  const { body } = await web.api(`/riskops-evidence/packages/${sealed.id}/share-links?limit=200`);
  return (body.data as { id: string; downloads: number; status: string }[]).find((link) => link.id === id);
};

test('an auditor with only a link reads, downloads and verifies, by key', async () => {
  const link = await shareLink(web.service, sealed.id, { max_downloads: 1 });
  const { page, problems } = await web.open(link.path, PUBLIC);
  await page.getByRole('heading', { name: 'Update the web image' }).waitFor();
  await page.getByText('shared this evidence package with Grace Hopper, Example Auditors').waitFor();
  await page.getByText('It allows 1 more download. Reading this page does not count.').waitFor();
  await page.getByRole('region', { name: 'At a glance' }).getByText('Not remediated').waitFor();
  await expectAccessible(page, 'shared');
  expect(await uses(link.id)).toMatchObject({ downloads: 0, status: 'active' });

  // The focus walks from one control to the next, as for somebody without a mouse.
  const verify = page.getByRole('button', { name: 'Download and verify here (counts as a download)' });
  for (let step = 0; step < 60 && !(await verify.evaluate((button) => button === button.ownerDocument.activeElement)); step++) await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await verdict(page, 'Verified').waitFor();
  await page.getByText('No download is left.').waitFor();
  await expectAccessible(page, 'shared and verified');
  expect(await uses(link.id)).toMatchObject({ downloads: 1, status: 'used_up' });
  const save = page.getByRole('button', { name: 'Save the verified file' });
  await save.focus();
  const [download] = await Promise.all([page.waitForEvent('download'), page.keyboard.press('Enter')]);
  expect(download.suggestedFilename()).toMatch(/^evidence-.+\.zip$/);
  expect(await uses(link.id)).toMatchObject({ downloads: 1 });
  expect(problems).toEqual([]);
});

test('files are downloaded from the page, and each download counts', async () => {
  const link = await shareLink(web.service, sealed.id, { max_downloads: 2 });
  const { page, problems } = await web.open(link.path, PUBLIC);
  for (const [name, file] of [
    ['Package (ZIP)', /\.zip$/],
    ['Report (PDF)', /\.pdf$/],
  ] as const) {
    const button = page.getByRole('link', { name }).first();
    await button.focus();
    const [download] = await Promise.all([page.waitForEvent('download'), page.keyboard.press('Enter')]);
    expect(download.suggestedFilename()).toMatch(file);
  }
  await page.getByText('No download is left.').waitFor();
  expect(await page.getByRole('button', { name: 'Package (ZIP)' }).isDisabled()).toBe(true);
  expect(problems).toEqual([]);
});

test('a link that is unknown, expired or revoked says what to do', async () => {
  const [expired, revoked] = [
    await shareLink(web.service, sealed.id, { expires_at: new Date(Date.now() + 1000).toISOString() }),
    await shareLink(web.service, sealed.id),
  ];
  await web.api(`/riskops-evidence/packages/${sealed.id}/share-links/${revoked.id}`, undefined, 'DELETE');
  await until('the link is expired', async () => (await uses(expired.id))?.status === 'expired');
  for (const path of [expired.path, revoked.path, '/shared/nonsense']) {
    const { page, problems } = await web.open(path, { ...PUBLIC, expected: [404] });
    await page.getByRole('heading', { name: 'This link does not work' }).waitFor();
    await expectAccessible(page, 'no link');
    expect(problems).toEqual([]);
  }
});

test('programs follow a share link to the API', async () => {
  const { url } = await shareLink(web.service, sealed.id, { max_downloads: 1 });
  const response = await fetch(url, { headers: { accept: '*/*' }, redirect: 'manual' });
  expect([response.status, response.headers.get('location')]).toEqual([302, `/api/v1/riskops-evidence${new URL(url).pathname}`]);
  const { body } = await call(web.service.url, `/api/v1/riskops-evidence${new URL(url).pathname}`, {});
  expect(body).toMatchObject({ package_id: sealed.id, work_item_title: 'Update the web image', remaining_downloads: 1 });
});
