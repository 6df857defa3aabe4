import { expect, test } from 'vitest';
import { vectors } from '../vectors/vectors.ts';
import { bytesSource } from './archive/source.ts';
import { CODES } from './codes.ts';
import { nodePlatform } from './node.ts';
import { verifyPackage } from './verify.ts';

/** Later than every time in the vectors, so that the clock of this machine does not matter. */
const NOW = Date.parse('2031-01-01T00:00:00Z');

test.for(vectors)('$name', async ({ verdict, codes, more, make }) => {
  const { zip, trust, options } = await make();
  const report = await verifyPackage(bytesSource(zip), trust, nodePlatform(), { now: NOW, ...options });
  const reported = [...new Set(report.failures.map(({ code }) => code))].sort();
  expect(report.verdict).toBe(verdict);
  // A failure of the program itself is no explanation.
  for (const { detail } of report.failures) expect(detail).not.toMatch(/cannot read prop|is not a function|is not iterable|undefined/i);
  expect(more ? reported.filter((code) => codes.includes(code)) : reported).toEqual(codes.toSorted());
});

test('every code has a vector', () => {
  const covered = new Set(vectors.flatMap(({ codes }) => codes));
  expect(Object.keys(CODES).filter((code) => !covered.has(code as keyof typeof CODES))).toEqual([]);
});
