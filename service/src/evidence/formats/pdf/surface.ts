import { REPLACEMENT, type Report } from '@rrs/evidence-format';
import PDFDocument from 'pdfkit';
import { type Fonts, fontFiles, fontsOf, joinRightToLeft, type Style } from './fonts.ts';

type Document = InstanceType<typeof PDFDocument>;
type Structure = ReturnType<Document['struct']>;

export const PAGE = { width: 595.28, height: 841.89, left: 54, right: 541.28, top: 76, bottom: 780 } as const;
export const WIDTH = PAGE.right - PAGE.left;

type Role = 'Document' | 'Sect' | 'H1' | 'H2' | 'H3' | 'P' | 'Table' | 'TR' | 'TH' | 'TD' | 'Figure' | 'Code';

/** An element of the document structure, for screen readers. */
export interface Part {
  add(role: Role, options?: { alt?: string; title?: string; scope?: 'Column' }): Part;
  /** Everything that `draw` puts on the page belongs to this part. */
  content(draw: () => void): void;
  end(): void;
}

/** The report is composed twice: first on a surface that only counts pages, because each page shows the total, then on the real one. */
export interface Surface {
  fonts: Fonts;
  root: Part;
  pages: number;
  newPage(): void;
  text(line: string, style: Style, at: { x: number; y: number }): void;
  fill(color: string, box: { x: number; y: number; width: number; height: number }): void;
  /** Decoration and repetition that screen readers skip. */
  decoration(draw: () => void): void;
  bookmark(title: string): void;
  /** The bookmarks so far. */
  bookmarks: { heading: string; page: number }[];
  /** Whether a character was replaced because the font has no glyph for it. */
  replaced: boolean;
  /** Nothing can be drawn after this. */
  end(): void;
}

const noPart: Part = { add: () => noPart, content: (draw) => draw(), end: () => undefined };

export function countingSurface(fonts: Fonts): Surface {
  const surface: Surface = {
    fonts,
    root: noPart,
    pages: 0,
    replaced: false,
    newPage: () => {
      surface.pages++;
    },
    text: (line) => {
      surface.replaced ||= line.includes(REPLACEMENT);
    },
    fill: () => undefined,
    decoration: () => undefined,
    bookmarks: [],
    bookmark: (heading) => {
      surface.bookmarks.push({ heading, page: surface.pages });
    },
    end: () => undefined,
  };
  return surface;
}

export function openDocument(report: Report): { doc: Document; fonts: Fonts } {
  const created = new Date(report.generatedAt);
  const doc = new PDFDocument({
    autoFirstPage: false,
    font: fontFiles.sans,
    size: [PAGE.width, PAGE.height],
    margin: 0,
    pdfVersion: '1.7',
    tagged: true,
    displayTitle: true,
    lang: report.lang,
    info: {
      Title: report.title,
      Subject: `${report.cover.verdict.headline}. Grade ${report.cover.grade.grade}.`,
      Author: report.organization,
      Creator: report.producer,
      Producer: report.producer,
      CreationDate: created,
      ModDate: created,
    },
  });
  return { doc, fonts: fontsOf(doc) };
}

/** pdfkit needs the width only for underlines. Any value avoids measuring every line again. */
const premeasured = { lineBreak: false, textWidth: 0, wordCount: 1 };
/** pdfkit does not cache text with explicit features. Ids and hashes rarely repeat, so caching them would only cost memory. */
const uncached = { ...premeasured, features: [] };

/** The layout cache is cleared after this many pages, because a long report has many words that never repeat. */
const CACHED_PAGES = 5;

/** `drawMargins` draws the header and footer of a page. */
export function drawingSurface(doc: Document, fonts: Fonts, drawMargins: (surface: Surface) => void): Surface {
  const document = doc.struct('Document');
  doc.addStructure(document);
  const finishPage = batchWrites(doc);
  let color = '';
  const surface: Surface = {
    fonts,
    root: partOf(doc, document, 'Document'),
    pages: 0,
    replaced: false,
    newPage: () => {
      finishPage();
      doc.addPage();
      color = '';
      surface.pages++;
      if (surface.pages % CACHED_PAGES === 0) fonts.clearCache();
      surface.decoration(() => drawMargins(surface));
    },
    text: (line, style, { x, y }) => {
      surface.replaced ||= line.includes(REPLACEMENT);
      if (style.color !== color) doc.fillColor(style.color);
      color = style.color;
      doc
        .font(fontFiles[style.font])
        .fontSize(style.size)
        .text(joinRightToLeft(line), x, y, style.font === 'mono' ? uncached : premeasured);
    },
    fill: (filled, { x, y, width, height }) => {
      color = filled;
      doc.rect(x, y, width, height).fill(filled);
    },
    decoration: (draw) => {
      doc.markContent('Artifact', { type: 'Pagination' });
      draw();
      doc.endMarkedContent();
    },
    bookmarks: [],
    bookmark: (title) => {
      doc.outline.addItem(title);
    },
    end: () => {
      finishPage();
      surface.root.end();
    },
  };
  return surface;
}

const BATCH_LENGTH = 8192;

/** pdfkit creates a buffer for every drawing operator. Batching them saves about a hundred thousand buffers. Call the result before a page ends. */
function batchWrites(doc: Document): () => void {
  let operators = '';
  const flush = (): void => {
    if (operators !== '') doc.page.write(operators.slice(0, -1));
    operators = '';
  };
  doc.addContent = (operator: string) => {
    operators += `${operator}\n`;
    if (operators.length > BATCH_LENGTH) flush();
    return doc;
  };
  return flush;
}

function partOf(doc: Document, structure: Structure, role: Role): Part {
  return {
    add: (childRole, options = {}) => {
      const child = doc.struct(childRole, options);
      structure.add(child);
      return partOf(doc, child, childRole);
    },
    content: (draw) => {
      const content = doc.markStructureContent(role);
      draw();
      doc.endMarkedContent();
      structure.add(content);
    },
    end: () => structure.end(),
  };
}
