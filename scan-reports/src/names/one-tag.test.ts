import { expect, test } from 'vitest';
import { oneTag } from './one-tag.ts';

test.each([
  ['2.3.0', ['2.3.0', 'latest']],
  ['2.10.0', ['2', '2.9', '2.10.0', 'latest']],
  ['v1.4.2', ['v1.4.2', '1a2b3c4']],
  ['prod', ['latest', 'prod']],
  ['latest', ['latest', '1a2b3c4']],
  ['latest', ['latest', '20261115']],
  ['latest', ['latest', '1432']],
  ['latest', ['latest', '1.4.2-rc.1']],
  ['main-1a2b3c4', ['1a2b3c4', 'main-1a2b3c4']],
  ['15', ['15', 'bookworm']],
  ['1.00', ['1.0', '1.00']],
  ['registry.example.com:5000/shop:1.4.2', ['registry.example.com:5000/shop:1.4.2', 'registry.example.com:5000/shop:latest']],
])('%s stands for the tags of an image in any order: %s', (tag, tags) => {
  expect(oneTag(tags)).toBe(tag);
  expect(oneTag([...tags].reverse())).toBe(tag);
});

test('an image without tags has none', () => {
  expect(oneTag([])).toBeUndefined();
});
