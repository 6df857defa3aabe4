import { expect, test } from 'vitest';
import { expectAccessible } from './accessible.ts';
import { startConsole } from './console.ts';
import { trivyReport } from './reports.ts';

const web = startConsole(async () => {
  await web.upload('web.json', trivyReport(8, 'registry.example.com/shop/web:1.4'));
  await web.upload('db.json', trivyReport(5, 'registry.example.com/shop/db:2', 500));
  const { body } = await web.api('/findings?limit=3');
  const [first, second, third] = body.data as { id: string }[];
  await web.api(`/findings/${first?.id}`, { status: 'in_progress' }, 'PATCH');
  await web.api(`/findings/${second?.id}`, { status: 'remediated', reason: 'Updated' }, 'PATCH');
  await web.api('/work-items', { title: 'To do', finding_ids: [third?.id] });
});

const idOf = async (name: string): Promise<string> => {
  const { body } = await web.api(`/assets?name=${encodeURIComponent(name)}`);
  return (body.data as { id: string }[])[0]?.id ?? '';
};

test('every number of the overview is the total of the list that it leads to', async () => {
  const { page, problems } = await web.open('/');
  await page.getByRole('heading', { name: 'By status' }).waitFor();
  await page.getByRole('heading', { name: 'Work', exact: true }).waitFor();
  // All at once: parts of the page that arrive later would move the others.
  const links = await page
    .locator('main a:has(strong), main a.bad')
    .evaluateAll((all) => all.map((link) => ({ href: String(link.getAttribute('href')), text: (link.querySelector('strong') ?? link).textContent ?? '' })));
  const numbers = links.map(({ href, text }) => ({ href, shown: Number(/\d[\d,]*/.exec(text)?.[0].replaceAll(',', '')) }));
  expect(numbers.length).toBeGreaterThan(18);
  expect(numbers.filter(({ shown }) => shown > 0).length).toBeGreaterThan(6);
  for (const { href, shown } of numbers) {
    const url = new URL(href, web.service.url);
    url.searchParams.set('total', 'exact');
    url.searchParams.set('limit', '1');
    const list = url.pathname === '/work' ? '/work-items' : url.pathname;
    const { body } = await web.api(`${list}${url.search}`);
    expect([href, (body.page as { total: { count: number } }).total.count]).toEqual([href, shown]);
  }
  expect(problems).toEqual([]);
});

test('an asset is created, renamed, and another one of the same name is not', async () => {
  await web.api('/assets', { type: 'host', name: 'build-7' });
  const { page, problems } = await web.open('/assets', { expected: [409] });
  await page.getByRole('grid', { name: 'Assets' }).getByRole('row').nth(1).waitFor();
  await page.keyboard.press('c');
  const dialog = page.getByRole('dialog', { name: 'New asset' });
  await dialog.getByLabel('Name').fill('build-7.example.com');
  await expectAccessible(page, 'new asset');
  await dialog.getByRole('button', { name: 'Create the asset' }).click();
  await page.getByRole('heading', { name: 'build-7.example.com' }).waitFor();
  // The same name without its domain may be the same host.
  await page.getByText('May be the same').waitFor();
  await page.getByRole('link', { name: 'build-7', exact: true }).waitFor();
  await page.getByRole('button', { name: 'Edit' }).click();
  await page.getByRole('dialog').getByLabel('Name').fill('build-8.example.com');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('heading', { name: 'build-8.example.com' }).waitFor();
  await page.goto(`${web.service.url}/assets`);
  await page.getByRole('button', { name: 'New asset' }).click();
  await dialog.getByLabel('Name').fill('build-7.example.com');
  await dialog.getByRole('button', { name: 'Create the asset' }).click();
  await dialog.getByRole('alert').waitFor();
  await dialog.getByRole('link', { name: 'Open the asset that has this name' }).click();
  await page.getByRole('heading', { name: 'build-8.example.com' }).waitFor();
  expect(problems).toEqual([]);
});

test('assets are merged, and separated again', async () => {
  const [kept, other] = [await idOf('registry.example.com/shop/web'), await idOf('registry.example.com/shop/db')];
  const { page, problems } = await web.open(`/assets/${other}`);
  await page.getByRole('button', { name: 'More actions' }).click();
  await page.getByRole('menuitem', { name: 'Merge with another asset' }).click();
  await page.getByRole('combobox').fill('shop/web');
  await page.getByRole('option', { name: 'registry.example.com/shop/web' }).click();
  await page.getByText('stays, because it is older').waitFor();
  await expectAccessible(page, 'merge');
  await page.getByRole('button', { name: 'Merge the assets' }).click();
  await page.waitForURL(`**/assets/${kept}`);
  await page.getByText('Also known as').waitFor();
  expect((await web.api(`/assets/${other}`)).body).toMatchObject({ merged_into: kept });
  await page.getByRole('button', { name: 'More actions' }).click();
  await page.getByRole('menuitem', { name: 'Undo the last merge' }).click();
  await page.getByRole('button', { name: 'Separate the assets' }).click();
  await page.waitForURL(`**/assets/${other}`);
  expect((await web.api(`/assets/${other}`)).body).toMatchObject({ merged_into: null, findings: { active: 5 } });
  expect(problems).toEqual([]);
});

test('a track is renamed', async () => {
  const id = await idOf('registry.example.com/shop/web');
  const { page, problems } = await web.open(`/assets/${id}`);
  await page
    .getByRole('button', { name: /^Change the track / })
    .first()
    .click();
  await page.getByRole('menuitem', { name: 'Rename' }).click();
  await page.getByRole('dialog').getByLabel('Name').fill('production');
  await page.getByRole('button', { name: 'Rename', exact: true }).click();
  await page.getByRole('link', { name: 'production' }).waitFor();
  expect(((await web.api(`/assets/${id}/tracks`)).body.data as { name: string }[]).map(({ name }) => name)).toContain('production');
  expect(problems).toEqual([]);
});

test('somebody else’s change of an asset is shown before it is overwritten', async () => {
  const id = await idOf('registry.example.com/shop/db');
  const { page, problems } = await web.open(`/assets/${id}`, { expected: [412] });
  await page.getByRole('button', { name: 'Edit' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Owner').fill('Mine');
  await web.api(`/assets/${id}`, { owner: 'Theirs' }, 'PATCH');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await dialog.getByRole('row', { name: 'Owner Theirs Mine' }).waitFor();
  await dialog.getByRole('button', { name: 'Save my version' }).click();
  await page.getByText('The asset is changed.').waitFor();
  expect((await web.api(`/assets/${id}`)).body).toMatchObject({ owner: 'Mine' });
  expect(problems).toEqual([]);
});

test('a finding is created by hand, merged with another one, and separated again', async () => {
  const { page, problems } = await web.open('/findings', { expected: [409] });
  await page.getByRole('grid', { name: 'Findings' }).getByRole('row').nth(1).waitFor();
  const create = async (title: string) => {
    await page.keyboard.press('c');
    const dialog = page.getByRole('dialog', { name: 'New finding' });
    await dialog.getByLabel('Title').fill(title);
    await dialog.getByRole('combobox', { name: 'Name of the asset' }).fill('shop/web');
    await page.getByRole('option', { name: 'registry.example.com/shop/web' }).click();
    await dialog.getByLabel('Path of the file').fill('login.html');
    await dialog
      .getByRole('textbox', { name: 'Tags' })
      .or(dialog.getByRole('combobox', { name: 'Tags' }))
      .fill('pentest');
    return dialog;
  };
  const dialog = await create('Session is not ended');
  await expectAccessible(page, 'new finding');
  await dialog.getByRole('button', { name: 'Create the finding' }).click();
  await page.getByRole('heading', { level: 1, name: 'Session is not ended' }).waitFor();
  const created = new URL(page.url()).pathname.split('/').at(-1);
  expect((await web.api(`/findings/${created}`)).body).toMatchObject({ tags: ['pentest'], location: { path: 'login.html' } });

  await page.goBack();
  await page.getByRole('grid', { name: 'Findings' }).getByRole('row').nth(1).waitFor();
  await create('Known from a scan');
  await dialog.getByLabel('Component', { exact: true }).fill('library-2');
  await dialog.getByRole('textbox', { name: 'CVE IDs' }).fill('CVE-2026-10002');
  await dialog.getByRole('button', { name: 'Create the finding' }).click();
  await dialog.getByRole('link', { name: 'Open the finding that exists' }).click();
  await page.getByRole('heading', { level: 1, name: 'Weakness 2 of library-2' }).waitFor();

  await page.goto(`${web.service.url}/findings/${created}`);
  await page.getByText('Identity', { exact: true }).click();
  await page.getByRole('button', { name: 'Merge with another finding' }).click();
  await page.getByRole('combobox', { name: 'that is the same' }).fill('Weakness 1 of');
  await page.getByRole('option', { name: 'Weakness 1 of library-1' }).click();
  await page.getByLabel('Why they are the same').fill('Both end in the same place');
  await expectAccessible(page, 'merge of findings');
  await page.getByRole('button', { name: 'Merge the findings' }).click();
  await page.getByRole('heading', { level: 1, name: 'Weakness 1 of library-1' }).waitFor();
  expect((await web.api(`/findings/${created}`)).body.merged_into).toBeTruthy();
  await page.getByText('Identity', { exact: true }).click();
  // The history has the reason as well.
  await page.getByText('Merged with another finding “Both end in the same place”').waitFor();
  await expectAccessible(page, 'identity');
  await page.getByRole('button', { name: 'Separate them' }).click();
  await page.getByLabel('Why they are different').fill('They are not');
  await page.getByRole('button', { name: 'Separate the findings' }).click();
  await page.waitForURL(`**/findings/${created}`);
  expect((await web.api(`/findings/${created}`)).body.merged_into).toBeNull();
  expect(problems).toEqual([]);
});
