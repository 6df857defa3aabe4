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

test('the list of findings has every filter of the API, and none besides', () => {
  const description = JSON.parse(readFileSync(join(checkout, 'service/openapi.json'), 'utf8')) as {
    paths: Record<string, { get: { parameters: { name?: string }[] } }>;
  };
  const names = description.paths['/api/v1/findings']?.get.parameters.flatMap(({ name }) => name ?? []) ?? [];
  const filters = [...readFileSync(join(home, 'src/pages/findings/list/filters.ts'), 'utf8').matchAll(/\{ name: '([a-z_]+)'/g)].map(([, name]) => name);
  expect(['limit', 'cursor', 'sort', 'total', ...filters].sort()).toEqual(names.sort());
});
