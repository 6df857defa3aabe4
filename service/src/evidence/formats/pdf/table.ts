import type { Row, Table } from '../report/report.ts';
import { breakPage, type Flow, heightOf, need, paragraph, space } from './flow.ts';
import type { Style } from './fonts.ts';
import { PAGE, type Part, WIDTH } from './surface.ts';
import { cellStyle, colors, styles } from './theme.ts';

const GUTTER = 9;
const PADDING = 5;
const HEAD_ROW = heightOf(styles.columnHead) + 2 * PADDING;
const HEADING = heightOf(styles.heading) + 10;
/** A row that is higher is spread over pages. */
const LONGEST = PAGE.bottom - PAGE.top - 2 * PADDING - HEAD_ROW;

interface Column {
  heading: string;
  x: number;
  width: number;
}

interface SetLine {
  text: string;
  style: Style;
}

/** Row by row, so that whoever draws can take a breath. */
export function* drawTable(flow: Flow, { columns, rows, caption, heading }: Table, parent: Part): Generator<void> {
  const placed = place(columns);
  let table: Part | null = null;
  for (const row of rows) {
    const cells = setCells(flow, placed, row);
    if (table === null) {
      need(flow, (heading === null ? 0 : HEADING) + HEAD_ROW + 2 * PADDING + Math.min(Math.max(...cells.map(tall)), LONGEST));
      if (heading !== null) drawHeading(flow, heading, parent);
      table = parent.add('Table', { title: caption });
      headRow(flow, placed, table);
    }
    drawRow(flow, placed, { cells, table });
    yield;
  }
  table?.end();
  space(flow, 10);
}

export function drawHeading(flow: Flow, text: string, parent: Part): void {
  space(flow, 6);
  const part = parent.add('H3');
  paragraph(flow, text, { style: styles.heading, part });
  part.end();
  space(flow, 4);
}

function place(columns: Table['columns']): Column[] {
  const total = columns.reduce((sum, { share }) => sum + share, 0);
  let x: number = PAGE.left;
  return columns.map(({ heading, share }) => {
    const column = { heading, x, width: (WIDTH * share) / total - GUTTER };
    x += (WIDTH * share) / total;
    return column;
  });
}

/** Tagged where the table begins; where it goes on, the repeated headings are for the eye only. */
function headRow(flow: Flow, columns: readonly Column[], table: Part | null): void {
  const { surface, y } = flow;
  surface.ornament(() => surface.fill(colors.head, { x: PAGE.left - 6, y, width: WIDTH + 12, height: HEAD_ROW }));
  const draw = ({ heading, x }: Column) => surface.text(heading, styles.columnHead, { x, y: y + PADDING });
  if (table === null) {
    surface.ornament(() => columns.forEach(draw));
  } else {
    const row = table.add('TR');
    for (const column of columns) {
      const cell = row.add('TH', { scope: 'Column' });
      cell.content(() => draw(column));
      cell.end();
    }
    row.end();
  }
  flow.y += HEAD_ROW;
}

function setCells({ surface }: Flow, columns: readonly Column[], row: Row): SetLine[][] {
  return columns.map(({ width }, index) =>
    (row.cells[index] ?? []).flatMap(({ text, as }): SetLine[] => {
      const style = cellStyle(as);
      return surface.fonts.wrap(text, style, width).map((each) => ({ text: each, style }));
    }),
  );
}

function drawRow(flow: Flow, columns: readonly Column[], { cells, table }: { cells: SetLine[][]; table: Part }): void {
  const part = table.add('TR');
  const parts = columns.map(() => part.add('TD'));
  const height = Math.max(...cells.map(tall));
  if (height + 2 * PADDING > PAGE.bottom - flow.y) nextPage(flow, columns, height);
  let rest: (readonly SetLine[])[] = cells;
  while (rest.some((lines) => lines.length > 0)) {
    const room = PAGE.bottom - flow.y - 2 * PADDING;
    const pieces = rest.map((lines) => fitting(lines, room));
    drawPiece(flow, columns, { pieces, parts });
    rest = rest.map((lines, index) => lines.slice(pieces[index]?.length ?? 0));
    if (rest.some((lines) => lines.length > 0)) {
      breakPage(flow);
      headRow(flow, columns, null);
    }
  }
  for (const cell of parts) cell.end();
  part.end();
}

/** A row stays together, unless it is longer than a page and there is room to begin it. */
function nextPage(flow: Flow, columns: readonly Column[], height: number): void {
  if (height > LONGEST && PAGE.bottom - flow.y > 120) return;
  breakPage(flow);
  headRow(flow, columns, null);
}

function tall(lines: readonly SetLine[]): number {
  return lines.reduce((sum, { style }) => sum + heightOf(style), 0);
}

function fitting(lines: readonly SetLine[], room: number): readonly SetLine[] {
  let used = 0;
  const end = lines.findIndex(({ style }) => {
    used += heightOf(style);
    return used > room;
  });
  return end === -1 ? lines : lines.slice(0, Math.max(end, 0));
}

function drawPiece(flow: Flow, columns: readonly Column[], { pieces, parts }: { pieces: (readonly SetLine[])[]; parts: readonly Part[] }): void {
  const { surface } = flow;
  const top = flow.y + PADDING;
  for (const [index, { x }] of columns.entries()) {
    const lines = pieces[index] ?? [];
    if (lines.length === 0) continue;
    parts[index]?.content(() => {
      let y = top;
      for (const { text, style } of lines) {
        surface.text(text, style, { x, y });
        y += heightOf(style);
      }
    });
  }
  flow.y = top + Math.max(...pieces.map(tall)) + PADDING;
  const { y } = flow;
  surface.ornament(() => surface.fill(colors.rule, { x: PAGE.left, y, width: WIDTH, height: 0.5 }));
}
