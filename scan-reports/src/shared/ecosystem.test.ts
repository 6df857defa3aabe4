import { expect, test } from 'vitest';
import { ecosystemOf, ecosystemOfFile } from './ecosystem.ts';

test.each([
  ['npm', 'npm'],
  ['node-pkg', 'npm'],
  ['pip', 'pypi'],
  ['PyPI', 'pypi'],
  ['crates.io', 'cargo'],
  ['Debian:12', 'deb'],
  ['debian 12.1', 'deb'],
  ['Amazon Linux 2', 'rpm'],
  ['Alpine:v3.18', 'apk'],
  ['Rocky Linux:9', 'rpm'],
  ['go-module', 'golang'],
  ['OS', undefined],
  ['binary', undefined],
  ['constructor', undefined],
  [undefined, undefined],
])('ecosystemOf(%s)', (word, expected) => {
  expect(ecosystemOf(word)).toBe(expected);
});

test.each([
  ['web/package-lock.json', 'npm'],
  ['requirements-dev.txt', 'pypi'],
  ['service/go.sum', 'golang'],
  ['src/Shop.csproj', 'nuget'],
  ['Gemfile.lock', 'gem'],
  ['src/index.ts', undefined],
  ['', undefined],
  [undefined, undefined],
])('ecosystemOfFile(%s)', (path, expected) => {
  expect(ecosystemOfFile(path)).toBe(expected);
});
