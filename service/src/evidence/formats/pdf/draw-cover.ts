import type { Cover, Fact, Report } from '@rrs/evidence-format';
import { drawTable } from './draw-table.ts';
import { addSpace, type Flow, heightOf, paragraph, reserve } from './flow.ts';
import { PAGE, type Part, WIDTH } from './surface.ts';
import { colors, styles, tones } from './theme.ts';

export interface ContentsEntry {
  heading: string;
  page: number;
}

/** The first page. Text that users wrote comes after the verdict and outside its box. */
export function drawCover(flow: Flow, { cover }: Report): void {
  const sect = flow.surface.root.add('Sect');
  const addText = (role: 'H1' | 'P', text: string, style: (typeof styles)[keyof typeof styles]) => {
    const part = sect.add(role);
    paragraph(flow, text, { style, part });
    part.end();
  };
  flow.y = COVER_TOP;
  addText('P', cover.mark, styles.mark);
  addSpace(flow, 8);
  addText('H1', cover.kicker, styles.kicker);
  addSpace(flow, 10);
  drawVerdict(flow, cover.verdict, sect);
  addSpace(flow, 12);
  drawGrade(flow, cover.grade, sect);
  addSpace(flow, 10);
  for (const _ of drawTable(flow, cover.counts, sect));
  addText('P', cover.quote.label, styles.label);
  addSpace(flow, 2);
  drawQuote(flow, cover.quote.text, sect);
  addSpace(flow, 10);
  drawFacts(flow, cover.facts, sect);
  addSpace(flow, 4);
  addText('P', cover.scope, styles.strong);
  sect.end();
}

const COVER_TOP = 44;
const BAR = 5;
const INSET = 20;

function drawVerdict(flow: Flow, { tone, headline, sentence, reasons }: Cover['verdict'], sect: Part): void {
  const { surface } = flow;
  const { ink, tint } = tones[tone];
  const behind = (y: number, height: number) => {
    // Slightly taller than the line, so that no seam shows between two lines.
    surface.fill(tint, { x: PAGE.left, y, width: WIDTH, height: height + 0.4 });
    surface.fill(ink, { x: PAGE.left, y, width: BAR, height: height + 0.4 });
  };
  const x = PAGE.left + INSET;
  const width = WIDTH - 2 * INSET;
  const gap = (height: number) => {
    const { y } = flow;
    surface.decoration(() => behind(y, height));
    flow.y += height;
  };
  gap(10);
  const head = sect.add('H2');
  paragraph(flow, headline, { style: { ...styles.headline, color: ink }, part: head, x, width, behind });
  head.end();
  const lead = sect.add('P');
  paragraph(flow, sentence, { style: styles.lead, part: lead, x, width, behind });
  lead.end();
  gap(5);
  for (const reason of reasons) bulletItem(flow, reason, { parent: sect, x, width, behind });
  gap(10);
}

function bulletItem(
  flow: Flow,
  text: string,
  { parent, x, width, behind }: { parent: Part; x: number; width: number; behind?: (y: number, height: number) => void },
): void {
  const part = parent.add('P');
  const mark = { text: '•', style: styles.body, x };
  paragraph(flow, text, { style: styles.body, part, x: x + 11, width: width - 11, mark, ...(behind ? { behind } : {}) });
  part.end();
}

const GRADE_BOX = 52;

function drawGrade(flow: Flow, { tone, grade, sentence, legend, gaps }: Cover['grade'], sect: Part): void {
  const { surface } = flow;
  reserve(flow, GRADE_BOX + 8);
  const top = flow.y;
  const page = surface.pages;
  const { ink, tint } = tones[tone];
  surface.decoration(() => surface.fill(tint, { x: PAGE.left, y: top, width: GRADE_BOX, height: GRADE_BOX }));
  const heading = sect.add('H2');
  const style = { ...styles.grade, color: ink };
  heading.content(() => surface.text(grade, style, { x: PAGE.left + (GRADE_BOX - surface.fonts.width(grade, style)) / 2, y: top + 7 }));
  const x = PAGE.left + GRADE_BOX + 16;
  paragraph(flow, `Completeness: grade ${grade}. ${sentence}`, { style: styles.heading, part: heading, x });
  heading.end();
  addSpace(flow, 3);
  for (const gap of gaps) bulletItem(flow, gap, { parent: sect, x, width: PAGE.right - x });
  addSpace(flow, 2);
  const part = sect.add('P');
  paragraph(flow, legend, { style: styles.small, part, x });
  part.end();
  if (surface.pages === page) flow.y = Math.max(flow.y, top + GRADE_BOX);
}

function drawQuote(flow: Flow, text: string, sect: Part): void {
  const { surface } = flow;
  const behind = (y: number, height: number) => surface.fill(colors.rule, { x: PAGE.left, y, width: 2, height: height + 0.4 });
  const part = sect.add('P');
  paragraph(flow, `“${text}”`, { style: styles.quote, part, x: PAGE.left + 10, behind });
  part.end();
}

const LABEL = 96;

export function drawFacts(flow: Flow, facts: readonly Fact[], parent: Part): void {
  for (const [label, value] of facts) {
    reserve(flow, heightOf(styles.body) + 4);
    const { y } = flow;
    flow.surface.decoration(() => flow.surface.fill(colors.rule, { x: PAGE.left, y: y - 2, width: WIDTH, height: 0.4 }));
    const part = parent.add('P');
    paragraph(flow, value, { style: styles.body, part, x: PAGE.left + LABEL, mark: { text: label, style: styles.label, x: PAGE.left } });
    part.end();
    addSpace(flow, 4);
  }
}

const CONTENTS_COLUMNS = 3;

export function drawContents(flow: Flow, contents: readonly ContentsEntry[]): void {
  const { surface } = flow;
  const sect = surface.root.add('Sect');
  const row = heightOf(styles.small) + 1;
  const rows = Math.ceil(contents.length / CONTENTS_COLUMNS);
  const part = sect.add('H2');
  paragraph(flow, 'Contents', { style: styles.heading, part });
  part.end();
  addSpace(flow, 3);
  const width = WIDTH / CONTENTS_COLUMNS - 14;
  const top = flow.y;
  for (const [index, entry] of contents.entries()) {
    const x = PAGE.left + Math.floor(index / rows) * (WIDTH / CONTENTS_COLUMNS);
    const y = top + (index % rows) * row;
    const page = String(entry.page);
    const item = sect.add('P');
    item.content(() => {
      surface.text(`${entry.heading} `, styles.small, { x, y });
      surface.text(page, styles.small, { x: x + width - surface.fonts.width(page, styles.small), y });
    });
    item.end();
  }
  flow.y = top + rows * row;
  sect.end();
}
