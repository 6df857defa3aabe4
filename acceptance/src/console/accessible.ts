import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';
import { expect } from 'vitest';

const axeScript = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

interface Looked {
  /** `colors` looks for contrast only, for pages that were checked in the other theme, which has the same elements. */
  what?: 'everything' | 'colors';
  /** A selector, for pages whose other parts were checked before. */
  within?: string;
}

/** Text that axe found readable: its colours, its size and the boxes that it is in. Most text of a page looks like some of the page before. */
const readable = new Set<string>();

/** What was readable in light, and then in dark. */
const readableInBoth = new Set<string>();

/** Fails on what axe finds on the page: WCAG 2.2 AA and best practices. Returns what the text of the page looks like. */
export async function expectAccessible(page: Page, name: string, { what = 'everything', within = 'html' }: Looked = {}): Promise<readonly string[]> {
  // It stays in a page that is not loaded again.
  if (!(await page.evaluate<boolean>("'axe' in globalThis"))) await page.evaluate(axeScript);
  const { violations, looks } = await page.evaluate(lookAt, { within, isOnlyColors: what === 'colors', known: [...readable] });
  expect(violations, name).toEqual([]);
  for (const look of looks) readable.add(look);
  return looks;
}

/** Everything in light, and then what differs in dark: the colours. */
export async function expectAccessibleInBoth(page: Page, name: string, within?: string): Promise<void> {
  const looked = within === undefined ? {} : { within };
  const looks = await expectAccessible(page, `${name}, light`, looked);
  // The theme decides about colours: what looks the same in light does so in dark.
  if (looks.every((look) => readableInBoth.has(look))) return;
  await page.emulateMedia({ colorScheme: 'dark' });
  await page.locator('html[data-mantine-color-scheme=dark]').waitFor();
  await expectAccessible(page, `${name}, dark`, { ...looked, what: 'colors' });
  await page.emulateMedia({ colorScheme: 'light' });
  for (const look of looks) readableInBoth.add(look);
}

/** What the page has that the types of this process do not know. */
interface PageElement {
  localName: string;
  parentElement: PageElement | null;
  childNodes: Iterable<{ nodeType: number; nodeValue: string | null }>;
  getAttribute(name: string): string | null;
  setAttribute(name: string, value: string): void;
  removeAttribute(name: string): void;
  matches(selector: string): boolean;
  checkVisibility(): boolean;
  getBoundingClientRect(): Record<'top' | 'bottom' | 'left' | 'right', number>;
}
declare const axe: {
  configure(spec: object): void;
  run(context: object, options: object): Promise<{ violations: { id: string; nodes: { html: string; failureSummary?: string }[] }[] }>;
};
declare const document: { querySelectorAll(selector: string): Iterable<PageElement> };
declare const getComputedStyle: (element: PageElement) => Record<string, string>;
declare const innerWidth: number;
declare const innerHeight: number;

/**
 * Runs in the page. Contrast is most of what axe takes, by far: it computes the colours behind each piece of text. Text that looks like some that it
 * found readable is left out: same colours, size and classes, in boxes with the same colours and classes. All other rules look at every element.
 */
async function lookAt({ within, isOnlyColors, known }: { within: string; isOnlyColors: boolean; known: readonly string[] }) {
  const TEXT = 3;
  const MARK = 'data-unseen-colors';
  // Rows of a list are alike: some are enough.
  const ALIKE = '[role=grid] tbody tr:nth-child(n + 7)';
  const boxes = new Map<PageElement, { look: string; isDisabled: boolean }>();
  const boxOf = (element: PageElement): { look: string; isDisabled: boolean } => {
    const kept = boxes.get(element);
    if (kept !== undefined) return kept;
    const parent = element.parentElement === null ? null : boxOf(element.parentElement);
    const { backgroundColor, backgroundImage, opacity, position } = getComputedStyle(element);
    const own = `${element.getAttribute('class')} ${backgroundColor} ${backgroundImage} ${opacity} ${position}`;
    // The whole path would be a text of kilobytes.
    let hash = 0;
    for (const letter of `${parent?.look}>${own}`) hash = (Math.imul(hash, 31) + letter.charCodeAt(0)) | 0;
    const box = { look: `${hash} ${own.length}`, isDisabled: parent?.isDisabled === true || element.matches(':disabled, [aria-disabled=true]') };
    boxes.set(element, box);
    return box;
  };
  const isKnown = new Set(known);
  const looks = new Set<string>();
  let isNew = false;
  for (const element of document.querySelectorAll(`${within} *`)) {
    const text = [...element.childNodes].map(({ nodeType, nodeValue }) => (nodeType === TEXT ? (nodeValue ?? '').trim() : '')).join('');
    if ((text === '' && !element.matches('input, select, textarea')) || element.matches(`${ALIKE} *`)) continue;
    const box = boxOf(element);
    const { color, fontSize, fontWeight, textShadow } = getComputedStyle(element);
    const { top, bottom, left, right } = element.getBoundingClientRect();
    // What axe leaves out says nothing about what it looks at.
    const isLeftOut = box.isDisabled || bottom <= 0 || right <= 0 || top >= innerHeight || left >= innerWidth || !element.checkVisibility();
    const look = [box.look, element.localName, color, fontSize, fontWeight, textShadow, text.length === 1, isLeftOut].join(' ');
    if (!isKnown.has(look) && !looks.has(look)) {
      element.setAttribute(MARK, '');
      isNew = true;
    }
    looks.add(look);
  }
  if (isOnlyColors && !isNew) return { violations: [], looks: [...looks] };
  axe.configure({ rules: [{ id: 'color-contrast', selector: `[${MARK}]` }] });
  const context = { include: [[within]], exclude: [[ALIKE]] };
  const lean = { resultTypes: ['violations'], preload: false, selectors: false };
  const { violations } = await axe.run(context, { ...lean, ...(isOnlyColors && { runOnly: ['color-contrast'] }) });
  for (const element of document.querySelectorAll(`[${MARK}]`)) element.removeAttribute(MARK);
  return {
    violations: violations.flatMap(({ id, nodes }) => nodes.map(({ html, failureSummary }) => `${id}: ${html.slice(0, 200)} ${failureSummary ?? ''}`)),
    looks: [...looks],
  };
}
