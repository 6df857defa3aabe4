import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'vitest';
import { NO_BROWSER, openBrowser } from '../browser.ts';
import { call } from '../http.ts';
import { type Service, startUsed, until } from '../service.ts';

export const OWNER = { name: 'Ada Lovelace', email: 'ada@example.com', password: 'a password of the tests' };
type Theme = 'light' | 'dark';

interface Tab {
  page: Page;
  /** What the browser complained about. A test ends with `expect(problems).toEqual([])`. */
  problems: string[];
}

interface OpenOptions {
  theme?: Theme;
  /** `false` opens the page without a session. */
  signedIn?: boolean;
  width?: number;
  /** Another tab of the same browser. */
  context?: BrowserContext;
  /** Responses with these statuses are expected. */
  expected?: readonly number[];
  /** Runs before the page loads, so that a route applies to its first request. */
  before?: (page: Page) => Promise<unknown>;
}

/**
 * One service and one browser for all tests of a file, with an owner who can sign in. `prepare` adds data before the first test.
 * Each page belongs to a browser context of its own, unless a test shares one.
 */
export function startConsole(prepare: (service: Service & { key: string }) => Promise<void> = async () => {}) {
  let service: Service & { key: string };
  let browser: Browser | null = null;
  let cookie = '';

  beforeAll(async () => {
    // Vendors of the tests are on this machine.
    [service, browser] = await Promise.all([startUsed({ env: { RRS_OUTBOUND_ALLOW: '127.0.0.0/8' } }), openBrowser()]);
    if (browser === null) return;
    cookie = await signUp(service);
    await prepare(service);
  });
  beforeEach(({ skip }) => skip(browser === null, NO_BROWSER));
  // Each page has an event stream, and a credential has a share of them.
  afterEach(async () => {
    await Promise.all(browser?.contexts().map((context) => context.close()) ?? []);
  });
  afterAll(() => browser?.close());

  const newContext = async ({ theme = 'light', signedIn = true, width = 1280 }: OpenOptions): Promise<BrowserContext> => {
    if (browser === null) throw new Error('no browser');
    const context = await browser.newContext({ viewport: { width, height: 860 }, colorScheme: theme, reducedMotion: 'reduce' });
    if (signedIn) await context.addCookies([{ name: 'rrs_session', value: cookie, url: service.url }]);
    return context;
  };

  return {
    get service() {
      return service;
    },
    async open(path: string, options: OpenOptions = {}): Promise<Tab> {
      const context = options.context ?? (await newContext(options));
      const page = await context.newPage();
      const problems = watch(page, service.url, options.expected ?? []);
      await options.before?.(page);
      await page.goto(`${service.url}${path}`, { waitUntil: 'load' });
      return { page, problems };
    },
    /** Calls the API as the first owner key. */
    api: (path: string, body?: unknown, method?: string) => call(service.url, `/api/v1${path}`, { key: service.key, body, ...(method ? { method } : {}) }),
    upload: (name: string, content: string, query = '') => upload(service, name, content, query),
  };
}

async function signUp({ url, key }: Service & { key: string }): Promise<string> {
  const temporary = `${OWNER.password} at first`;
  await call(url, '/api/v1/members', { key, body: { name: OWNER.name, email: OWNER.email, password: temporary, role: 'owner' } });
  const first = await session(url, temporary);
  // A password that somebody else chose allows only reading.
  await fetch(`${url}/api/v1/me/password`, {
    method: 'PUT',
    headers: { cookie: `rrs_session=${first}`, 'content-type': 'application/json', origin: url },
    body: JSON.stringify({ current_password: temporary, new_password: OWNER.password }),
  });
  return session(url, OWNER.password);
}

async function session(url: string, password: string): Promise<string> {
  const response = await call(url, '/api/v1/sessions', { body: { email: OWNER.email, password } });
  const value = /rrs_session=([^;]+)/.exec(response.headers.get('set-cookie') ?? '')?.[1];
  if (value === undefined) throw new Error(`sign-in failed: ${JSON.stringify(response.body)}`);
  return value;
}

/** Imports a report and waits until it is processed. */
async function upload({ url, key }: Service & { key: string }, name: string, content: string, query: string): Promise<Record<string, unknown>> {
  const response = await fetch(`${url}/api/v1/imports?filename=${name}${query}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/octet-stream', prefer: 'wait=10' },
    body: content,
  });
  const { id } = (await response.json()) as { id: string };
  const body = await until('the report is imported', async () => {
    const current = (await call(url, `/api/v1/imports/${id}`, { key })).body;
    return current.status === 'queued' || current.status === 'running' ? null : current;
  });
  if (body.status !== 'succeeded') throw new Error(`the import failed: ${JSON.stringify(body)}`);
  return body;
}

function watch(page: Page, origin: string, expected: readonly number[]): string[] {
  const problems: string[] = [];
  page.on('console', (message) => {
    const isExpected = expected.some((status) => message.text().includes(`the server responded with a status of ${status}`));
    if (!isExpected) problems.push(`${message.type()}: ${message.text()} ${message.location().url}`);
  });
  page.on('pageerror', (error) => problems.push(`error: ${error.message}`));
  page.on('request', (request) => {
    if (!/^(?:data|blob):/.test(request.url()) && !request.url().startsWith(origin)) problems.push(`request to another site: ${request.url()}`);
  });
  return problems;
}

/** Goes there as a link does, without loading the page again, and waits until it shows what it has. */
export async function goTo(page: Page, path: string): Promise<void> {
  // The page before stays on the screen until the code of the next one is loaded: its heading is marked.
  await page.evaluate(
    `document.querySelector('h1')?.setAttribute('data-left', ''); history.pushState({}, '', ${JSON.stringify(path)}); dispatchEvent(new PopStateEvent('popstate'))`,
  );
  const isShown = `document.querySelector('h1:not([data-left])') !== null && document.querySelector('[aria-label=Loading]') === null`;
  // The policy of the page forbids to evaluate text in it, which waiting for an expression would do.
  await until(`${path} is shown`, () => page.evaluate<boolean>(isShown));
}

const axe = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

interface Looked {
  /** `colors` looks for contrast only, for pages that were checked in the other theme, which has the same elements. */
  what?: 'everything' | 'colors';
  /** A selector, for pages whose other parts were checked before. */
  within?: string;
}

/** Fails on what axe finds on the page: WCAG 2.2 AA and best practices. */
export async function expectAccessible(page: Page, name: string, { what = 'everything', within = 'html' }: Looked = {}): Promise<void> {
  // It stays in a page that is not loaded again.
  if (!(await page.evaluate<boolean>("'axe' in globalThis"))) await page.evaluate(axe);
  const options = { resultTypes: ['violations'], ...(what === 'colors' && { runOnly: ['color-contrast'] }) };
  const found = await page.evaluate(
    async (given) => {
      // cast: axe adds itself to the globals of the page, which the types of this process do not know.
      const { axe: engine } = globalThis as unknown as {
        axe: { run(within: string, options: object): Promise<{ violations: { id: string; nodes: { html: string; failureSummary?: string }[] }[] }> };
      };
      const { violations } = await engine.run(given.within, given.options);
      return violations.flatMap(({ id, nodes }) => nodes.map(({ html, failureSummary }) => `${id}: ${html.slice(0, 200)} ${failureSummary ?? ''}`));
    },
    { within, options },
  );
  expect(found, name).toEqual([]);
}

/** Everything in light, and then what differs in dark: the colours. */
export async function expectAccessibleInBoth(page: Page, name: string, within?: string): Promise<void> {
  const looked = within === undefined ? {} : { within };
  await expectAccessible(page, `${name}, light`, looked);
  await page.emulateMedia({ colorScheme: 'dark' });
  await page.locator('html[data-mantine-color-scheme=dark]').waitFor();
  await expectAccessible(page, `${name}, dark`, { ...looked, what: 'colors' });
  await page.emulateMedia({ colorScheme: 'light' });
}
