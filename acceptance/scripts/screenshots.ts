import { spawn } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import type { Browser, Page } from 'playwright-core';
import { NO_BROWSER, openBrowser } from '../src/browser.ts';

const USAGE = `npm run screenshots [-- options]

Starts the demo, and takes pictures of the pages of the console in both themes.

  --folder F   where to write the pictures (default: docs/images)
  --weeks N    weeks of the demo (default: 8)
  --share N    share of the company of the demo (default: 1)
  --width N    width of the window in pixels (default: 1280)
  --all        pictures of every page, not only of those that the documents show
`;
const root = fileURLToPath(new URL('../..', import.meta.url));
const { values } = parseArgs({
  options: {
    folder: { type: 'string', default: join(root, 'docs/images') },
    weeks: { type: 'string', default: '8' },
    share: { type: 'string', default: '1' },
    width: { type: 'string', default: '1280' },
    all: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});
if (values.help) {
  process.stdout.write(USAGE);
  process.exit(0);
}

interface Shot {
  name: string;
  path: string;
  /** What to do on the page before the picture is taken. */
  before?: (page: Page) => Promise<unknown>;
}

const LOADED_MS = 15_000;
/** Opens the first row of a list, beside it or as a page. */
const firstRow = async (page: Page): Promise<void> => {
  const before = page.url();
  await page.locator('main [role="gridcell"], main tbody td').first().waitFor({ timeout: LOADED_MS });
  const link = page.locator('main tbody a').first();
  if (await link.isVisible()) await link.click();
  else {
    await page.keyboard.press('j');
    await page.keyboard.press('Enter');
  }
  await page.waitForURL((url) => url.href !== before, { timeout: LOADED_MS });
};
/** Those that the documents show. */
const SHOWN: readonly Shot[] = [
  { name: 'overview', path: '/' },
  { name: 'findings', path: '/findings?status=open&sort=-risk_score', before: firstRow },
  { name: 'work-item', path: '/work?status=verified', before: firstRow },
  { name: 'evidence', path: '/evidence', before: firstRow },
  { name: 'integrations', path: '/integrations' },
  { name: 'verify', path: '/verify' },
];
const OTHERS: readonly Shot[] = [
  { name: 'finding', path: '/findings', before: firstRow },
  { name: 'work', path: '/work' },
  { name: 'board', path: '/work/board' },
  { name: 'assets', path: '/assets' },
  { name: 'asset', path: '/assets', before: firstRow },
  { name: 'imports', path: '/imports' },
  { name: 'import', path: '/imports', before: firstRow },
  { name: 'catalog', path: '/integrations/new' },
  { name: 'connect', path: '/integrations/new/snyk' },
  { name: 'evidence-list', path: '/evidence' },
  ...['profile', 'sessions', 'organization', 'members', 'api-keys', 'pipelines', 'webhooks', 'sources', 'aliases', 'usage', 'audit'].map((name) => ({
    name: `settings-${name}`,
    path: `/settings/${name}`,
  })),
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
  theme: 'light' | 'dark';
}

async function takeAll(on: Browser, { url, email, password, theme }: Session): Promise<void> {
  const page = await on.newPage({ viewport: { width: Number(values.width), height: 800 }, colorScheme: theme, reducedMotion: 'reduce' });
  await page.goto(`${url}/sign-in`);
  await page.getByLabel('E-mail').fill(email);
  await page.getByLabel('Password').fill(password);
  await page.keyboard.press('Enter');
  await page.waitForURL((address) => address.pathname === '/');
  for (const { name, path, before } of values.all ? [...SHOWN, ...OTHERS] : SHOWN) {
    await page.goto(`${url}${path}`, { waitUntil: 'load' });
    // The event stream stays open, so the network is never idle for long. The rows are there when nothing says that it loads.
    await page
      .locator('[aria-busy="true"]')
      .first()
      .waitFor({ state: 'detached', timeout: LOADED_MS })
      .catch(() => {});
    await before?.(page).catch((error: unknown) => process.stderr.write(`${name}: ${String(error).split('\n')[0]}\n`));
    await page.waitForTimeout(700);
    await page.screenshot({ path: join(values.folder, `${name}-${theme}.png`) });
  }
  await page.close();
}
