import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { normalOrigin, normalUrl, normalWebApplication, webHost } from './web.ts';

it.each([
  ['https://Shop.Example.com:443/a?b#c', 'https://shop.example.com'],
  ['http://shop.example.com:80', 'http://shop.example.com'],
  ['HTTPS://shop.example.com.:8443/', 'https://shop.example.com:8443'],
  ['https://user:pw@shop.example.com/', 'https://shop.example.com'],
  ['http://[2001:DB8:0::1]:8080/x', 'http://[2001:db8::1]:8080'],
  ['wss://shop.example.com/socket', 'wss://shop.example.com'],
  ['https://../', 'https://..'],
  ['/admin', null],
  ['shop.example.com', null],
  ['shop.example.com:8443/a', null],
  ['ftp://shop.example.com/', null],
  ['https://', null],
  ['https://a b/', null],
])('the origin of %s is %s', (text, origin) => {
  expect(normalOrigin(text)).toBe(origin);
});

describe('the address of a page', () => {
  it.each([
    ['https://Shop.example.com/A?id=1&b=2&id=3#top', 'https://shop.example.com/A?b&id'],
    ['https://shop.example.com', 'https://shop.example.com/'],
    ['https://shop.example.com/a?q=<script>&', 'https://shop.example.com/a?q'],
    ['/admin?id=1', '/admin'],
    ['shop.example.com:22', 'shop.example.com:22'],
  ])('%s is %s', (text, page) => {
    expect(normalUrl(text)).toBe(page);
  });

  it('is the same for every payload', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (payload) => {
        expect(normalUrl(`https://x/a?id=${encodeURIComponent(payload.toWellFormed())}`)).toBe('https://x/a?id');
      }),
    );
  });
});

it.each([
  ['https://shop.example.com/', 'https://shop.example.com', 'shop.example.com'],
  ['https://shop.example.com/App/?x=1', 'https://shop.example.com/App', 'shop.example.com'],
  ['http://shop.example.com:8080//', 'http://shop.example.com:8080', 'shop.example.com:8080'],
  ['Shop.example.com', null, 'shop.example.com'],
  ['shop.example.com:8443', null, 'shop.example.com:8443'],
  ['shop.example.com/app', null, 'shop.example.com'],
  ['My shop', null, null],
  ['', null, null],
])('the web application %s is %s on %s', (text, name, host) => {
  expect(normalWebApplication(text)).toBe(name);
  expect(webHost(text)).toBe(host);
});
