import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import type { CommandName } from '../../../console/src/keys/commands.ts';

export const FINDINGS = '/findings?status=open&sort=-risk_score';
export const BOARD = '/work/board';

/** A page on which a key works, and what it does there. `press` presses the key; the effect is waited for. */
interface KeyEffect {
  path: string;
  check: (page: Page, press: () => Promise<void>) => Promise<unknown>;
}

const active = (page: Page) => page.locator('tr[data-active]');
const drawer = (page: Page) => page.getByRole('complementary', { name: 'Finding' });
const card = (page: Page, column: string, title: string) => page.getByRole('region', { name: column, exact: true }).getByRole('link', { name: title });
const keys = async (page: Page, ...all: string[]) => {
  for (const key of all) await page.keyboard.press(key);
};

const on = (check: KeyEffect['check'], path = FINDINGS): KeyEffect => ({ path, check });

/** A dialog opens, about the first row of the list. */
const opens = (name: string | RegExp, path = FINDINGS) =>
  on(async (page, press) => {
    await keys(page, 'j');
    await press();
    await page.getByRole('dialog', { name }).waitFor();
    await keys(page, 'Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
  }, path);

const leads = (path: string, from = FINDINGS) =>
  on(async (page, press) => {
    await press();
    await page.waitForURL(({ pathname }) => pathname === path || (path !== '/' && pathname.startsWith(`${path}/`)));
  }, from);

const selects = (before: readonly string[], text: string | RegExp) =>
  on(async (page, press) => {
    await keys(page, ...before);
    await press();
    await page.getByText(text).waitFor();
    await keys(page, 'Escape');
  });

const moves = (by: number) =>
  on(async (page, press) => {
    await keys(page, 'j', 'j');
    const rowIndex = async () => Number(await active(page).getAttribute('aria-rowindex'));
    const before = await rowIndex();
    await press();
    await expect.poll(rowIndex).toBe(before + by);
  });

/** The focus goes from one card of the board to another, or the card moves. */
const onCard = (column: string, title: string, seen: (page: Page) => Promise<unknown>) =>
  on(async (page, press) => {
    await card(page, column, title).focus();
    await press();
    await seen(page);
  }, BOARD);
const hasFocus = (title: string) => (page: Page) => page.locator('a:focus', { hasText: title }).waitFor();
const isIn = (column: string, title: string) => (page: Page) => card(page, column, title).waitFor();

/** What every command of the console does, on a page where it works. */
export const keyEffects: Readonly<Record<CommandName, KeyEffect>> = {
  palette: opens('Search or run a command'),
  help: opens('Keys of this page'),
  rail: on(async (page, press) => {
    await press();
    await page.getByRole('button', { name: 'Expand the navigation' }).waitFor();
    await press();
    await page.getByRole('button', { name: 'Collapse the navigation' }).waitFor();
  }),
  close: on(async (page, press) => {
    await keys(page, 'j', 'Enter');
    await drawer(page).waitFor();
    await press();
    await drawer(page).waitFor({ state: 'detached' });
  }),
  submit: on(async (page, press) => {
    await keys(page, 'j', 'v');
    await page.getByRole('dialog').getByLabel('Reason').fill('Sent by key');
    await press();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
  }),
  filter: on(async (page, press) => {
    await press();
    await page.locator('input[aria-label=Filter]:focus').waitFor();
    await keys(page, 'Escape');
  }),
  create: opens('New work item', BOARD),
  'copy-link': on(async (page, press) => {
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await press();
    await page.getByRole('status').getByText('Copied.').last().waitFor();
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(page.url());
  }),
  'show-changes': on(async (page, press) => {
    const read = page.waitForResponse((response) => response.url().includes('/api/v1/findings?'));
    await press();
    await read;
  }),
  'go-overview': leads('/'),
  'go-findings': leads('/findings', BOARD),
  'go-work': leads('/work'),
  'go-assets': leads('/assets'),
  'go-imports': leads('/imports'),
  'go-integrations': leads('/integrations'),
  'go-evidence': leads('/evidence'),
  'go-settings': leads('/settings'),
  next: moves(1),
  previous: moves(-1),
  open: on(async (page, press) => {
    await keys(page, 'j');
    await press();
    await drawer(page).waitFor();
    await press();
    await drawer(page).waitFor({ state: 'detached' });
  }),
  select: selects(['j'], '1 selected'),
  'select-range': selects(['j', 'x', 'j', 'j'], '3 selected'),
  'extend-down': selects(['j'], '2 selected'),
  'extend-up': selects(['j', 'j'], '2 selected'),
  'select-all': selects([], /^\d\d selected$/),
  left: onCard('In progress', 'Started', hasFocus('On the board')),
  right: onCard('Open', 'On the board', hasFocus('Started')),
  'move-right': onCard('Open', 'On the board', isIn('In progress', 'On the board')),
  'move-left': onCard('In progress', 'Started', isIn('Open', 'Started')),
  status: opens(/^Status: /),
  remediate: opens(/^Remediated: /),
  'false-positive': opens(/^False positive: /),
  accept: opens(/^Accept risk: /),
  'work-item': opens('Work item for 1 finding'),
  severity: opens(/^Severity: /),
  tags: opens(/^Tags: /),
  progress: on(async (page, press) => {
    await keys(page, 'j');
    await press();
    await active(page).getByText('In progress').waitFor();
  }),
  undo: on(async (page, press) => {
    // Another row than the one that is in progress already.
    await keys(page, 'j', 'j', 'e');
    await active(page).getByText('In progress').waitFor();
    await press();
    await active(page).getByText('Open', { exact: true }).waitFor();
  }),
};

/** Presses "mod+k", "g f" or "shift+ArrowDown", as the table of commands writes it. */
export async function pressKeys(page: Page, written: string): Promise<void> {
  for (const key of written.split(' ')) await page.keyboard.press(key.replace('mod+', 'Control+').replace('shift+', 'Shift+'));
}
