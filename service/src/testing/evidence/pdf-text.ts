import { inflateSync } from 'node:zlib';

/** The text layer of a PDF that pdfkit wrote, page by page and line by line, as a program that extracts text reads it. */
export function pdfText(pdf: Buffer): string[][] {
  const objects = objectsOf(pdf);
  const unicodes = fontsOf(objects);
  const pages = [...objects.values()].filter(({ head }) => /\/Type \/Page\n/.test(head));
  return pages.map(({ head }) => linesOf(contentOf(objects, head), unicodes));
}

interface PdfObject {
  head: string;
  stream: Buffer | null;
}

function objectsOf(pdf: Buffer): Map<string, PdfObject> {
  const text = pdf.toString('latin1');
  const objects = new Map<string, PdfObject>();
  for (const { 0: whole, 1: number = '', index } of text.matchAll(/^(\d+) 0 obj\n/gm)) {
    const start = index + whole.length;
    const body = text.slice(start, text.indexOf('endobj', start));
    const [head = '', ...streams] = body.split(/^stream\n/m);
    const length = Number(/\/Length (\d+)/.exec(head)?.[1] ?? 0);
    const at = start + head.length + 'stream\n'.length;
    objects.set(number, { head, stream: streams.length === 0 ? null : pdf.subarray(at, at + length) });
  }
  return objects;
}

function contentOf(objects: Map<string, PdfObject>, page: string): string {
  const number = /\/Contents (\d+) 0 R/.exec(page)?.[1] ?? '';
  return inflated(objects.get(number));
}

function inflated(object: PdfObject | undefined): string {
  if (object?.stream === null || object?.stream === undefined) return '';
  return (object.head.includes('/FlateDecode') ? inflateSync(object.stream) : object.stream).toString('latin1');
}

/** For each name of a font, the characters of its glyphs. */
function fontsOf(objects: Map<string, PdfObject>): Map<string, Map<string, string>> {
  const fonts = new Map<string, Map<string, string>>();
  for (const { head } of objects.values())
    for (const [, name = '', number = ''] of head.matchAll(/\/(F\d+) (\d+) 0 R/g)) {
      const map = /\/ToUnicode (\d+) 0 R/.exec(objects.get(number)?.head ?? '')?.[1] ?? '';
      fonts.set(name, charactersOf(inflated(objects.get(map))));
    }
  return fonts;
}

function charactersOf(cmap: string): Map<string, string> {
  const characters = new Map<string, string>();
  for (const [, first = '', list = ''] of cmap.matchAll(/<([0-9a-f]{4})> <[0-9a-f]{4}> \[([^\]]*)\]/g))
    for (const [index, [, units = '']] of [...list.matchAll(/<([0-9a-f ]*)>/g)].entries()) {
      const glyph = (Number.parseInt(first, 16) + index).toString(16).padStart(4, '0');
      characters.set(glyph, Buffer.from(units.replaceAll(' ', ''), 'hex').swap16().toString('utf16le'));
    }
  return characters;
}

function linesOf(content: string, fonts: Map<string, Map<string, string>>): string[] {
  let font = new Map<string, string>();
  return [...content.matchAll(/\/(F\d+) [\d.]+ Tf|\[([^\]]*)\] TJ/g)].flatMap(([, name, shown]) => {
    if (name !== undefined) {
      font = fonts.get(name) ?? new Map();
      return [];
    }
    const glyphs = [...(shown ?? '').matchAll(/<([0-9a-f]*)>/g)].map(([, hex = '']) => hex).join('');
    return [(glyphs.match(/.{4}/g) ?? []).map((glyph) => font.get(glyph) ?? '\u{FFFD}').join('')];
  });
}
