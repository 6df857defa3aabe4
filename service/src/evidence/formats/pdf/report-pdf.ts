import { setImmediate } from 'node:timers/promises';
import { type Block, buildReport, type Evidence, REPLACEMENT, type RenderContext, type Report, type Section } from '@rrs/evidence-format';
import { type ContentsEntry, drawContents, drawCover, drawFacts } from './draw-cover.ts';
import { drawHeading, drawTable, heightOfStart } from './draw-table.ts';
import { addSpace, breakPage, type Flow, heightOf, paragraph, reserve, startFlow } from './flow.ts';
import { countingSurface, drawingSurface, openDocument, PAGE, type Part, type Surface, WIDTH } from './surface.ts';
import { colors, styles } from './theme.ts';

/** A long report takes seconds. Other work runs after this many steps, so that the service does not block. */
const STEPS_PER_YIELD = 2;
const CHUNK_BYTES = 8 * 1024;

/** A report with more pages has a table of contents. */
const PAGES_WITHOUT_CONTENTS = 8;

/** The same evidence always gives the same bytes. Pages are emitted as soon as they are complete. */
export async function* renderPdf(evidence: Evidence, context: RenderContext): AsyncGenerator<Uint8Array> {
  const report = buildReport(evidence, context);
  const { doc, fonts } = openDocument(report);
  let step = 0;
  const count = async (contents: readonly ContentsEntry[]): Promise<Surface> => {
    const counted = countingSurface(fonts);
    for (const _ of compose(counted, report, contents)) if (++step % STEPS_PER_YIELD === 0) await setImmediate();
    return counted;
  };
  const first = await count([]);
  const counted = hasContents(first) ? await count(contentsOf(first)) : first;
  const surface = drawingSurface(doc, fonts, (page) => drawHeaderAndFooter(page, report, counted.pages));
  for (const _ of compose(surface, report, hasContents(first) ? contentsOf(counted) : [])) {
    if (++step % STEPS_PER_YIELD > 0) continue;
    if (doc.readableLength > CHUNK_BYTES) yield doc.read() as Uint8Array;
    await setImmediate();
  }
  doc.end();
  for (let chunk: Uint8Array | null = doc.read(); chunk !== null; chunk = doc.read()) yield chunk;
}

const hasContents = ({ pages }: Surface): boolean => pages > PAGES_WITHOUT_CONTENTS;
/** All sections, but not the cover. */
const contentsOf = ({ bookmarks }: Surface): ContentsEntry[] => bookmarks.slice(1);

export function* compose(surface: Surface, report: Report, contents: readonly ContentsEntry[]): Generator<void> {
  const flow = startFlow(surface);
  surface.bookmark('Conclusion');
  drawCover(flow, report);
  breakPage(flow);
  if (contents.length > 0) drawContents(flow, contents);
  for (const section of report.sections) yield* drawSection(flow, section);
  if (surface.replaced)
    addText(flow, surface.root, `${REPLACEMENT} replaces a character that this document cannot show. data/evidence.json contains the original text.`);
  surface.end();
}

function* drawSection(flow: Flow, { heading, blocks }: Section): Generator<void> {
  if (flow.y > PAGE.top) addSpace(flow, 20);
  reserve(flow, heightOf(styles.section) + 12 + heightOfBeginning(flow, blocks));
  const { surface } = flow;
  surface.bookmark(heading);
  const sect = surface.root.add('Sect');
  const part = sect.add('H2');
  paragraph(flow, heading, { style: styles.section, part });
  part.end();
  const { y } = flow;
  surface.decoration(() => surface.fill(colors.accent, { x: PAGE.left, y: y + 2, width: WIDTH, height: 1 }));
  addSpace(flow, 10);
  for (const block of blocks) {
    yield* drawBlock(flow, block, sect);
    yield;
  }
  sect.end();
}

/** The height up to the first rows of a section, so that its heading does not stand alone at the end of a page. */
function heightOfBeginning(flow: Flow, blocks: readonly Block[]): number {
  let height = 0;
  for (const block of blocks) {
    if (block.kind === 'table') return Math.min(height + heightOfStart(flow, block), MOST_KEPT);
    if (block.kind !== 'text') return height + 60;
    height += flow.surface.fonts.wrap(block.text, styles.body, WIDTH).length * heightOf(styles.body) + 6;
  }
  return height;
}

/** More than this is not kept together. */
const MOST_KEPT = 300;

function* drawBlock(flow: Flow, block: Block, sect: Part): Generator<void> {
  switch (block.kind) {
    case 'text':
      return addText(flow, sect, block.text);
    case 'heading':
      reserve(flow, 90);
      return drawHeading(flow, block.text, sect);
    case 'facts':
      return drawFacts(flow, block.facts, sect);
    case 'commands':
      return drawCommands(flow, block.lines, sect);
    case 'table':
      yield* drawTable(flow, block, sect);
  }
}

/** A short paragraph stays on one page. */
function addText(flow: Flow, parent: Part, text: string): void {
  reserve(flow, Math.min(flow.surface.fonts.wrap(text, styles.body, WIDTH).length, 8) * heightOf(styles.body));
  const part = parent.add('P');
  paragraph(flow, text, { style: styles.body, part });
  part.end();
  addSpace(flow, 6);
}

function drawCommands(flow: Flow, lines: readonly string[], sect: Part): void {
  const { surface } = flow;
  const behind = (y: number, height: number) => surface.fill(colors.head, { x: PAGE.left, y: y - 3, width: WIDTH, height: height + 6 });
  for (const line of lines) {
    const part = sect.add('Code');
    paragraph(flow, line, { style: styles.code, part, x: PAGE.left + 8, width: WIDTH - 16, behind });
    part.end();
    addSpace(flow, 7);
  }
  addSpace(flow, 4);
}

function drawHeaderAndFooter(surface: Surface, { cover, mark, organization, packageId }: Report, total: number): void {
  const style = styles.margin;
  const { fonts, pages } = surface;
  const first = (text: string, width: number) => fonts.wrap(text, style, width)[0] ?? '';
  const right = (text: string, y: number) => surface.text(text, style, { x: PAGE.right - fonts.width(text, style), y });
  if (pages > 1) {
    surface.text(`${cover.kicker}: ${cover.verdict.headline}, grade ${cover.grade.grade}`, style, { x: PAGE.left, y: 40 });
    right(first(organization, WIDTH * 0.45), 40);
    surface.fill(colors.rule, { x: PAGE.left, y: 40 + heightOf(style) + 4, width: WIDTH, height: 0.5 });
  }
  surface.fill(colors.rule, { x: PAGE.left, y: 797, width: WIDTH, height: 0.5 });
  surface.text(`Package ${packageId}`, style, { x: PAGE.left, y: 803 });
  surface.text(mark, style, { x: PAGE.left + (WIDTH - fonts.width(mark, style)) / 2, y: 803 });
  right(`Page ${pages} of ${total}`, 803);
}
