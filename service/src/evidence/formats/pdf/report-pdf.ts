import { setImmediate } from 'node:timers/promises';
import type { ReportContext, ReportedEvidence } from '../context.ts';
import type { Block, Report, Section } from '../report/report.ts';
import { reportOf } from '../report/report-of.ts';
import { drawCover, drawFacts } from './cover.ts';
import { breakPage, type Flow, heightOf, need, paragraph, space, startFlow } from './flow.ts';
import { REPLACEMENT } from './printable.ts';
import { countingSurface, drawingSurface, openDocument, PAGE, type Part, type Surface, WIDTH } from './surface.ts';
import { drawHeading, drawTable } from './table.ts';
import { colors, styles } from './theme.ts';

/** Steps after which others have their turn: a long report takes seconds, and must not stop the service for so long. */
const BREATH = 2;
/** Bytes that are worth handing on. */
const ENOUGH = 8 * 1024;

/** The same bytes for the same evidence, whenever and wherever. Pages leave as they are done. */
export async function* renderPdf(evidence: ReportedEvidence, context: ReportContext): AsyncGenerator<Uint8Array> {
  const report = reportOf(evidence, context);
  const { doc, fonts } = openDocument(report);
  const counted = countingSurface(fonts);
  let step = 0;
  for (const _ of compose(counted, report)) if (++step % BREATH === 0) await setImmediate();
  const surface = drawingSurface(doc, fonts, (its) => furnish(its, report, counted.pages));
  for (const _ of compose(surface, report)) {
    if (++step % BREATH > 0) continue;
    if (doc.readableLength > ENOUGH) yield doc.read() as Uint8Array;
    await setImmediate();
  }
  doc.end();
  for (let chunk: Uint8Array | null = doc.read(); chunk !== null; chunk = doc.read()) yield chunk;
}

export function* compose(surface: Surface, report: Report): Generator<void> {
  const flow = startFlow(surface);
  surface.bookmark('Conclusion');
  drawCover(flow, report.cover);
  breakPage(flow);
  for (const section of report.sections) yield* drawSection(flow, section);
  if (surface.replaced) say(flow, surface.root, `${REPLACEMENT} stands for a character that this document cannot show. data/evidence.json has it.`);
  surface.end();
}

function* drawSection(flow: Flow, { heading, blocks }: Section): Generator<void> {
  if (flow.y > PAGE.top) space(flow, 20);
  need(flow, 120);
  const { surface } = flow;
  surface.bookmark(heading);
  const sect = surface.root.add('Sect');
  const part = sect.add('H2');
  paragraph(flow, heading, { style: styles.section, part });
  part.end();
  const { y } = flow;
  surface.ornament(() => surface.fill(colors.accent, { x: PAGE.left, y: y + 2, width: WIDTH, height: 1 }));
  space(flow, 10);
  for (const block of blocks) {
    yield* drawBlock(flow, block, sect);
    yield;
  }
  sect.end();
}

function* drawBlock(flow: Flow, block: Block, sect: Part): Generator<void> {
  switch (block.kind) {
    case 'text':
      return say(flow, sect, block.text);
    case 'heading':
      need(flow, 90);
      return drawHeading(flow, block.text, sect);
    case 'facts':
      return drawFacts(flow, block.facts, sect);
    case 'commands':
      return commands(flow, block.lines, sect);
    case 'table':
      yield* drawTable(flow, block, sect);
  }
}

function say(flow: Flow, parent: Part, text: string): void {
  const part = parent.add('P');
  paragraph(flow, text, { style: styles.body, part });
  part.end();
  space(flow, 6);
}

function commands(flow: Flow, lines: readonly string[], sect: Part): void {
  const { surface } = flow;
  const behind = (y: number, height: number) => surface.fill(colors.head, { x: PAGE.left, y: y - 3, width: WIDTH, height: height + 6 });
  for (const line of lines) {
    const part = sect.add('Code');
    paragraph(flow, line, { style: styles.code, part, x: PAGE.left + 8, width: WIDTH - 16, behind });
    part.end();
    space(flow, 7);
  }
  space(flow, 4);
}

/** Above and below the content of every page. */
function furnish(surface: Surface, { cover, organization, packageId }: Report, total: number): void {
  const style = styles.furniture;
  const { fonts, pages } = surface;
  const first = (text: string, width: number) => fonts.wrap(text, style, width)[0] ?? '';
  const right = (text: string, y: number) => surface.text(text, style, { x: PAGE.right - fonts.width(text, style), y });
  if (pages > 1) {
    surface.text(first(cover.title, WIDTH * 0.6), style, { x: PAGE.left, y: 40 });
    right(first(organization, WIDTH * 0.35), 40);
    surface.fill(colors.rule, { x: PAGE.left, y: 40 + heightOf(style) + 4, width: WIDTH, height: 0.5 });
  }
  surface.fill(colors.rule, { x: PAGE.left, y: 797, width: WIDTH, height: 0.5 });
  surface.text(`Package ${packageId}`, style, { x: PAGE.left, y: 803 });
  right(`${pages} of ${total}`, 803);
}
