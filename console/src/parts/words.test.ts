import { expect, it } from 'vitest';
import { shortName } from './words.ts';

it.each([
  ['registry.example.com/shop/checkout', '…/shop/checkout'],
  ['arn:aws:ecr/eu/shop/checkout', '…/shop/checkout'],
  ['acme/shop', 'acme/shop'],
  ['github.com/acme/shop', 'github.com/acme/shop'],
  ['web-1.example.com', 'web-1.example.com'],
])('a long path is named by its end: %s', (name, short) => {
  expect(shortName(name)).toBe(short);
});
