import { mkdirSync, mkdtempSync, renameSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { stampOfSources } from '../bin/bundle-stamp.mjs';

const folder = mkdtempSync(join(tmpdir(), 'rrs-stamp-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
mkdirSync(join(folder, 'service/src/a'), { recursive: true });
const source = join(folder, 'service/src/a/one.ts');
writeFileSync(source, 'one');

it.each<[string, () => void]>([
  ['is edited', () => writeFileSync(source, 'longer')],
  ['is edited and keeps its size', () => utimesSync(source, new Date(0), new Date(1))],
  ['is added', () => writeFileSync(join(folder, 'service/src/a/two.ts'), '')],
  ['is renamed', () => renameSync(join(folder, 'service/src/a/two.ts'), join(folder, 'service/src/a/three.ts'))],
  ['is deleted', () => rmSync(source)],
])('the bundle is out of date when a source %s', (_, change) => {
  const before = stampOfSources(folder);
  change();
  expect(stampOfSources(folder)).not.toBe(before);
});

it('a test is not part of the bundle', () => {
  const before = stampOfSources(folder);
  writeFileSync(join(folder, 'service/src/a/one.test.ts'), '');
  expect(stampOfSources(folder)).toBe(before);
});
