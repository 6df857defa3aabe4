import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { clipped, oneLine, printable, REPLACEMENT } from './printable.ts';

describe('printable text', () => {
  it('reveals characters that reverse, hide or stack text', () => {
    expect(printable('invoice\u202Efdp.exe')).toBe(`invoice${REPLACEMENT}fdp.exe`);
    expect(printable('a\u0000b\u200Bc\uD800')).toBe(`a${REPLACEMENT}b${REPLACEMENT}c${REPLACEMENT}`);
    expect(printable('a\u{3164}\u{E0041}\u{FDD0}b')).toBe(`a${REPLACEMENT.repeat(3)}b`);
    expect(printable(`e${'\u0301'.repeat(9)}`)).toBe(`e\u0301\u0301\u0301${REPLACEMENT}`);
    expect(printable(' two\r\n lines\t')).toBe('two lines');
    expect(printable('می\u200Cخواهم')).toBe('می\u200Cخواهم');
  });

  it('is one line, idempotent and never longer than the original', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (wild) => {
        const shown = printable(wild);
        expect(shown).not.toMatch(/[\p{Cc}\n\r]|^\s|\s$/u);
        expect(printable(shown)).toBe(shown);
        expect(shown.length).toBeLessThanOrEqual(wild.length);
      }),
      { numRuns: 500 },
    );
  });

  it('replaces everything that the engine calls a control, a format character or private use', () => {
    const kept = ['\u200C', '\u200D', '\u00AD'];
    const missed: string[] = [];
    for (let point = 0; point <= 0x10_ffff; point++) {
      const character = String.fromCodePoint(point);
      if (!/[\p{Cc}\p{Cf}\p{Co}]/u.test(character) || kept.includes(character) || oneLine(character) === '') continue;
      if (printable(`a${character}b`) !== `a${REPLACEMENT}b`) missed.push(point.toString(16));
    }
    expect(missed).toEqual([]);
  });
});

it('clips between code points', () => {
  expect(clipped('abc', 3)).toBe('abc');
  expect(clipped('abcd', 3)).toBe('abc…');
  expect(clipped('😀😀😀', 3)).toBe('😀😀😀');
  expect(clipped('😀😀😀😀', 3)).toBe('😀😀😀…');
});
