import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import axe from 'axe-core';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { TEXT_FORMATS } from '../../evidence-format/src/render/v2/formats.ts';
import { sampleContext } from '../../evidence-format/src/testing/reports/evidence.ts';
import { evidenceSamples } from '../../evidence-format/src/testing/reports/samples.ts';
import { NO_BROWSER, openBrowser } from './browser.ts';
import { temporaryFolder } from './folders.ts';

let browser: Browser | null;
beforeAll(async () => {
  browser = await openBrowser();
});
beforeEach(({ skip }) => skip(browser === null, NO_BROWSER));
afterAll(() => browser?.close());

const WCAG = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];
/** Otherwise axe also describes every element that is accessible. */
const LEAN = { runOnly: WCAG, resultTypes: ['violations'], selectors: false };

async function violationsIn(html: string): Promise<string[]> {
  if (browser === null) throw new Error('no browser');
  const file = join(temporaryFolder(), 'report.html');
  writeFileSync(file, html);
  const view = await browser.newPage();
  await view.goto(pathToFileURL(file).href);
  // The report allows no scripts. This one is run by the debugger of the browser.
  await view.evaluate(axe.source);
  const found: { id: string; nodes: { html: string }[] }[] = JSON.parse(
    await view.evaluate(`axe.run(document, ${JSON.stringify(LEAN)}).then(({ violations }) => JSON.stringify(violations))`),
  );
  await view.close();
  return found.map(({ id, nodes }) => `${id}: ${nodes[0]?.html.slice(0, 200)}`);
}

test.each(['whitewashed', 'unfinished'] as const)('the HTML report is accessible: %s', async (name) => {
  expect(await violationsIn([...TEXT_FORMATS.html.render(evidenceSamples[name](), sampleContext)].join(''))).toEqual([]);
});

test('a page that is not accessible is noticed', async () => {
  const found = await violationsIn('<html><body><img src="x"><p style="color:#eee;background:#fff">hardly visible</p></body></html>');
  expect(found.map((violation) => violation.split(':')[0])).toEqual(expect.arrayContaining(['image-alt', 'color-contrast', 'html-has-lang', 'document-title']));
});
