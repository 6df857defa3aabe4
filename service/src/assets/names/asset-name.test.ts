import { type Asset, assetTypes } from '@rrs/scan-reports';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { normalAsset } from './asset-name.ts';

const digest = `sha256:${'0123456789abcdef'.repeat(4)}`;

it.each<[Asset, Partial<ReturnType<typeof normalAsset>>]>([
  [
    { type: 'container_image', name: 'nginx' },
    { name: 'nginx', key: 'container_image:docker.io/library/nginx', tag: 'latest', digest: null },
  ],
  [
    { type: 'container_image', name: 'ghcr.io/Acme/Pay:1.4.2' },
    { name: 'ghcr.io/acme/pay', key: 'container_image:ghcr.io/acme/pay', tag: '1.4.2' },
  ],
  [
    { type: 'container_image', name: `acme/pay@${digest}` },
    { name: 'acme/pay', key: 'container_image:docker.io/acme/pay', tag: null, digest },
  ],
  [
    { type: 'container_image', name: digest },
    { name: digest, key: `container_image:${digest}`, tag: null, digest },
  ],
  [
    { type: 'container_image', name: 'acme/pay:1', identifiers: [{ kind: 'digest', value: digest }] },
    { tag: '1', digest },
  ],
  [
    { type: 'container_image', name: 'acme/pay', version: '1.4.2' },
    { tag: null, version: '1.4.2' },
  ],
  [
    { type: 'container_image', name: 'acme/pay:latest', version: '1.4.2' },
    { tag: 'latest', version: '1.4.2' },
  ],
  [
    { type: 'container_image', name: 'My Image.tar' },
    { name: 'My Image.tar', key: 'container_image:my image.tar', tag: null },
  ],
  [
    { type: 'repository', name: 'git@github.com:Acme/Shop.git', commit: 'ABC1234', ref: ' refs/heads/main ' },
    {
      name: 'github.com/acme/shop',
      key: 'repository:github.com/acme/shop',
      weakKeys: ['repo-path:acme/shop', 'repo-name:shop'],
      commit: 'abc1234',
      ref: 'refs/heads/main',
    },
  ],
  [
    { type: 'repository', name: '/builds/Acme/Shop' },
    { name: '/builds/Acme/Shop', key: 'repository:/builds/acme/shop', weakKeys: ['repo-path:acme/shop', 'repo-name:shop'] },
  ],
  [
    { type: 'repository', name: 'Web shop', ref: ' ' },
    { name: 'Web shop', key: 'repository:web shop', weakKeys: [], ref: null },
  ],
  [
    { type: 'host', name: 'Web1.Example.com.' },
    { name: 'web1.example.com', key: 'host:web1.example.com' },
  ],
  [
    { type: 'host', name: '2001:DB8::0:1' },
    { name: '2001:db8::1', key: 'host:2001:db8::1' },
  ],
  [
    { type: 'web_application', name: 'HTTPS://Shop.Example.com:443/' },
    { name: 'https://shop.example.com', key: 'web_application:https://shop.example.com', weakKeys: ['web-host:shop.example.com'] },
  ],
  [
    { type: 'web_application', name: 'Shop.example.com' },
    { name: 'Shop.example.com', key: 'web_application:shop.example.com', weakKeys: ['web-host:shop.example.com'] },
  ],
  [
    { type: 'web_application', name: 'The shop' },
    { key: 'web_application:the shop', weakKeys: [] },
  ],
  [
    { type: 'package', name: 'pkg:npm/@acme/Shop@1.2.3?x=1' },
    { name: 'pkg:npm/%40acme/Shop', key: 'package:pkg:npm/%40acme/shop', version: '1.2.3' },
  ],
  [
    { type: 'package', name: 'Shop', version: '2' },
    { name: 'Shop', key: 'package:shop', version: '2' },
  ],
  [{ type: 'cloud_resource', name: 'arn:aws:s3:::Logs' }, { key: 'cloud_resource:arn:aws:s3:::Logs' }],
  [
    { type: 'cloud_resource', name: '/subscriptions/A/resourceGroups/B' },
    { name: '/subscriptions/A/resourceGroups/B', key: 'cloud_resource:/subscriptions/a/resourcegroups/b' },
  ],
  [
    { type: 'other', name: ' Thing ' },
    { name: 'Thing', key: 'other:Thing' },
  ],
])('reads %j', (asset, wanted) => {
  expect(normalAsset(asset)).toMatchObject(wanted);
});

describe('a name of any text', () => {
  const part = fc.constantFrom(
    'https://',
    'git@',
    'pkg:npm/',
    '.example.com',
    '/',
    ':',
    'acme',
    'Shop',
    '@',
    '1.2',
    '..',
    ' ',
    '\\',
    '#',
    '?',
    digest,
    '[::1]',
    'docker:',
    '.git',
    '%40',
    'ä',
  );
  const name = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.array(part, { maxLength: 8 }).map((parts) => parts.join('')),
  );

  it('has a normal form that is its own normal form', () => {
    fc.assert(
      fc.property(fc.constantFrom(...assetTypes), name, (type, given) => {
        const normal = normalAsset({ type, name: given });
        const again = normalAsset({ type, name: normal.name });
        expect({ name: again.name, key: again.key }).toEqual({ name: normal.name, key: normal.key });
      }),
      { numRuns: 2000 },
    );
  });
});
