import PDFDocument from 'pdfkit';
import type { Report } from '../report/report.ts';
import { type Fonts, fontFiles, fontsOf, type Style, visual } from './fonts.ts';
import { REPLACEMENT } from './printable.ts';

type Document = InstanceType<typeof PDFDocument>;
type Structure = ReturnType<Document['struct']>;

export const PAGE = { width: 595.28, height: 841.89, left: 54, right: 541.28, top: 76, bottom: 780 } as const;
export const WIDTH = PAGE.right - PAGE.left;

type Role = 'Document' | 'Sect' | 'H1' | 'H2' | 'H3' | 'P' | 'Table' | 'TR' | 'TH' | 'TD' | 'Figure' | 'Code';

/** A part of what the document says, for those who hear it. */
export interface Part {
  add(role: Role, options?: { alt?: string; title?: string; scope?: 'Column' }): Part;
  /** What `draw` puts on the page now belongs to this part. */
  content(draw: () => void): void;
  end(): void;
}

/** What a report is composed on: first one that only counts pages, so that each page can say how many there are, then the real one. */
export interface Surface {
  fonts: Fonts;
  root: Part;
  pages: number;
  newPage(): void;
  text(line: string, style: Style, at: { x: number; y: number }): void;
  fill(color: string, box: { x: number; y: number; width: number; height: number }): void;
  /** What repeats or decorates, and is not read out. */
  ornament(draw: () => void): void;
  bookmark(title: string): void;
  /** Whether some character could not be shown. */
  replaced: boolean;
  /** After this nothing more is drawn. */
  end(): void;
}

const silent: Part = { add: () => silent, content: (draw) => draw(), end: () => undefined };

export function countingSurface(fonts: Fonts): Surface {
  const surface: Surface = {
    fonts,
    root: silent,
    pages: 0,
    replaced: false,
    newPage: () => {
      surface.pages++;
    },
    text: (line) => {
      surface.replaced ||= line.includes(REPLACEMENT);
    },
    fill: () => undefined,
    ornament: () => undefined,
    bookmark: () => undefined,
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
    subset: 'PDF/A-2b',
    tagged: true,
    displayTitle: true,
    lang: report.lang,
    info: { Title: report.title, Author: report.organization, Creator: report.producer, Producer: report.producer, CreationDate: created, ModDate: created },
  });
  return { doc, fonts: fontsOf(doc) };
}

/** A width is only asked for to underline: any will do, and saves measuring every line once more. */
const measured = { lineBreak: false, textWidth: 0, wordCount: 1 };
/** Ids and hashes are hardly ever seen twice: laid out with features of their own, even none, they are not remembered. */
const onceSeen = { ...measured, features: [] };

/** Ids and numbers do not come again: a long report would keep every one of them. */
const REMEMBERED_PAGES = 5;

/** `furnish` draws what every page has around its content. */
export function drawingSurface(doc: Document, fonts: Fonts, furnish: (surface: Surface) => void): Surface {
  const document = doc.struct('Document');
  doc.addStructure(document);
  const finishPage = gathered(doc);
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
      if (surface.pages % REMEMBERED_PAGES === 0) fonts.forget();
      surface.ornament(() => furnish(surface));
    },
    text: (line, style, { x, y }) => {
      surface.replaced ||= line.includes(REPLACEMENT);
      if (style.color !== color) doc.fillColor(style.color);
      color = style.color;
      doc
        .font(fontFiles[style.font])
        .fontSize(style.size)
        .text(visual(line), x, y, style.font === 'mono' ? onceSeen : measured);
    },
    fill: (filled, { x, y, width, height }) => {
      color = filled;
      doc.rect(x, y, width, height).fill(filled);
    },
    ornament: (draw) => {
      doc.markContent('Artifact', { type: 'Pagination' });
      draw();
      doc.endMarkedContent();
    },
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

const GATHERED = 8192;

/** Every mark on a page would become a buffer of its own, a hundred thousand of them: they are handed on together. To be called before a page ends. */
function gathered(doc: Document): () => void {
  let marks = '';
  const handOn = (): void => {
    if (marks !== '') doc.page.write(marks.slice(0, -1));
    marks = '';
  };
  doc.addContent = (mark: string) => {
    marks += `${mark}\n`;
    if (marks.length > GATHERED) handOn();
    return doc;
  };
  return handOn;
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
