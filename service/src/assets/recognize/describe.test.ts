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

const digest = `sha256:${'Ab'.repeat(32)}`;
const image = { type: 'container_image', name: 'ghcr.io/acme/shop' } as const;

it.each([
  ['the version of an image', image, digest, 'prod', 'prod', digest],
  ['behind its tag', image, `1.4.2@${digest}`, undefined, '1.x', '1.4.2'],
  ['behind a tag that names an environment', image, `prod@${digest}`, undefined, 'prod', 'prod'],
] as const)('the digest is %s', (_name, asset, version, track, expectedTrack, expectedVersion) => {
  expect(describeAsset(asset, { version, track })).toMatchObject({
    digest: digest.toLowerCase(),
    buildIds: [digest.toLowerCase()],
    track: { track: expectedTrack, version: expectedVersion },
  });
});

it('the digest that the report states is that of the build, and the stated one names it as well', () => {
  const other = `sha256:${'cd'.repeat(32)}`;
  const described = describeAsset({ ...image, identifiers: [{ kind: 'digest', value: other }] }, { version: digest, track: 'prod' });
  expect(described).toMatchObject({ digest: other, buildIds: [other, digest.toLowerCase()] });
});

it('what is no whole digest is a version, and only images have digests', () => {
  expect(describeAsset(image, { version: 'sha256:abc', track: 'prod' }).digest).toBeNull();
  expect(describeAsset({ type: 'repository', name: 'acme/shop' }, { version: digest, track: 'main' }).digest).toBeNull();
});
