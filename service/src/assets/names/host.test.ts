import fc from 'fast-check';
import { expect, it } from 'vitest';
import { normalHost } from './host.ts';

it.each([
  ['Web1.Example.COM', 'web1.example.com'],
  ['web1.example.com.', 'web1.example.com'],
  [' web1 ', 'web1'],
  ['web1:443', 'web1'],
  ['https://user:pw@Web1.example.com:8443/a?b#c', 'web1.example.com'],
  ['bücher.example', 'xn--bcher-kva.example'],
  ['10.0.0.1', '10.0.0.1'],
  ['10.0.0.1:22', '10.0.0.1'],
  ['2001:0DB8:0:0:0:0:0:1', '2001:db8::1'],
  ['[2001:db8::1]', '2001:db8::1'],
  ['[2001:db8::1]:443', '2001:db8::1'],
  ['fe80::1%eth0', 'fe80::1'],
  ['::ffff:10.0.0.1', '10.0.0.1'],
  ['::FFFF:0a00:0001', '10.0.0.1'],
  // Not an address, although URLs would read it as one.
  ['1', '1'],
  ['0x7f.1', '0x7f.1'],
  ['my host', 'my host'],
  ['', ''],
])('%s is %s', (text, name) => {
  expect(normalHost(text)).toBe(name);
});

it('does not change a normal name', () => {
  const odd = fc
    .array(fc.constantFrom('a', '.', ':', '[', ']', '%', '/', '1', '::', '@', 'ß', ' ', 'http://', '?', '-'), { maxLength: 12 })
    .map((parts) => parts.join(''));
  fc.assert(
    fc.property(fc.oneof(fc.string({ unit: 'binary' }), odd, fc.ipV6(), fc.ipV4(), fc.domain()), (text) => {
      expect(normalHost(normalHost(text))).toBe(normalHost(text));
    }),
    { numRuns: 500 },
  );
});
