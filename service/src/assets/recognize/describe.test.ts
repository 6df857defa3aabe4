import { expect, it } from 'vitest';
import { describeAsset } from './describe.ts';

const hash = 'ABCDEF0123'.repeat(4);

it.each([
  ['the version of a repository, if it is a whole hash', { type: 'repository', name: 'git.example.com/shop' }, hash, hash.toLowerCase()],
  ['not a part of a hash, which can also be a number', { type: 'repository', name: 'git.example.com/shop' }, '1234567', null],
  ['not the version of an image, whose base can change', { type: 'container_image', name: 'shop' }, hash, null],
  ['the commit that the report states, rather than the version', { type: 'repository', name: 'git.example.com/shop', commit: 'f00' }, hash, 'f00'],
] as const)('the commit is %s', (_name, asset, version, commit) => {
  expect(describeAsset(asset, { version, track: 'main' }).commit).toBe(commit);
});
