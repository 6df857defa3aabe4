import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { CODES, LAYERS } from './codes.ts';

test('the codes match docs/evidence-package.md', () => {
  const page = readFileSync(new URL('../../docs/evidence-package.md', import.meta.url), 'utf8');
  const lists = page.match(/\[(?:`[a-z_]+`(?:, )?)+\]/g) ?? [];
  const codes = new Set(lists.flatMap((list) => list.match(/[a-z_]+/g) ?? []));
  expect([...codes].sort()).toEqual(Object.keys(CODES).sort());
});

test('each code has a short meaning, and each layer has a code', () => {
  const known = Object.values(CODES);
  for (const { meaning } of known) expect(meaning).toMatch(/^[a-zA-Z][^\n]{20,120}\.$/);
  expect(new Set(known.map(({ layer }) => layer))).toEqual(new Set(LAYERS));
});
