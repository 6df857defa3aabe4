import { expect, test } from 'vitest';
import { earliest } from './earliest.ts';

const day = (n: number) => new Date(Date.UTC(2026, 0, n));

test('the earliest of many times, however many there are', () => {
  expect(earliest(day(3), [])).toEqual(day(3));
  expect(earliest(day(3), [null, day(2), day(4)])).toEqual(day(2));
  expect(earliest(day(2), [...Array<Date>(500_000).fill(day(3)), day(1)])).toEqual(day(1));
});
