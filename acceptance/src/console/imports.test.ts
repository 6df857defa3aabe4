import { expect, test } from 'vitest';
import { expectAccessible } from './accessible.ts';
import { startConsole } from './console.ts';
import { trivyReport } from './reports.ts';

const web = startConsole();

test('reports are dropped on the page, and their findings are one click away', async () => {
  const { page, problems } = await web.open('/imports');
  await page.getByText('Drop reports here').waitFor();
  await expectAccessible(page, 'imports, empty');
  const files = `[new File([${JSON.stringify(trivyReport(12))}], 'first.json'), new File(['not a report'], 'second.txt')]`;
  const transfer = await page.evaluateHandle(`${files}.reduce((data, file) => (data.items.add(file), data), new DataTransfer())`);
  await page.getByText('Drop reports here').dispatchEvent('drop', { dataTransfer: transfer });
  const uploads = page.getByRole('region', { name: 'Uploads' });
  await uploads.getByText('12 new').waitFor();
  await uploads.getByText('Failed').waitFor();
  await uploads.getByRole('link', { name: 'first.json' }).click();
  await page.getByRole('heading', { name: 'first.json' }).waitFor();
  await page.getByRole('region', { name: 'Changes' }).getByRole('link', { name: 'Weakness 1 of library-1' }).first().waitFor();
  await expectAccessible(page, 'import');
  await page.getByRole('link', { name: 'As a list of findings' }).click();
  await page.getByRole('grid', { name: 'Findings' }).getByRole('row').nth(1).waitFor();
  expect(problems).toEqual([]);
});

test('files can be chosen with a button', async () => {
  const { page, problems } = await web.open('/imports');
  await page.getByText('Drop reports here').waitFor();
  await page
    .locator('input[type=file]')
    .setInputFiles({ name: 'chosen.json', mimeType: 'application/json', buffer: Buffer.from(trivyReport(3, 'registry.example.com/shop/db:2', 500)) });
  await page.getByRole('region', { name: 'Uploads' }).getByText('3 new').waitFor();
  expect(problems).toEqual([]);
});

test('the file of an import is downloaded and deleted, and its results stay', async () => {
  const { id } = await web.upload('again.json', trivyReport(2, 'registry.example.com/shop/api:1.0'));
  const { page, problems } = await web.open(`/imports/${id}`);
  const download = page.waitForEvent('download');
  await page.getByRole('link', { name: 'Download' }).click();
  expect((await download).suggestedFilename()).toBe('again.json');
  await page.getByRole('button', { name: 'Delete the file' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete the file' }).click();
  await page.getByText(/^Deleted by/).waitFor();
  await page.getByRole('region', { name: 'Changes' }).getByRole('link', { name: 'Weakness 1 of library-1' }).first().waitFor();
  expect(problems).toEqual([]);
});

test('an import that would close unusually many findings says so, and waits for a person', async () => {
  const image = 'registry.example.com/shop/withheld:1';
  const complete = `&scan_scope=${encodeURIComponent('{"coverage":"complete"}')}`;
  await web.upload('all.json', trivyReport(12, image, 2000), complete);
  // A scan that suddenly sees nothing is more often broken than clean.
  const { id } = await web.upload('none.json', trivyReport(0, image), complete);
  const { page, problems } = await web.open('/imports');
  const row = page.getByRole('row').filter({ hasText: 'none.json' });
  await row.getByText('Needs confirmation').waitFor();
  await row.getByText(/^12 of \d+ open findings of this source would be closed\. Confirm or discard the import\.$/).waitFor();
  await row.getByRole('link', { name: 'none.json' }).click();
  const question = page.getByRole('region', { name: 'This import waits for you' });
  await question.getByText(/^12 of \d+ open findings of this source would be closed\./).waitFor();
  await question.getByText('Check that the report is complete, then decide.').waitFor();
  await expectAccessible(page, 'an import that waits');
  await question.getByRole('button', { name: 'Discard and keep them open' }).click();
  await page.getByText('Discarded. Nothing was closed.').waitFor();
  await question.waitFor({ state: 'detached' });
  expect((await web.api(`/imports/${id}`)).body).toMatchObject({ counts: { closed: 0 } });

  const again = await web.upload('none-again.json', trivyReport(0, image), complete);
  await page.goto(`${web.service.url}/imports/${again.id}`);
  await question.getByRole('button', { name: 'Confirm and close them' }).click();
  await page.getByText('Confirmed. The findings are closed.').waitFor();
  // Each number leads to its changes.
  await page.getByRole('region', { name: 'Result' }).getByRole('link', { name: '12' }).click();
  await page.waitForURL('**?kind=closed#changes');
  await page.getByRole('region', { name: 'Changes' }).getByText('Open → Verified').first().waitFor();
  expect(problems).toEqual([]);
});
