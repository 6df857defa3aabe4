import { expect, it } from 'vitest';
import { bytes, dueTime, relativeTime, shortName, splitName } from './words.ts';

it.each([
  ['registry.example.com/shop/checkout', '…/shop/checkout'],
  ['arn:aws:ecr/eu/shop/checkout', '…/shop/checkout'],
  ['acme/shop', 'acme/shop'],
  ['github.com/acme/shop', 'github.com/acme/shop'],
  ['web-1.example.com', 'web-1.example.com'],
  ['https://www.example.com/shop', 'www.example.com/shop'],
])('a long path is named by its end: %s', (name, short) => {
  expect(shortName(name)).toBe(short);
  expect(splitName(name).join('')).toBe(name);
});

it.each([
  [0, '0 bytes'],
  [1, '1 byte'],
  [999, '999 bytes'],
  [1_200, '1.2 kB'],
  [2_400_000, '2.4 MB'],
])('%d is %s', (size, text) => {
  expect(bytes(size)).toBe(text);
});

it.each([
  ['2026-02-01', 'last month', 'Overdue 1 month'],
  ['2026-03-09', 'yesterday', 'Overdue 1 day'],
  ['2026-03-09T22:00:00Z', '2 hours ago', 'Overdue 2 hours'],
])('%s is %s, or %s', (at, text, due) => {
  const now = Date.parse('2026-03-10T00:00:00Z');
  expect(relativeTime(at, now)).toBe(text);
  expect(dueTime(at, true, now)).toBe(due);
  expect(dueTime(at, false, now)).toBe(text);
});
