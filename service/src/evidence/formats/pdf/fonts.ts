import { createRequire } from 'node:module';
import type PDFDocument from 'pdfkit';
import { printable, REPLACEMENT } from './printable.ts';

const require = createRequire(import.meta.url);
export const fontFiles = {
  sans: require.resolve('dejavu-fonts-ttf/ttf/DejaVuSans.ttf'),
  bold: require.resolve('dejavu-fonts-ttf/ttf/DejaVuSans-Bold.ttf'),
  mono: require.resolve('dejavu-fonts-ttf/ttf/DejaVuSansMono.ttf'),
} as const;

export interface Style {
  font: keyof typeof fontFiles;
  size: number;
  color: string;
}

export interface Fonts {
  /** Lines no wider than that, with a replacement for each character that the font has no glyph for. */
  wrap(text: string, style: Style, width: number): string[];
  width(text: string, style: Style): number;
  /** Lets go of how words were laid out, which is kept for those that come again. */
  forget(): void;
}

/** DejaVu Sans Mono: 1233 of 2048 units. */
const MONO_ADVANCE = 1233 / 2048;
const MOST_REMEMBERED = 20_000;
const ASCII = /^[ -~]*$/;

/** What pdfkit keeps of an embedded font and does not publish. */
interface Opened {
  _font: { font: { hasGlyphForCodePoint(codePoint: number): boolean }; layoutCache: Record<string, unknown> };
}

export function fontsOf(doc: typeof PDFDocument.prototype): Fonts {
  const opened = (font: Style['font']) => (doc.font(fontFiles[font]) as unknown as Opened)._font;
  const known = new Map<string, boolean>();
  const widths = new Map<string, number>();
  const measure = (text: string, font: Style['font']) => doc.font(fontFiles[font]).fontSize(1).widthOfString(text);
  const ascii = { sans: new Float64Array(128), bold: new Float64Array(128) };
  for (const font of ['sans', 'bold'] as const) for (let code = 32; code < 127; code++) ascii[font][code] = measure(String.fromCharCode(code), font);

  function has(character: string, font: Style['font']): boolean {
    const key = font + character;
    const answer = known.get(key) ?? opened(font).font.hasGlyphForCodePoint(character.codePointAt(0) ?? 0);
    known.set(key, answer);
    return answer;
  }

  /** Of plain text the sum of its letters: kerning takes away from it, and laying out every word twice would take longer than all the rest. */
  function width(text: string, { font, size }: Style): number {
    if (font === 'mono') return text.length * MONO_ADVANCE * size;
    if (ASCII.test(text)) {
      let sum = 0;
      for (let at = 0; at < text.length; at++) sum += ascii[font][text.charCodeAt(at)] ?? 0;
      return sum * size;
    }
    const key = font + text;
    const one = widths.get(key) ?? measure(text, font);
    if (widths.size > MOST_REMEMBERED) widths.clear();
    widths.set(key, one);
    return one * size;
  }

  const shown = (text: string, font: Style['font']) =>
    ASCII.test(text) ? text : Array.from(text, (character) => (has(character, font) ? character : REPLACEMENT)).join('');
  return {
    wrap: (text, style, room) => wrap(shown(printable(text), style.font), (part) => width(part, style), room),
    width,
    forget: () => {
      for (const font of ['sans', 'bold'] as const) opened(font).layoutCache = Object.create(null);
    },
  };
}

/** Lines of words; a word that is too long for one is broken, after a separator where there is one. */
export function wrap(text: string, width: (text: string) => number, room: number): string[] {
  const space = width(' ');
  const lines: string[] = [];
  let line = '';
  let used = 0;
  for (const word of text.split(' ')) {
    const pieces = width(word) <= room ? [word] : broken(word, width, room);
    for (const [index, piece] of pieces.entries()) {
      const wide = width(piece);
      const joined = line !== '' && index === 0;
      if (joined && used + space + wide <= room) {
        line += ` ${piece}`;
        used += space + wide;
      } else {
        if (line !== '') lines.push(line);
        line = piece;
        used = wide;
      }
    }
  }
  return [...lines, line];
}

const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' });
const SEPARATORS = /[/\\\-_.:;,@?&=#|]/;

function broken(word: string, width: (text: string) => number, room: number): string[] {
  const pieces: string[] = [];
  let piece = '';
  let used = 0;
  let after = 0;
  for (const { segment } of graphemes.segment(word)) {
    const wide = width(segment);
    if (used + wide > room && piece !== '') {
      const cut = after > piece.length / 2 ? after : piece.length;
      pieces.push(piece.slice(0, cut));
      piece = piece.slice(cut);
      used = width(piece);
      after = 0;
    }
    piece += segment;
    used += wide;
    if (SEPARATORS.test(segment)) after = piece.length;
  }
  return [...pieces, piece];
}

/**
 * Words of a script that is read from right to left are laid out as one, which no-break spaces make them: the font then puts them in order.
 * The space behind them lands before them, so there are two.
 */
export function visual(line: string): string {
  return RIGHT_TO_LEFT.test(line) ? line.replace(RUN, (run) => `${run.trimEnd().replaceAll(' ', '\u{A0}')}${run.endsWith(' ') ? '  ' : ''}`) : line;
}

const RIGHT_TO_LEFT = /[\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}]/u;
const RUN = new RegExp(`(?:[^ ]*${RIGHT_TO_LEFT.source}[^ ]*(?: |$))+`, 'gu');
