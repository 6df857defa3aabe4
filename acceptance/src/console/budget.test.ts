import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { checkout } from '../service.ts';

/** What a page may load before it is drawn, in bytes of compressed script. */
const BUDGET = 200_000;

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
  expect(sizes.filter(([, size]) => size > BUDGET)).toEqual([]);
});
