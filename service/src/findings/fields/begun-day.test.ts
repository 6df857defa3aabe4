import { expect, test } from 'vitest';
import { begunDay } from './begun-day.ts';

const NOW = Date.parse('2026-11-15T12:00:00Z');

test.each([
  ['2021-12-10', '2021-12-10'],
  ['2026-11-15', '2026-11-15'],
  ['2026-11-16', '2026-11-16'],
  ['2026-11-17', null],
  ['2099-01-01', null],
  ['soon', null],
  [undefined, null],
])('of the day %s, %s is kept', (day, kept) => {
  expect(begunDay(day, NOW)).toBe(kept);
});
