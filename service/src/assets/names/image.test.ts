import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { familiarName, parseImageReference } from './image.ts';

const hash = '0123456789abcdef'.repeat(4);
const digest = `sha256:${hash}`;

it.each([
  ['nginx', 'docker.io/library/nginx', 'latest', null],
  ['nginx:1.19', 'docker.io/library/nginx', '1.19', null],
  ['docker.io/nginx', 'docker.io/library/nginx', 'latest', null],
  ['docker.io/library/nginx:latest', 'docker.io/library/nginx', 'latest', null],
  ['index.docker.io/library/nginx', 'docker.io/library/nginx', 'latest', null],
  ['registry-1.docker.io/acme/shop:2', 'docker.io/acme/shop', '2', null],
  ['library/nginx', 'docker.io/library/nginx', 'latest', null],
  ['acme/shop', 'docker.io/acme/shop', 'latest', null],
  ['acme/team/shop:1', 'docker.io/acme/team/shop', '1', null],
  ['ghcr.io/Acme/Shop:V1', 'ghcr.io/acme/shop', 'V1', null],
  ['GHCR.IO/acme/shop', 'ghcr.io/acme/shop', 'latest', null],
  ['localhost/shop', 'localhost/shop', 'latest', null],
  ['localhost:5000/shop:1', 'localhost:5000/shop', '1', null],
  ['registry:5000/acme/shop', 'registry:5000/acme/shop', 'latest', null],
  ['[2001:db8::1]:5000/shop:1', '[2001:db8::1]:5000/shop', '1', null],
  [`nginx@${digest}`, 'docker.io/library/nginx', null, digest],
  [`nginx:1.19@${digest}`, 'docker.io/library/nginx', '1.19', digest],
  [`localhost:5000/shop@${digest.toUpperCase()}`, 'localhost:5000/shop', null, digest],
  [digest, null, null, digest],
  [hash, null, null, digest],
  [`sha256:${hash.toUpperCase()}`, null, null, digest],
  ['sha512:0123ABCD', null, null, 'sha512:0123abcd'],
  ['docker:24-dind', 'docker.io/library/docker', '24-dind', null],
  ['registry:2', 'docker.io/library/registry', '2', null],
  ['docker:nginx:1.19', 'docker.io/library/nginx', '1.19', null],
  ['docker:acme/shop', 'docker.io/acme/shop', 'latest', null],
  ['registry:ghcr.io/acme/shop:1', 'ghcr.io/acme/shop', '1', null],
  ['docker://nginx:1.19', 'docker.io/library/nginx', '1.19', null],
  [`docker-pullable://acme/shop@${digest}`, 'docker.io/acme/shop', null, digest],
  ['  nginx  ', 'docker.io/library/nginx', 'latest', null],
  ['my__image', 'docker.io/library/my__image', 'latest', null],
])('reads %s', (text, repository, tag, hashed) => {
  expect(parseImageReference(text)).toEqual({ repository, tag, digest: hashed });
});

it.each(['', ' ', 'a b', '/tmp/image.tar', 'nginx:', 'nginx:1:2', ':1', 'nginx@sha256:', 'nginx@12', 'a//b', 'nginx (debian 12)', 'https://'])(
  'does not read %j',
  (text) => {
    expect(parseImageReference(text)).toBeNull();
  },
);

describe('the familiar name', () => {
  it.each([
    ['docker.io/library/nginx', 'nginx'],
    ['docker.io/acme/shop', 'acme/shop'],
    ['ghcr.io/acme/shop', 'ghcr.io/acme/shop'],
    ['localhost:5000/shop', 'localhost:5000/shop'],
    ['docker.io/acme.io/shop', 'docker.io/acme.io/shop'],
  ])('of %s is %s', (repository, name) => {
    expect(familiarName(repository)).toBe(name);
  });

  it('leads back to the same repository', () => {
    const part = fc.stringMatching(/^[a-z0-9]{1,4}([._-][a-z0-9]{1,3})?$/);
    fc.assert(
      fc.property(fc.array(part, { minLength: 1, maxLength: 4 }), (parts) => {
        const repository = parseImageReference(parts.join('/'))?.repository ?? '';
        expect(parseImageReference(familiarName(repository))?.repository).toBe(repository);
      }),
    );
  });
});
