import { expect, test } from 'vitest';
import { cpeComponent } from './cpe.ts';

test.each([
  ['cpe:/a:apache:http_server:2.4.6', { component: 'http_server', version: '2.4.6' }],
  ['cpe:/a:apache:http_server', { component: 'http_server' }],
  ['cpe:2.3:a:apache:http_server:2.4.6:*:*:*:*:*:*:*', { component: 'http_server', version: '2.4.6' }],
  ['cpe:2.3:a:vendor:foo\\:bar:1\\.0:-:*:*:*:*:*:*', { component: 'foo:bar', version: '1.0' }],
  ['cpe:2.3:o:linux:linux_kernel:*:*:*:*:*:*:*:*', { component: 'linux_kernel' }],
  ['cpe:/a:vendor:a%2bb:-', { component: 'a+b' }],
  ['p-cpe:/a:debian:debian_linux:openssl', { component: 'openssl' }],
  ['x-cpe:/o:vendor:thing:1', { component: 'thing', version: '1' }],
  ['cpe:/a:vendor', {}],
  ['nonsense', {}],
  [undefined, {}],
])('cpeComponent of %s', (given, expected) => {
  expect(cpeComponent(given)).toEqual(expected);
});
