import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { checkout } from '../service.ts';

/** What a page may load before it is drawn, in bytes of compressed script. */
const BUDGET = 200_000;

/** Pages that load more until their forms are loaded on demand, and how much at most. Remove a page that fits the budget. */
const larger: Readonly<Record<string, number>> = {
  'src/pages/integrations/edit-page.tsx': 228_000,
  'src/pages/integrations/connect-page.tsx': 228_000,
  'src/pages/settings/audit/audit.tsx': 223_000,
  'src/pages/settings/organization/organization.tsx': 220_000,
  'src/pages/settings/webhooks/webhook.tsx': 220_000,
  'src/pages/settings/webhooks/webhooks.tsx': 220_000,
  'src/pages/integrations/connection-page.tsx': 215_000,
  'src/pages/settings/api-keys.tsx': 215_000,
  'src/pages/settings/members/members.tsx': 215_000,
  'src/pages/settings/pipelines.tsx': 212_000,
  'src/pages/work/item/item-page.tsx': 203_000,
};

const home = join(checkout, 'console');
const dist = join(home, 'dist');

interface Chunk {
  file: string;
  isEntry?: boolean;
  imports?: string[];
}
const chunks = JSON.parse(readFileSync(join(dist, '.vite/manifest.json'), 'utf8')) as Record<string, Chunk>;
const entry = Object.keys(chunks).find((name) => chunks[name]?.isEntry) ?? '';

/** The files that the areas load for their routes. */
const pages = readdirSync(join(home, 'src/pages')).flatMap((area) => {
  const text = readFileSync(join(home, 'src/pages', area, 'area.ts'), 'utf8');
  return [...new Set([...text.matchAll(/import\('\.\/([^']+)'\)/g)].flatMap(([, file]) => (file === undefined ? [] : [join('src/pages', area, file)])))];
});

function closure(names: readonly string[], seen = new Set<string>()): Set<string> {
  for (const name of names) {
    if (seen.has(name)) continue;
    seen.add(name);
    closure(chunks[name]?.imports ?? [], seen);
  }
  return seen;
}

const sizeOf = (page: string): number => [...closure([entry, page])].reduce((sum, name) => sum + statSync(join(dist, `${chunks[name]?.file}.gz`)).size, 0);

test('each page loads at most 200 KB of compressed script before it is drawn', () => {
  expect(pages.length).toBeGreaterThan(25);
  expect(pages.filter((page) => chunks[page] === undefined)).toEqual([]);
  const sizes = pages.map((page) => [page, sizeOf(page)] as const);
  expect(sizes.filter(([page, size]) => size > (larger[page] ?? BUDGET))).toEqual([]);
  expect(sizes.filter(([page, size]) => larger[page] !== undefined && size <= BUDGET).map(([page]) => page)).toEqual([]);
});
