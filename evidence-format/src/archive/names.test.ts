import fc from 'fast-check';
import { expect, test } from 'vitest';
import { assertSafeNames, isSafeName, nameFaults, parseTopFolder, topFolder } from './names.ts';

test.each(['a', 'bagit.txt', 'data/scans/before/0190-a/report', 'a.b-c_d', `${'a'.repeat(100)}/b`])('%s is safe', (name) => {
  expect(isSafeName(name)).toBe(true);
});

test.each([
  '',
  '/a',
  'a/',
  'a//b',
  '.',
  '..',
  'a/../b',
  '.hidden',
  '-rf',
  'a\\b',
  'C:/a',
  'a b',
  'a\u0000',
  'a\n',
  'ä',
  'a%2f',
  'con',
  'CON',
  'data/nul.txt',
  'Com1',
  'lpt9.tar.gz',
  'aux',
  'a.',
  'a./b',
  'a'.repeat(101),
  `${'ab/'.repeat(60)}a`,
])('%j is not safe', (name) => {
  expect(isSafeName(name)).toBe(false);
});

test('names that only start like device names are safe', () => {
  for (const name of ['console', 'com', 'com10', 'nullable.txt', 'xcon', 'lpt']) expect(isSafeName(name), name).toBe(true);
});

test('a safe name resolves to a path below its folder', () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom('a', '.', '/', '\\', ':', '-', 'A', '~', ' '), maxLength: 12 }), (name) => {
      if (!isSafeName(name)) return;
      expect(new URL(name, 'file:///top/').pathname).toBe(`/top/${name}`);
    }),
    { numRuns: 5000 },
  );
});

test('finds names that collide on some systems', () => {
  expect(nameFaults(['a/b', 'A/b'])).toEqual([{ name: 'A/b', fault: 'duplicate' }]);
  expect(nameFaults(['a', 'a'])).toEqual([{ name: 'a', fault: 'duplicate' }]);
  expect(nameFaults(['a', 'A/b'])).toEqual([{ name: 'A/b', fault: 'duplicate' }]);
  expect(nameFaults(['a/b', 'a'])).toEqual([{ name: 'a', fault: 'duplicate' }]);
  expect(nameFaults(['a/b', '../c', 'a/c'])).toEqual([{ name: '../c', fault: 'name' }]);
  expect(() => assertSafeNames(['a', 'b', 'a/c'])).toThrow('refers to two files');
  expect(() => assertSafeNames(['a', '..'])).toThrow('unsafe');
  expect(() => assertSafeNames(['a/b', 'a/c', 'b'])).not.toThrow();
});

test('the top folder contains the work item ID and the sequence', () => {
  const id = '0190a8f0-0000-7000-8000-000000000001';
  expect(topFolder(id, 12)).toBe(`evidence-${id}-12`);
  expect(parseTopFolder(`evidence-${id}-12`)).toEqual({ workItemId: id, sequence: 12 });
  for (const wrong of [
    `evidence-${id}-0`,
    `evidence-${id}-01`,
    `evidence-${id}-`,
    `evidence-${id}`,
    `evidence-${id.toUpperCase()}-1`,
    `x-${id}-1`,
    'evidence-a-1',
  ]) {
    expect(parseTopFolder(wrong), wrong).toBeNull();
  }
  expect(() => topFolder(id, 0)).toThrow();
  expect(() => topFolder('../..', 1)).toThrow();
});
