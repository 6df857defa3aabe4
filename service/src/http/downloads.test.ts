import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { attachment, parseRange } from './downloads.ts';

describe('a range', () => {
  it.each<[string, number, ReturnType<typeof parseRange>]>([
    ['bytes=0-0', 10, { start: 0, end: 0 }],
    ['bytes=2-5', 10, { start: 2, end: 5 }],
    ['bytes=2-99', 10, { start: 2, end: 9 }],
    ['bytes=9-', 10, { start: 9, end: 9 }],
    ['BYTES= 4-6 ', 10, { start: 4, end: 6 }],
    ['bytes=-3', 10, { start: 7, end: 9 }],
    ['bytes=-99', 10, { start: 0, end: 9 }],
    ['bytes=10-', 10, 'unsatisfiable'],
    ['bytes=10-20', 10, 'unsatisfiable'],
    ['bytes=-0', 10, 'unsatisfiable'],
    ['bytes=0-', 0, 'unsatisfiable'],
    ['bytes=-1', 0, 'unsatisfiable'],
    ['bytes=5-2', 10, null],
    ['bytes=-', 10, null],
    ['bytes=', 10, null],
    ['bytes=a-b', 10, null],
    ['bytes=0-1,3-4', 10, null],
    ['lines=0-1', 10, null],
    ['bytes=0-1e3', 10, null],
    [`bytes=${'9'.repeat(400)}-`, 10, 'unsatisfiable'],
  ])('%s of %i bytes', (header, size, expected) => {
    expect(parseRange(header, size)).toEqual(expected);
  });

  it('never exceeds the content', () => {
    const number = fc.option(fc.nat(), { nil: '' });
    fc.assert(
      fc.property(number, number, fc.nat(), (first, last, size) => {
        const range = parseRange(`bytes=${first}-${last}`, size);
        if (range === null || range === 'unsatisfiable') return;
        expect(range.start).toBeGreaterThanOrEqual(0);
        expect(range.end).toBeGreaterThanOrEqual(range.start);
        expect(range.end).toBeLessThan(size);
      }),
    );
  });
});

describe('the file name of an attachment', () => {
  it.each([
    ['report.pdf', `attachment; filename="report.pdf"; filename*=UTF-8''report.pdf`],
    ['Prüfung (1)*.pdf', `attachment; filename="Pr_fung (1)*.pdf"; filename*=UTF-8''Pr%C3%BCfung%20%281%29%2A.pdf`],
    ['../../etc/passwd', `attachment; filename=".._.._etc_passwd"; filename*=UTF-8''.._.._etc_passwd`],
    ['a"; evil=1\r\nx: y', `attachment; filename="a__ evil=1__x_ y"; filename*=UTF-8''a%22%3B%20evil%3D1__x_%20y`],
    ['\u202egnp.exe', `attachment; filename="_gnp.exe"; filename*=UTF-8''_gnp.exe`],
  ])('%j', (name, expected) => {
    expect(attachment(name)).toBe(expected);
  });

  it('is always a valid header, and survives unless it contains a path', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 60 }), (name) => {
        const header = attachment(name);
        expect(header).toMatch(/^attachment; filename="[^"%;]*"; filename\*=UTF-8''[\w.!~%-]*$/);
        expect(header).toMatch(/^[\x20-\x7e]*$/);
        const [, encoded = ''] = /UTF-8''(.*)$/.exec(header) ?? [];
        if (/^[\p{L}\p{N} .]*$/u.test(name)) expect(decodeURIComponent(encoded)).toBe(name);
      }),
    );
  });
});
