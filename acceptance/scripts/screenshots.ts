import { spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import type { Browser, Page } from 'playwright-core';
import { NO_BROWSER, openBrowser } from '../src/browser.ts';

const USAGE = `npm run screenshots [-- options]

Starts the demo, and takes pictures of the pages of the console: those that the documents show.

  --folder F   where to write the pictures (default: docs/images)
  --weeks N    weeks of the demo (default: 8)
  --share N    share of the company of the demo (default: 1)
  --width N    width of the window in pixels (default: 1280)
  --format F   webp or png (default: webp)
  --all        pictures of every page in both themes
`;
/** What a picture of the documents may weigh, in bytes. */
const LARGEST = 150_000;
const root = fileURLToPath(new URL('../..', import.meta.url));
const { values } = parseArgs({
  options: {
    folder: { type: 'string', default: join(root, 'docs/images') },
    weeks: { type: 'string', default: '8' },
    share: { type: 'string', default: '1' },
    width: { type: 'string', default: '1280' },
    format: { type: 'string', default: 'webp' },
    all: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});
if (values.help) {
  process.stdout.write(USAGE);
  process.exit(0);
}

type Theme = 'light' | 'dark';
interface Shot {
  name: string;
  path: string;
  /** The theme in which the documents show it. */
  theme?: Theme;
  /** What to do on the page before the picture is taken. */
  before?: (page: Page) => Promise<unknown>;
}

const LOADED_MS = 15_000;
const QUIET_MS = 700;
/** Runs in the page: whether nothing has been loading for a moment. */
const IS_QUIET = `(() => {
  const { dataset } = document.documentElement;
  const now = performance.now();
  if (dataset.busy === undefined || document.querySelector('[aria-label=Loading]')) dataset.busy = now;
  return now - Number(dataset.busy) > ${QUIET_MS};
})()`;
const pressAll = async (page: Page, ...keys: string[]): Promise<void> => {
  await page.getByRole('grid').getByRole('row').nth(2).waitFor({ timeout: LOADED_MS });
  for (const key of keys) await page.keyboard.press(key);
};
/** Verifies the first package in the browser. */
const verifyFirst = async (page: Page): Promise<void> => {
  await firstRow(page);
  await page.getByRole('link', { name: 'Verify', exact: true }).click();
  await page.getByRole('button', { name: 'Download and verify in this browser' }).click();
  await page.getByRole('heading', { name: 'Verified', exact: true }).waitFor({ timeout: LOADED_MS });
};
/** Opens the first row of a list, beside it or as a page. */
const firstRow = async (page: Page): Promise<void> => {
  const before = page.url();
  // On narrow screens the first cell, which selects the row, is hidden.
  await page.locator('main [role="gridcell"]:visible, main tbody td:visible').first().waitFor({ timeout: LOADED_MS });
  const link = page.locator('main tbody a').first();
  if (await link.isVisible()) await link.click();
  else {
    await page.keyboard.press('j');
    await page.keyboard.press('Enter');
  }
  await page.waitForURL((url) => url.href !== before, { timeout: LOADED_MS });
};
/** Opens the first row of a list, and a part of its page. */
const partOfFirst =
  (name: string | RegExp) =>
  async (page: Page): Promise<void> => {
    await firstRow(page);
    await page.getByRole('main').getByRole('link', { name }).first().click();
  };
const pressButton = (name: string) => (page: Page) => page.getByRole('main').getByRole('button', { name, exact: true }).first().click();
/** Those that the documents show. */
const SHOWN: readonly Shot[] = [
  { name: 'overview', path: '/', theme: 'light' },
  { name: 'findings', path: '/findings?status=open&sort=-risk_score', theme: 'light', before: firstRow },
  { name: 'work-item', path: '/work?status=verified', theme: 'dark', before: firstRow },
  { name: 'evidence', path: '/evidence', theme: 'light', before: firstRow },
  { name: 'integrations', path: '/integrations', theme: 'light' },
  { name: 'verify', path: '/evidence', theme: 'dark', before: verifyFirst },
];
const OTHERS: readonly Shot[] = [
  { name: 'finding', path: '/findings', before: firstRow },
  { name: 'finding-page', path: '/findings', before: partOfFirst('Open as a page') },
  { name: 'facet', path: '/findings', before: pressButton('Source kind') },
  { name: 'work', path: '/work' },
  ...['Proof', 'Tickets', 'Approvals', 'Packages', 'Activity'].map((name) => ({
    name: `work-item-${name.toLowerCase()}`,
    path: '/work?status=verified',
    before: partOfFirst(new RegExp(`^${name}`)),
  })),
  { name: 'new-work-item', path: '/work', before: pressButton('New work item') },
  { name: 'board', path: '/work/board' },
  { name: 'assets', path: '/assets' },
  { name: 'asset', path: '/assets', before: firstRow },
  { name: 'imports', path: '/imports' },
  { name: 'import', path: '/imports', before: firstRow },
  { name: 'connection', path: '/integrations', before: (page) => page.getByRole('link', { name: 'Nightly image scan' }).click() },
  { name: 'catalog', path: '/integrations/new' },
  { name: 'connect', path: '/integrations/new/snyk' },
  { name: 'evidence-list', path: '/evidence' },
  ...['Controls and decisions', 'Sharing', 'Files'].map((name) => ({
    name: `evidence-${name.split(' ')[0]?.toLowerCase()}`,
    path: '/evidence',
    before: partOfFirst(name),
  })),
  { name: 'evidence-new', path: '/evidence/new' },
  { name: 'evidence-preview', path: '/evidence/new', before: firstRow },
  { name: 'log', path: '/evidence/log' },
  { name: 'keys', path: '/evidence/keys' },
  { name: 'verify-page', path: '/verify' },
  { name: 'drift', path: '/work/drift' },
  { name: 'groups', path: '/findings?status=open&group=component' },
  { name: 'nothing', path: '/findings?q=nothing-like-this&severity=critical' },
  { name: 'palette', path: '/', before: (page) => page.keyboard.press('Control+k') },
  { name: 'help', path: '/findings', before: (page) => page.keyboard.press('?') },
  { name: 'new-finding', path: '/findings', before: (page) => page.keyboard.press('c') },
  { name: 'triage', path: '/findings?status=open', before: (page) => pressAll(page, 'j', 'x', 'j', 'x', 'a') },
  ...['profile', 'sessions', 'organization', 'members', 'api-keys', 'pipelines', 'webhooks', 'sources', 'aliases', 'usage', 'audit'].map((name) => ({
    name: `settings-${name}`,
    path: `/settings/${name}`,
  })),
  { name: 'settings-webhook', path: '/settings/webhooks', before: firstRow },
  { name: 'settings-audit-entry', path: '/settings/audit', before: (page: Page) => pressAll(page, 'j', 'Enter') },
  { name: 'settings-new-key', path: '/settings/api-keys', before: pressButton('Create a key') },
];

const browser = await openBrowser();
if (browser === null) {
  process.stderr.write(`${NO_BROWSER}\n`);
  process.exit(1);
}
const demo = spawn(process.execPath, [join(root, 'demo/src/main.ts'), '--port', '0', '--weeks', values.weeks, '--share', values.share], {
  stdio: ['ignore', 'pipe', 'inherit'],
});
try {
  const printed = await greetingOf(demo.stdout);
  const url = /ready .*(http:\/\/\S+)/.exec(printed)?.[1] ?? '';
  const [, email = '', password = ''] = /^ +owner +(\S+) +(\S+)/m.exec(printed) ?? [];
  mkdirSync(values.folder, { recursive: true });
  for (const theme of ['light', 'dark'] as const) await takeAll(browser, { url, email, password, theme });
} finally {
  demo.kill('SIGTERM');
  await browser.close();
}

async function greetingOf(stream: AsyncIterable<Buffer>): Promise<string> {
  let printed = '';
  for await (const chunk of stream) {
    printed += chunk;
    if (printed.includes('Ctrl-C')) return printed;
  }
  throw new Error(`the demo ended: ${printed}`);
}

interface Session {
  url: string;
  email: string;
  password: string;
  theme: Theme;
}

async function takeAll(on: Browser, { url, email, password, theme }: Session): Promise<void> {
  const options = { viewport: { width: Number(values.width), height: 800 }, colorScheme: theme, reducedMotion: 'reduce' } as const;
  const page = await on.newPage(options);
  const go = (path: string) => page.goto(`${url}${path}`, { waitUntil: 'load' });
  if (values.all) {
    await go('/setup#key=rrs_not-a-key');
    await take(page, 'setup', theme);
    await go('/invitation#token=nothing');
    await take(page, 'invitation-used', theme);
  }
  await go('/sign-in');
  if (values.all) await take(page, 'sign-in', theme);
  await page.getByLabel('E-mail').fill(email);
  await page.getByLabel('Password').fill(password);
  await page.keyboard.press('Enter');
  await page.waitForURL((address) => address.pathname === '/');
  const shots = values.all ? [...SHOWN, ...OTHERS] : SHOWN.filter((shot) => shot.theme === theme);
  for (const { name, path, before } of shots) {
    await go(path);
    await page.locator('h1').first().waitFor({ timeout: LOADED_MS });
    await settled(page);
    await before?.(page).catch((error: unknown) => process.stderr.write(`${name}: ${String(error).split('\n')[0]}\n`));
    await take(page, name, theme);
  }
  if (values.all) await takeWithoutAccount(on, page, { url, theme, options });
  await page.close();
}

/** The pages behind links that an owner sends: the invitation of a member, and a share link. */
async function takeWithoutAccount(
  on: Browser,
  owner: Page,
  { url, theme, options }: Pick<Session, 'url' | 'theme'> & { options: Parameters<Browser['newPage']>[0] },
): Promise<void> {
  const ask = async (method: 'GET' | 'POST', path: string, data?: unknown) =>
    (await (await owner.request.fetch(`${url}/api/v1${path}`, { method, headers: { origin: url }, ...(data ? { data } : {}) })).json()) as {
      id: string;
      url: string;
      data: { id: string; package_id: string }[];
    };
  const member = (await ask('GET', '/members?limit=1')).data[0]?.id;
  const sealed = (await ask('GET', '/riskops-evidence/packages?status=ready&limit=1')).data[0]?.package_id;
  const links = {
    invitation: (await ask('POST', `/members/${member}/invitations`)).url,
    // A short history has no package yet.
    ...(sealed && { shared: (await ask('POST', `/riskops-evidence/packages/${sealed}/share-links`, { recipient: 'Grace Hopper, Example Auditors' })).url }),
  };
  const page = await on.newPage(options);
  for (const [name, link] of Object.entries(links)) {
    const { pathname, hash } = new URL(link);
    await page.goto(`${url}${pathname}${hash}`, { waitUntil: 'load' });
    await take(page, name, theme);
  }
  await page.close();
}

/** Waits until what is on the page is loaded, and what that asks for as well. The event stream stays open, so the network is never idle for long. */
async function settled(page: Page): Promise<void> {
  await page.evaluate('delete document.documentElement.dataset.busy');
  // The policy of the page does not allow what Playwright waits with.
  for (const end = Date.now() + LOADED_MS; !(await page.evaluate(IS_QUIET)); await page.waitForTimeout(50)) {
    if (Date.now() > end) throw new Error(`${page.url()} is still loading.`);
  }
}

async function take(page: Page, name: string, theme: Theme): Promise<void> {
  await settled(page);
  const devtools = await page.context().newCDPSession(page);
  // Playwright itself knows only PNG and JPEG.
  const format = values.format === 'png' ? ({ format: 'png' } as const) : ({ format: 'webp', quality: 82 } as const);
  const { data } = await devtools.send('Page.captureScreenshot', format);
  const picture = Buffer.from(data, 'base64');
  const file = `${name}${values.all ? `-${theme}` : ''}.${format.format}`;
  writeFileSync(join(values.folder, file), picture);
  if (!values.all && picture.length > LARGEST) {
    process.stderr.write(`${file} has ${picture.length} bytes, more than ${LARGEST}.\n`);
    process.exitCode = 1;
  }
}
