import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { glob } from './glob.ts';

const folder = mkdtempSync(join(tmpdir(), 'rrs-glob-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
for (const name of [
  'trivy.json',
  'zap.xml',
  'a+b.json',
  '.hidden.json',
  'reports/1.json',
  'reports/2.json',
  'reports/deep/3.json',
  'reports/deep/[x].json',
  'reports/.git/4.json',
]) {
  mkdirSync(dirname(join(folder, name)), { recursive: true });
  writeFileSync(join(folder, name), '');
}

it.each([
  ['*.json', ['a+b.json', 'trivy.json']],
  ['tr?vy.*', ['trivy.json']],
  ['*.{json,xml}', ['a+b.json', 'trivy.json', 'zap.xml']],
  ['reports/[12].json', ['reports/1.json', 'reports/2.json']],
  ['reports/[!1].json', ['reports/2.json']],
  ['r*/deep/*.json', ['reports/deep/3.json', 'reports/deep/[x].json']],
  ['**/*.json', ['a+b.json', 'reports/1.json', 'reports/2.json', 'reports/deep/3.json', 'reports/deep/[x].json', 'trivy.json']],
  ['reports/**/3.json', ['reports/deep/3.json']],
  ['.*.json', ['.hidden.json']],
  ['a+*', ['a+b.json']],
  ['missing/*', []],
  ['*.pdf', []],
])('%s means %j', async (pattern, files) => {
  expect(await glob(pattern, folder)).toEqual(files);
});

it('patterns can be absolute', async () => {
  expect(await glob(`${folder}/*.xml`, '/')).toEqual([join(folder, 'zap.xml')]);
});
