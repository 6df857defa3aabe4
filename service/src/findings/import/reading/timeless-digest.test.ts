import fc from 'fast-check';
import { expect, test } from 'vitest';
import { timelessDigest } from './timeless-digest.ts';

function digestOf(text: string, size = 64 * 1024): string | null {
  const digest = timelessDigest();
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += size) digest.update(bytes.subarray(at, at + size));
  return digest.digest()?.toString('hex') ?? null;
}

test.each([
  ['2026-11-15T10:00:00.123Z', '2026-11-16T08:15:00Z'],
  ['2026-11-15 10:00:00 +0100', '2025-01-01'],
  ['2026/11/15', '2025/01/01'],
  ['Thu Jul  9 14:50:41 2026', 'Fri Jul 10 04:00:00 2026'],
  ['9 July 2026', '10 August 2026'],
  ['July 9, 2026', 'Aug 10, 2026'],
  ['Sun, 20 Jun 2021 10:00:00', 'Mon, 21 Jun 2021 11:30:05'],
  ['1789459200', '1789545600'],
  ['1789459200123', '1789545600456'],
])('a report with %s is the same as one with %s', (one, other) => {
  const report = (time: string): string => `{"created": "${time}", "host": "web1", "cve": "CVE-2026-12345"}`;
  expect(digestOf(report(one))).toBe(digestOf(report(other)));
  expect(digestOf(report(one))).not.toBe(digestOf(report(one).replace('web1', 'web2')));
});

test.each(['no time at all', 'CVE-2026-12345', 'version 1.20261115.3', 'may be used', 'sha256:17894592001789459200', '10.0.0.1:8080'])(
  '%s has no times',
  (text) => {
    expect(digestOf(text)).toBeNull();
  },
);

test('does not depend on how the file is cut', () => {
  const words = fc.constantFrom(
    '2026-11-15T10:00:00Z',
    'Thu Jul  9 14:50:41 2026',
    '1789459200',
    '20261115',
    'CVE-2026-0001',
    'x',
    ' ',
    '"',
    '\n',
    'May 1, 2026',
    'ä',
    '2026-11-',
  );
  fc.assert(
    fc.property(fc.array(words, { maxLength: 60 }), fc.integer({ min: 1, max: 300 }), (pieces, size) => {
      expect(digestOf(pieces.join(''), size)).toBe(digestOf(pieces.join('')));
    }),
  );
});
