import { createRequire } from 'node:module';
import { printable, REPLACEMENT } from '@rrs/evidence-format';
import type PDFDocument from 'pdfkit';

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
  /** Breaks text into lines of this width. Characters without a glyph in the font are replaced. */
  wrap(text: string, style: Style, width: number): string[];
  width(text: string, style: Style): number;
  /** Clears pdfkit's cache of word layouts, which would otherwise grow with the report. */
  clearCache(): void;
}

/** DejaVu Sans Mono: every glyph is 1233 of 2048 units wide. */
const MONO_ADVANCE = 1233 / 2048;
const MAX_CACHED_WIDTHS = 20_000;
const ASCII = /^[ -~]*$/;

/** The parts of an embedded font that pdfkit does not declare. */
interface EmbeddedFont {
  _font: { font: { hasGlyphForCodePoint(codePoint: number): boolean }; layoutCache: Record<string, unknown> };
}

export function fontsOf(doc: typeof PDFDocument.prototype): Fonts {
  // cast: pdfkit does not declare the embedded font
  const embedded = (font: Style['font']) => (doc.font(fontFiles[font]) as unknown as EmbeddedFont)._font;
  const known = new Map<string, boolean>();
  const widths = new Map<string, number>();
  const measure = (text: string, font: Style['font']) => doc.font(fontFiles[font]).fontSize(1).widthOfString(text);
  const ascii = { sans: new Float64Array(128), bold: new Float64Array(128) };
  for (const font of ['sans', 'bold'] as const) for (let code = 32; code < 127; code++) ascii[font][code] = measure(String.fromCharCode(code), font);

  function has(character: string, font: Style['font']): boolean {
    const key = font + character;
    const answer = known.get(key) ?? embedded(font).font.hasGlyphForCodePoint(character.codePointAt(0) ?? 0);
    known.set(key, answer);
    return answer;
  }

  /** For ASCII text, adds up the widths of the characters. Kerning only makes text narrower, and laying out every word twice would dominate the run time. */
  function width(text: string, { font, size }: Style): number {
    if (font === 'mono') return text.length * MONO_ADVANCE * size;
    if (ASCII.test(text)) {
      let sum = 0;
      for (let at = 0; at < text.length; at++) sum += ascii[font][text.charCodeAt(at)] ?? 0;
      return sum * size;
    }
    const key = font + text;
    const one = widths.get(key) ?? measure(text, font);
    if (widths.size > MAX_CACHED_WIDTHS) widths.clear();
    widths.set(key, one);
    return one * size;
  }

  const withReplacements = (text: string, font: Style['font']) =>
    ASCII.test(text) ? text : Array.from(text, (character) => (has(character, font) ? character : REPLACEMENT)).join('');
  return {
    wrap: (text, style, room) => wrap(withReplacements(printable(text), style.font), (part) => width(part, style), room),
    width,
    clearCache: () => {
      for (const font of ['sans', 'bold'] as const) embedded(font).layoutCache = Object.create(null);
    },
  };
}

/** Breaks text into lines at spaces. A word that is wider than a line is broken, after a separator if possible. */
export function wrap(text: string, width: (text: string) => number, room: number): string[] {
  const space = width(' ');
  const lines: string[] = [];
  let line = '';
  let used = 0;
  for (const word of text.split(' ')) {
    const pieces = width(word) <= room ? [word] : breakWord(word, width, room);
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

function breakWord(word: string, width: (text: string) => number, room: number): string[] {
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
 * Joins consecutive right-to-left words with no-break spaces, so that the font lays them out as one run and puts them in order.
 * The space after the run is drawn before it, so a second space follows.
 */
export function joinRightToLeft(line: string): string {
  return RIGHT_TO_LEFT.test(line) ? line.replace(RUN, (run) => `${run.trimEnd().replaceAll(' ', '\u{A0}')}${run.endsWith(' ') ? '  ' : ''}`) : line;
}

const SCRIPTS = String.raw`\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}`;
const RIGHT_TO_LEFT = new RegExp(`[${SCRIPTS}]`, 'u');
const RUN = new RegExp(`(?<![^ ])(?:[^ ${SCRIPTS}]*[${SCRIPTS}][^ ]*(?: |$))+`, 'gu');
