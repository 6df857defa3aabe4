import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startVendor, type Vendor } from '../vendor.ts';
import { expectAccessible, expectAccessibleInBoth } from './accessible.ts';
import { goTo, startConsole } from './console.ts';

const web = startConsole();
let vendor: Vendor;

beforeAll(async () => {
  vendor = await startVendor();
  vendor.setSize({ issues: 12, records: 0 });
});
afterAll(() => vendor.close());

interface Schema {
  type?: string;
  format?: string;
  enum?: string[];
  default?: unknown;
  examples?: unknown[];
  title?: string;
  items?: Schema;
  properties?: Record<string, Schema>;
}
interface Provider {
  id: string;
  name: string;
  config_schema: Schema;
  credentials_schema: Schema;
}

async function catalog(): Promise<Provider[]> {
  return (await web.api('/integrations/catalog')).body.data as Provider[];
}

/** Every field that can be typed into, with a value of its kind. */
function fillable(schema: Schema, pointer: string): { pointer: string; schema: Schema; value: unknown }[] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, field]) => {
    const at = `${pointer}/${name}`;
    if (field.properties) return fillable(field, at);
    const example = field.examples?.[0] ?? field.default;
    if (field.type === 'object') return [{ pointer: at, schema: field, value: example ?? { a: 1 } }];
    if (field.type === 'array')
      return [{ pointer: at, schema: field, value: field.items?.enum?.slice(0, 1) ?? example ?? (field.items?.type === 'integer' ? [1, 2] : ['one', 'two']) }];
    if (field.type === 'integer') return [{ pointer: at, schema: field, value: example ?? 60 }];
    if (field.type === 'boolean') return [{ pointer: at, schema: field, value: true }];
    return [{ pointer: at, schema: field, value: field.enum?.[0] ?? example ?? 'something' }];
  });
}

async function fill(page: Page, pointer: string, schema: Schema, value: unknown): Promise<void> {
  const input = page.locator(`[name="${pointer}"]`);
  if (schema.items?.enum) {
    await page
      .getByRole('group', { name: schema.title ?? '' })
      .getByRole('checkbox')
      .first()
      .check();
  } else if (Array.isArray(value)) {
    const field = page.getByRole('textbox', { name: schema.title ?? '' }).or(page.getByRole('combobox', { name: schema.title ?? '' }));
    for (const word of value) {
      await field.first().fill(String(word));
      await field.first().press('Enter');
    }
  } else if (schema.enum) await input.selectOption(String(value));
  else if (schema.type === 'boolean') await input.setChecked(value === true, { force: true });
  else await input.fill(typeof value === 'object' ? JSON.stringify(value) : String(value));
}

test('every provider of the catalog has a form that takes all its fields', async () => {
  const providers = await catalog();
  expect(providers.length).toBeGreaterThan(20);
  const { page, problems } = await web.open('/integrations/new');
  await page.getByRole('link', { name: 'Jira' }).first().waitFor();
  const links = await page.locator('main a[href^="/integrations/new/"]').evaluateAll((all) => all.map((link) => link.getAttribute('href')));
  expect(links.sort()).toEqual(providers.map(({ id }) => `/integrations/new/${id}`).sort());
  for (const { id, name, config_schema, credentials_schema } of providers) {
    await goTo(page, `/integrations/new/${id}`);
    await page.getByRole('heading', { level: 1, name: `Connect ${name}` }).waitFor();
    await page.locator('details').evaluateAll((all) => {
      for (const each of all) each.setAttribute('open', '');
    });
    const sent: Record<string, unknown> = {};
    for (const { pointer, schema, value } of [...fillable(config_schema, '/config'), ...fillable(credentials_schema, '/credentials')]) {
      await fill(page, pointer, schema, value);
      sent[pointer] = value;
    }
    const request = page.waitForRequest((each) => each.url().endsWith('/integrations/test'));
    // The vendor is never asked: what the form sends is compared with what was typed.
    await page.route(
      '**/integrations/test',
      (route) => route.fulfill({ json: { ok: false, error: { kind: 'credentials', message: 'Refused.' }, requests: [], seconds: 0 } }),
      { times: 1 },
    );
    await page.getByRole('button', { name: 'Test', exact: true }).click();
    const body = (await request).postDataJSON() as Record<string, unknown>;
    for (const [pointer, value] of Object.entries(sent)) {
      const found = pointer
        .split('/')
        .slice(1)
        .reduce<unknown>((at, key) => (at as Record<string, unknown> | undefined)?.[key], body);
      expect({ id, pointer, found: typeof found === 'string' ? found.trim() : found }).toEqual({
        id,
        pointer,
        found: typeof value === 'string' ? value.trim() : value,
      });
    }
    await page.getByText('Refused.').first().waitFor();
  }
  expect(problems).toEqual([]);
});

test('list, catalog and a form are accessible', async () => {
  const { page, problems } = await web.open('/integrations');
  await page.getByRole('heading', { name: 'No connections' }).waitFor();
  await expectAccessibleInBoth(page, 'integrations');
  await page.keyboard.press('c');
  await page.getByRole('heading', { name: 'Connect' }).waitFor();
  await page.getByRole('link', { name: 'Jira' }).first().waitFor();
  await expectAccessibleInBoth(page, 'catalog');
  await page.keyboard.press('/');
  await page.keyboard.type('jira');
  await page.locator('a[href="/integrations/new/jira"]').click();
  await page.getByRole('button', { name: 'Test and save' }).waitFor();
  await page.getByText('Advanced').click();
  await expectAccessibleInBoth(page, 'form');
  expect(problems).toEqual([]);
});

test('a connection is tested, saved, run, changed without its secret, paused and deleted', async () => {
  const { page, problems } = await web.open('/integrations/new/snyk', { expected: [400] });
  const field = (pointer: string) => page.locator(`[name="${pointer}"]`);
  await field('/config/api_url').fill('ftp://example.com');
  await page.getByRole('button', { name: 'Test and save' }).click();
  // Problems of the API are at their fields.
  await page.locator('[data-error="true"], [aria-invalid=true]').first().waitFor();
  expect(await field('/config/api_url').getAttribute('aria-invalid')).toBe('true');
  expect(await field('/config/organization_id').getAttribute('aria-invalid')).toBe('true');
  await expectAccessible(page, 'form with problems');
  await field('/config/api_url').fill('http://127.0.0.1:9');
  await field('/config/organization_id').fill('acme');
  await field('/credentials/token').fill('the-secret-token-6789');
  await page.getByRole('button', { name: 'Test', exact: true }).click();
  await page.getByRole('region', { name: 'Connection' }).getByRole('alert').waitFor();
  await field('/config/api_url').fill(vendor.origin);
  await page.getByRole('button', { name: 'Test and save' }).click();
  await page.getByRole('heading', { level: 1, name: 'Snyk' }).waitFor();
  await page.getByRole('button', { name: 'Sync now' }).click();
  const runs = page.getByRole('region', { name: 'Runs', exact: true });
  await runs.getByText('12 new').waitFor();
  await expectAccessible(page, 'connection');
  await runs.getByRole('link').first().click();
  await page.getByRole('heading', { name: 'Run of Snyk' }).waitFor();
  await expectAccessible(page, 'run');
  await page.goBack();
  await page.getByRole('button', { name: 'Edit' }).click();
  await page.getByText('ends with …6789').waitFor();
  await page.getByRole('textbox', { name: 'Name' }).fill('Snyk, shop team');
  await page.getByRole('button', { name: 'Test with these settings' }).click();
  await page.getByText('It works').waitFor();
  await expectAccessible(page, 'edit');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('heading', { level: 1, name: 'Snyk, shop team' }).waitFor();
  await page.getByRole('button', { name: 'More actions' }).click();
  await page.getByRole('menuitem', { name: 'Pause' }).click();
  await page.getByRole('definition').filter({ hasText: 'Paused' }).waitFor();
  await page.getByRole('link', { name: 'Integrations' }).click();
  await page.getByRole('table').getByText('Paused').waitFor();
  await expectAccessible(page, 'integrations with a connection');
  await page.getByRole('link', { name: 'Snyk, shop team' }).click();
  await page.getByRole('button', { name: 'More actions' }).click();
  await page.getByRole('menuitem', { name: 'Delete' }).click();
  await page.getByRole('button', { name: 'Delete the connection' }).click();
  await page.getByRole('heading', { name: 'No connections' }).waitFor();
  expect(problems).toEqual([]);
});
