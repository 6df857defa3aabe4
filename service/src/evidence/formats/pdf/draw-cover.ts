import type { BarChart, Cover, Fact } from '../report/report-model.ts';
import { addSpace, type Flow, heightOf, paragraph, reserve } from './flow.ts';
import { PAGE, type Part, WIDTH } from './surface.ts';
import { colors, styles, tones } from './theme.ts';

export function drawCover(flow: Flow, cover: Cover): void {
  const sect = flow.surface.root.add('Sect');
  const addText = (role: 'H1' | 'P', text: string, style: (typeof styles)[keyof typeof styles]) => {
    const part = sect.add(role);
    paragraph(flow, text, { style, part });
    part.end();
  };
  addText('P', cover.kicker.toUpperCase(), styles.kicker);
  addSpace(flow, 4);
  addText('H1', cover.title, styles.title);
  addSpace(flow, 3);
  addText('P', cover.subtitle, styles.subtitle);
  addSpace(flow, 16);
  drawVerdict(flow, cover.verdict, sect);
  addSpace(flow, 16);
  drawCompleteness(flow, cover.completeness, sect);
  addSpace(flow, 16);
  drawCharts(flow, cover.bars, sect);
  addSpace(flow, 14);
  drawFacts(flow, cover.facts, sect);
  sect.end();
}

const BAR = 5;
const INSET = 20;

function drawVerdict(flow: Flow, { tone, headline, sentence, reasons, open }: Cover['verdict'], sect: Part): void {
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
  const bullet = (text: string) => bulletItem(flow, text, { parent: sect, x, width, behind });
  reserve(flow, 110);
  gap(12);
  const head = sect.add('H2');
  paragraph(flow, headline, { style: { ...styles.headline, color: ink }, part: head, x, width, behind });
  head.end();
  const lead = sect.add('P');
  paragraph(flow, sentence, { style: styles.lead, part: lead, x, width, behind });
  lead.end();
  gap(6);
  for (const reason of reasons) bullet(reason);
  if (open !== null) {
    gap(6);
    const part = sect.add('P');
    paragraph(flow, open.heading, { style: { ...styles.strong, color: ink }, part, x, width, behind });
    part.end();
    for (const each of open.items) bullet(each);
  }
  gap(12);
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

function drawCompleteness(flow: Flow, { tone, grade, sentence, gaps }: Cover['completeness'], sect: Part): void {
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
  if (surface.pages === page) flow.y = Math.max(flow.y, top + GRADE_BOX);
}

function drawCharts(flow: Flow, charts: readonly BarChart[], sect: Part): void {
  const filled = charts.filter(({ bars }) => bars.length > 0);
  if (filled.length === 0) return;
  const row = heightOf(styles.body) + 3;
  const height = 18 + Math.max(...filled.map(({ bars }) => bars.length)) * row;
  reserve(flow, height);
  const width = (WIDTH - 28) / 2;
  for (const [index, chart] of filled.entries()) drawChart(flow, chart, { x: PAGE.left + index * (width + 28), width, row, sect });
  flow.y += height;
}

function drawChart({ surface, y }: Flow, { caption, bars }: BarChart, { x, width, row, sect }: { x: number; width: number; row: number; sect: Part }): void {
  const most = Math.max(...bars.map(({ value }) => value));
  const label = 112;
  const figure = sect.add('Figure', { alt: `${caption}: ${bars.map((bar) => `${bar.label} ${bar.value}`).join(', ')}` });
  figure.content(() => {
    surface.text(caption, styles.strong, { x, y });
    for (const [index, bar] of bars.entries()) {
      const at = y + 18 + index * row;
      const long = Math.max(2, ((width - label - 40) * bar.value) / most);
      surface.text(bar.label, styles.label, { x, y: at });
      surface.fill(tones[bar.tone].ink, { x: x + label, y: at + 1.5, width: long, height: 8 });
      surface.text(bar.value.toLocaleString('en-US'), styles.label, { x: x + label + long + 5, y: at });
    }
  });
  figure.end();
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
