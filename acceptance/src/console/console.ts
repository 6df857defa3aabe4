import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest';
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
  /** Another site that the page may lead to. */
  site?: string;
  /** Runs before the page loads, so that a route applies to its first request. */
  before?: (page: Page) => Promise<unknown>;
}

/**
 * One service and one browser for all tests of a file, with an owner who can sign in. `prepare` adds data before the first test. `settings` are more settings
 * of the service.
 * People with and without a session have a profile of the browser each. What a test leaves in it is removed; the files of the console stay in its cache.
 */
export function startConsole(
  prepare: (service: Service & { key: string }) => Promise<void> = async () => {},
  settings: () => Promise<Record<string, string>> = async () => ({}),
) {
  let service: Service & { key: string };
  let browser: Browser | null = null;
  let cookie = '';
  const profiles: Record<'owner' | 'guest', Profile | null> = { owner: null, guest: null };

  beforeAll(async () => {
    // Vendors of the tests are on this machine.
    [service, browser] = await Promise.all([startUsed({ env: { RRS_OUTBOUND_ALLOW: '127.0.0.0/8', ...(await settings()) } }), openBrowser()]);
    if (browser === null) return;
    cookie = await signUp(service);
    await prepare(service);
  });
  beforeEach(({ skip }) => skip(browser === null, NO_BROWSER));
  afterEach(async () => {
    await Promise.all(Object.values(profiles).map((profile) => profile && cleanUp(profile)));
  });
  afterAll(() => browser?.close());

  const newPage = async (who: 'owner' | 'guest', width: number): Promise<Page> => {
    if (browser === null) throw new Error('no browser');
    const profile = profiles[who] ?? { context: await browser.newContext({ viewport: { width, height: HEIGHT }, reducedMotion: 'reduce' }), free: null };
    profiles[who] = profile;
    if (who === 'owner') await profile.context.addCookies([{ name: 'rrs_session', value: cookie, url: service.url }]);
    const page = profile.free ?? (await profile.context.newPage());
    profile.free = null;
    return page;
  };

  return {
    get service() {
      return service;
    },
    async open(path: string, { theme = 'light', signedIn = true, width = 1280, context, expected = [], site, before }: OpenOptions = {}): Promise<Tab> {
      const page = await (context?.newPage() ?? newPage(signedIn ? 'owner' : 'guest', width));
      await page.emulateMedia({ colorScheme: theme });
      if (page.viewportSize()?.width !== width) await page.setViewportSize({ width, height: HEIGHT });
      const problems = watch(page, [service.url, ...(site === undefined ? [] : [site])], expected);
      if (before) changed.add(page);
      await before?.(page);
      await page.goto(`${service.url}${path}`, { waitUntil: 'load' });
      return { page, problems };
    },
    /** Calls the API as the first owner key. */
    api: (path: string, body?: unknown, method?: string) => call(service.url, `/api/v1${path}`, { key: service.key, body, ...(method ? { method } : {}) }),
    upload: (name: string, content: string, query = '') => upload(service, name, content, query),
  };
}

/** Enough for a dozen rows. More of them only take longer to draw. */
const HEIGHT = 640;

/** Pages with scripts that would run in the next test too. */
const changed = new WeakSet<Page>();

interface Profile {
  context: BrowserContext;
  /** A page for the next test: opening one takes longer than going from one to the other. */
  free: Page | null;
}

/** Forgets who was signed in and what they set, and keeps one page. Each page has an event stream, and a credential has a share of them. */
async function cleanUp(profile: Profile): Promise<void> {
  const { context } = profile;
  const page = context.pages().find((each) => !changed.has(each));
  const others = context.pages().filter((each) => each !== page);
  await Promise.all([context.clearCookies(), context.clearPermissions(), context.setOffline(false), ...others.map((other) => other.close())]);
  if (page === undefined) return;
  await page.unrouteAll({ behavior: 'ignoreErrors' });
  for (const event of ['console', 'pageerror', 'request', 'filechooser']) page.removeAllListeners(event);
  await page.evaluate('localStorage.clear(); sessionStorage.clear()').catch(() => {});
  await page.goto('about:blank');
  profile.free = page;
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
  if (body.status === 'failed') throw new Error(`the import failed: ${JSON.stringify(body)}`);
  return body;
}

/** The schedule may begin the first run of a connection a moment before a person does. The browser reports the refusal of the second one. */
const SECOND_RUN = /409 \(Conflict\).*\/integrations\/[^/]+\/sync\?/;

function watch(page: Page, sites: readonly string[], expected: readonly number[]): string[] {
  const problems: string[] = [];
  page.on('console', (message) => {
    const isExpected = expected.some((status) => message.text().includes(`the server responded with a status of ${status}`));
    const problem = `${message.type()}: ${message.text()} ${message.location().url}`;
    if (!isExpected && !SECOND_RUN.test(problem)) problems.push(problem);
  });
  page.on('pageerror', (error) => problems.push(`error: ${error.message}`));
  page.on('request', (request) => {
    if (!/^(?:data|blob):/.test(request.url()) && !sites.some((site) => request.url().startsWith(site)))
      problems.push(`request to another site: ${request.url()}`);
  });
  return problems;
}

const SHOWN_MS = 60_000;

/** Goes there as a link does, without loading the page again, and waits until it shows what it has. */
export async function goTo(page: Page, path: string): Promise<void> {
  const isSamePage = new URL(page.url()).pathname === new URL(path, page.url()).pathname;
  // The page before stays on the screen until the code of the next one is loaded. The policy of the page forbids to evaluate text in it, which waiting for
  // an expression would do, and asking from here again and again takes longer than drawing.
  const isShown = await page.evaluate<boolean>(`new Promise((answer) => {
    const left = document.querySelector('h1');
    const title = left?.textContent;
    const deadline = performance.now() + ${SHOWN_MS};
    const look = () => {
      const heading = document.querySelector('h1');
      const isNext = heading !== null && (${isSamePage} || heading !== left || heading.textContent !== title);
      const isShown = isNext && document.querySelector('[aria-label=Loading]') === null;
      if (isShown || performance.now() > deadline) answer(isShown);
      else setTimeout(look, 20);
    };
    history.pushState({}, '', ${JSON.stringify(path)});
    dispatchEvent(new PopStateEvent('popstate'));
    look();
  })`);
  if (!isShown) throw new Error(`${path} is not shown`);
}
