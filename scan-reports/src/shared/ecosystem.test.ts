import { expect, test } from 'vitest';
import { ecosystemOf } from './ecosystem.ts';

test.each([
  ['npm', 'npm'],
  ['node-pkg', 'npm'],
  ['pip', 'pypi'],
  ['PyPI', 'pypi'],
  ['crates.io', 'cargo'],
  ['Debian:12', 'deb'],
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
