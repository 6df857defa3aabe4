import { existsSync } from 'node:fs';
import { type Browser, chromium as playwright } from 'playwright-core';

const installed = [
  '/usr/bin/chromium-headless-shell',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
];

/** Why browser tests are skipped. With RRS_BROWSER=required, as in CI, they fail instead. */
export const NO_BROWSER = 'no Chromium on this machine, and npm has none for its platform: apt-get install chromium-headless-shell';

const flags = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  // Pages of one site share a process: starting one takes as long as loading a page.
  '--process-per-site',
];

/** The system's Chromium, or else the one from npm, which exists only for x64 Linux. */
export async function openBrowser(): Promise<Browser | null> {
  const executablePath = installed.find((path) => existsSync(path)) ?? (await packaged());
  if (executablePath === null && process.env.RRS_BROWSER === 'required') throw new Error(NO_BROWSER);
  return executablePath === null ? null : playwright.launch({ executablePath, args: flags });
}

async function packaged(): Promise<string | null> {
  if (process.platform !== 'linux' || process.arch !== 'x64') return null;
  // The package unpacks the shared libraries it needs only if it believes that it runs on AWS Lambda.
  process.env.AWS_LAMBDA_JS_RUNTIME ??= 'nodejs22.x';
  const { default: chromium } = await import('@sparticuz/chromium');
  return chromium.executablePath();
}
