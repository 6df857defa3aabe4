import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { vectors } from '../../verifier/vectors/vectors.ts';
import { NO_BROWSER, openBrowser } from './browser.ts';
import { temporaryFolder } from './folders.ts';
import { checkout } from './service.ts';

const page = pathToFileURL(join(checkout, 'verifier/dist/rrs-verify.html')).href;
let browser: Browser | null;

beforeAll(async () => {
  execFileSync(process.execPath, [join(checkout, 'verifier/scripts/build.ts')]);
  browser = await openBrowser();
});

beforeEach(({ skip }) => skip(browser === null, NO_BROWSER));

afterAll(() => browser?.close());

async function openPage(): Promise<{ view: Page; problems: string[] }> {
  if (browser === null) throw new Error('no browser');
  const view = await browser.newPage({ viewport: { width: 1000, height: 1400 } });
  const problems: string[] = [];
  view.on('console', (message) => {
    if (message.type() === 'error') problems.push(message.text());
  });
  view.on('pageerror', (error) => problems.push(error.message));
  view.on('request', (request) => {
    if (request.url() !== page) problems.push(`request to ${request.url()}`);
  });
  await view.goto(page);
  return { view, problems };
}

/** Writes a package and its trusted keys as files, in the formats in which people receive them. */
async function files(name: string): Promise<{ zip: string; keys: string[]; witnesses: string[]; status: string[] }> {
  const vector = vectors.find((candidate) => candidate.name === name);
  if (vector === undefined) throw new Error(`unknown vector "${name}"`);
  const { zip, trust } = await vector.make();
  const folder = temporaryFolder();
  const written = (path: string, content: string | Uint8Array) => {
    writeFileSync(join(folder, path), content);
    return join(folder, path);
  };
  const keys = { 'package.pem': trust.packageKeys, 'log.pem': trust.logKeys, 'note.vkey': trust.noteKeys, 'tsa.pem': trust.timestampRoots };
  const witnesses = (trust.witnessKeys ?? []).map((key, index) => written(`witness-${index}.vkey`, key));
  const status = trust.status === undefined ? [] : [written('status.json', trust.status)];
  return {
    zip: written('package.zip', zip),
    witnesses,
    status,
    keys: Object.entries(keys).flatMap(([path, [text]]) => (text === undefined ? [] : [written(path, text)])),
  };
}

async function verdict(view: Page): Promise<string | null> {
  await view.locator('#result[aria-busy=false] h2').waitFor();
  return view.locator('#result h2').textContent();
}

test('a package is verified offline, first without keys and then with them', async () => {
  const { view, problems } = await openPage();
  const { zip, keys } = await files('good: stamped');
  await view.locator('#package').setInputFiles(zip);
  expect(await verdict(view)).toBe('Consistent, but not proven');
  await view.locator('#keys').setInputFiles(keys);
  await view.getByRole('heading', { name: 'Verified', exact: true }).waitFor();
  expect(await view.locator('table').first().textContent()).toContain('remediated');
  expect(problems).toEqual([]);
});

test('a tampered package fails with the code and the file', async () => {
  const { view, problems } = await openPage();
  const { zip, keys } = await files('a changed file');
  await view.locator('#keys').setInputFiles(keys);
  await view.locator('#package').setInputFiles(zip);
  expect(await verdict(view)).toBe('Failed');
  expect(await view.getByRole('table', { name: 'Failures' }).textContent()).toMatch(/payload_changed.*data\/artifacts\//);
  expect(problems).toEqual([]);
});

/** Says nothing more about a browser, and takes as long as all the others. */
const MANY_ASSETS = 'good: thousands of assets';
const SUPERSEDED = 'good: the statement that the package is superseded';

test('the browser gives the same verdicts as Node for signatures, certificates and proofs', async () => {
  const { view, problems } = await openPage();
  const headings = { verified: 'Verified', consistent: 'Consistent, but not proven', failed: 'Failed' };
  for (const { name, verdict: wanted } of vectors.filter(
    (vector) => /^good|^a checkpoint by|^a token|^everything|bomb|witness|^a status statement/.test(vector.name) && vector.name !== MANY_ASSETS,
  )) {
    const { zip, keys, witnesses, status } = await files(name);
    await view.locator('#package').setInputFiles([]);
    await view.locator('#keys').setInputFiles(keys);
    await view.locator('#witnesses').setInputFiles(witnesses);
    await view.locator('#status').setInputFiles(status);
    await view.locator('#package').setInputFiles(zip);
    const heading = name === SUPERSEDED ? 'Verified, but superseded' : headings[wanted];
    expect([name, await verdict(view)]).toEqual([name, heading]);
  }
  expect(problems).toEqual([]);
});

test('a status statement that cannot be read is named', async () => {
  const { view, problems } = await openPage();
  const { zip, keys } = await files('good: stamped');
  const status = join(temporaryFolder(), 'nothing.json');
  writeFileSync(status, '{}');
  await view.locator('#keys').setInputFiles(keys);
  await view.locator('#status').setInputFiles(status);
  await view.locator('#package').setInputFiles(zip);
  await view.getByText('the status statement cannot be read').waitFor();
  expect(problems).toEqual([]);
});
