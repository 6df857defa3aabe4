import { openBrowser } from '../../acceptance/src/browser.ts';
import { idleFrames, scrollToRow } from '../../acceptance/src/console/scrolling.ts';
import { seedFindings } from '../../service/src/testing/findings/seed-findings.ts';
import { percentile } from './lists/times.ts';
import type { Result } from './results.ts';
import { median, type Session, withService } from './session.ts';

interface Sizes {
  findings: number;
  /** Rows that are scrolled through for the frames, and for the memory. */
  scrolled: number;
  kept: number;
  loads: number;
  presses: number;
}

type Browser = NonNullable<Awaited<ReturnType<typeof openBrowser>>>;
type Page = Awaited<ReturnType<Browser['newPage']>>;

const LIST = '/findings?status=open,in_progress&sort=-risk_score';
const PERSON = { email: 'ada@example.com', password: 'a password of the benchmark' };

/** UI: how fast the console is in a browser, on this machine, with many findings. */
export function webConsole({ findings, scrolled, kept, loads, presses }: Sizes): Promise<Result[]> {
  return withService(async (session) => {
    const { rows } = await session.admin.query('select id from organizations');
    await seedFindings(session.admin, rows[0].id, { to: findings });
    await session.admin.query('vacuum analyze');
    const browser = await openBrowser();
    if (browser === null) throw new Error('There is no Chromium: apt-get install chromium-headless-shell');
    try {
      const visit = { browser, session, cookie: await signIn(session) };
      const loading = [];
      for (const path of ['/', LIST, '/work', '/integrations/new/jira']) loading.push(await largestPaint(visit, path, loads));
      const slow = await largestPaint(visit, LIST, Math.min(3, loads), true);
      return [...loading, slow, ...(await inputDelay(visit, presses)), ...(await scrolling(visit, scrolled)), await memory(visit, kept)];
    } finally {
      await browser.close();
    }
  });
}

interface Visit {
  browser: Browser;
  session: Session;
  cookie: string;
}

async function signIn({ service, headers }: Session): Promise<string> {
  const send = (path: string, body: unknown, more: Record<string, string>, method = 'POST') =>
    fetch(`${service.url}/api/v1${path}`, { method, headers: { 'content-type': 'application/json', ...more }, body: JSON.stringify(body) });
  const cookieOf = async (password: string) => {
    const response = await send('/sessions', { email: PERSON.email, password }, {});
    return /rrs_session=([^;]+)/.exec(response.headers.get('set-cookie') ?? '')?.[1] ?? '';
  };
  const temporary = `${PERSON.password} at first`;
  await send('/members', { name: 'Ada Lovelace', email: PERSON.email, password: temporary, role: 'owner' }, headers);
  // A password that somebody else chose allows only reading.
  const first = { cookie: `rrs_session=${await cookieOf(temporary)}`, origin: service.url };
  await send('/me/password', { current_password: temporary, new_password: PERSON.password }, first, 'PUT');
  return cookieOf(PERSON.password);
}

const OBSERVER = `
  globalThis.measured = { paint: 0, inputs: {} };
  new PerformanceObserver((list) => { for (const entry of list.getEntries()) measured.paint = entry.startTime; })
    .observe({ type: 'largest-contentful-paint', buffered: true });
  new PerformanceObserver((list) => {
    for (const { interactionId, duration } of list.getEntries()) {
      if (interactionId) measured.inputs[interactionId] = Math.max(measured.inputs[interactionId] ?? 0, duration);
    }
  }).observe({ type: 'event', durationThreshold: 16, buffered: true });`;

/** A page of a browser that has nothing in its cache. */
async function open({ browser, session, cookie }: Visit, path: string, isSlow = false): Promise<Page> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 860 } });
  await context.addCookies([{ name: 'rrs_session', value: cookie, url: session.service.url }]);
  await context.addInitScript(OBSERVER);
  const page = await context.newPage();
  if (isSlow) {
    const devtools = await context.newCDPSession(page);
    const bytesPerSecond = 10e6 / 8;
    await devtools.send('Network.emulateNetworkConditions', {
      offline: false,
      latency: 100,
      downloadThroughput: bytesPerSecond,
      uploadThroughput: bytesPerSecond,
    });
  }
  await page.goto(`${session.service.url}${path}`, { waitUntil: 'load' });
  await page.locator('main h1').waitFor();
  await page.locator('[aria-label=Loading]').first().waitFor({ state: 'detached' });
  return page;
}

async function largestPaint(visit: Visit, path: string, loads: number, isSlow = false): Promise<Result> {
  const times: number[] = [];
  for (let load = 0; load < loads; load++) {
    const page = await open(visit, path, isSlow);
    // What is drawn last is reported with the frame after it.
    await idleFrames(page, 20);
    times.push(await page.evaluate<number>('measured.paint'));
    await page.context().close();
  }
  const bar = isSlow ? 2000 : 1000;
  return {
    id: 'UI',
    what: `largest contentful paint of ${path}, nothing cached${isSlow ? ', 10 Mbit/s and 100 ms' : ''}, median of ${loads}`,
    figure: `${Math.round(median(times))} ms (${times.map(Math.round).join(', ')})`,
    bar: `< ${bar} ms`,
    met: median(times) < bar,
  };
}

/** From a key to the next frame that shows its effect. Browsers do not report what takes less than 16 ms. */
async function inputDelay(visit: Visit, presses: number): Promise<Result[]> {
  const page = await open(visit, LIST);
  await page.getByRole('row').nth(20).waitFor();
  await scrollToRow(page, 2000);
  const round = ['j', 'j', 'x', 'Enter', 'j', 'k', 'Escape', 'Escape', 'e', '/', 's', 'e', 'v', 'Escape', 'k', 'u'];
  for (let pressed = 0; pressed < presses; pressed++) {
    await page.keyboard.press(round[pressed % round.length] ?? 'j');
    // As fast as a person who knows what they want.
    await page.waitForTimeout(60);
  }
  await idleFrames(page, 20);
  const reported = Object.values(await page.evaluate<Record<string, number>>('measured.inputs'));
  const delays = [...reported, ...Array.from({ length: Math.max(0, presses - reported.length) }, () => 16)].map((ms) => ({ ms }));
  await page.context().close();
  const result = (what: string, share: number, bar: number): Result => {
    const ms = percentile(delays, share);
    return {
      id: 'UI',
      what: `interaction to next paint with 2,000 rows read, ${what} of ${presses} keys`,
      figure: `${ms} ms`,
      bar: `< ${bar} ms`,
      met: ms < bar,
    };
  };
  return [result('p75', 0.75, 100), result('p98', 0.98, 200)];
}

async function scrolling(visit: Visit, rows: number): Promise<Result[]> {
  const page = await open(visit, '/findings');
  await page.getByRole('row').nth(20).waitFor();
  const idle = Math.max(...(await idleFrames(page, 120)));
  const { busy, frames } = await scrollToRow(page, rows);
  await page.context().close();
  const worst = Math.max(...frames);
  const p99 = percentile(
    frames.map((ms) => ({ ms })),
    0.99,
  );
  return [
    {
      id: 'UI',
      what: `frames while scrolling ${rows} rows, eight screens at a time, worst, compared with 100 ms and the worst frame of an idle page`,
      figure: `${Math.round(worst)} ms (p99 ${Math.round(p99)} ms, idle ${Math.round(idle)} ms, ${frames.length} frames)`,
      bar: `< ${Math.round(100 + idle)} ms`,
      met: worst < 100 + idle,
    },
    {
      id: 'UI',
      what: 'processor time of a frame with all rows new, most',
      figure: `${Math.round(Math.max(...busy))} ms (median ${Math.round(median(busy))} ms)`,
      bar: '< 100 ms',
      met: Math.max(...busy) < 100,
    },
  ];
}

async function memory(visit: Visit, rows: number): Promise<Result> {
  const page = await open(visit, '/findings');
  await page.getByRole('row').nth(20).waitFor();
  const { heapMb } = await scrollToRow(page, rows);
  await page.context().close();
  return { id: 'UI', what: `memory of the page after scrolling ${rows} rows`, figure: `${Math.round(heapMb)} MB`, bar: '< 150 MB', met: heapMb < 150 };
}
