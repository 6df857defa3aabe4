import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { clipped, hidesText, oneLine, printable, REPLACEMENT, revealed, withoutHidden } from './printable.ts';

describe('printable text', () => {
  it('reveals characters that reverse, hide or stack text', () => {
    expect(printable('invoice\u202Efdp.exe')).toBe(`invoice${REPLACEMENT}fdp.exe`);
    expect(printable('a\u0000b\u200Bc\uD800')).toBe(`a${REPLACEMENT}b${REPLACEMENT}c${REPLACEMENT}`);
    expect(printable('a\u{3164}\u{E0041}\u{FDD0}b')).toBe(`a${REPLACEMENT.repeat(3)}b`);
    expect(printable(`e${'\u0301'.repeat(9)}`)).toBe(`e\u0301\u0301\u0301${REPLACEMENT}`);
    expect(printable(' two\r\n lines\t')).toBe('two lines');
    expect(printable('می\u200Cخواهم')).toBe('می\u200Cخواهم');
    expect(printable('👩\u200D🚀')).toBe('👩\u200D🚀');
    expect(printable('Ad\u200Da \u200CGrace\u200D')).toBe(`Ad${REPLACEMENT}a ${REPLACEMENT}Grace${REPLACEMENT}`);
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

describe('names', () => {
  const honest = ['Ada Lovelace', 'Zoë O’Neill', '株式会社', 'می\u200Cخواهم', '👩\u200D🚀 team', '❤\uFE0F team', 'a\u00A0b'];
  const hiding = [
    'A\u202Eda',
    'Ad\u200Ba',
    'Ad\u200Da',
    '\u200CAda',
    'Ada\u2066',
    'Ada\uFEFF',
    'Ad\u00ADa',
    'Ada\u2028',
    'A\tda',
    'Ad\uFE0Fa',
    'Ada\u3164',
    'A\u061Cda',
    '\u{E0041}Ada',
  ];

  it('hide something or not', () => {
    expect(honest.filter(hidesText)).toEqual([]);
    expect(hiding.filter((name) => !hidesText(name))).toEqual([]);
  });

  it('hide nothing after they were cleaned', () => {
    expect(hiding.map(withoutHidden).filter(hidesText)).toEqual([]);
    expect(withoutHidden('A\u202Ed\u200Ba')).toBe('Ada');
    fc.assert(fc.property(fc.string({ unit: 'binary' }), (wild) => !hidesText(withoutHidden(wild))));
  });

  it('can be shown next to white space that stays', () => {
    expect(revealed('two\r\n\tlines\u202E')).toBe(`two\r\n\tlines${REPLACEMENT}`);
  });
});

it('clips between code points', () => {
  expect(clipped('abc', 3)).toBe('abc');
  expect(clipped('abcd', 3)).toBe('abc…');
  expect(clipped('😀😀😀', 3)).toBe('😀😀😀');
  expect(clipped('😀😀😀😀', 3)).toBe('😀😀😀…');
});
