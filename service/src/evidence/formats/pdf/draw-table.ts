import type { Row, Table } from '@rrs/evidence-format';
import { addSpace, breakPage, type Flow, heightOf, paragraph, reserve } from './flow.ts';
import type { Style } from './fonts.ts';
import { PAGE, type Part, WIDTH } from './surface.ts';
import { cellStyle, colors, styles } from './theme.ts';

const GUTTER = 8;
/** Between the edge of the table and its text. */
const INSET = 4;
const PADDING = 4;
const HEADING = heightOf(styles.heading) + 10;

interface Column {
  heading: string[];
  x: number;
  width: number;
}

const headHeight = (columns: readonly Column[]): number =>
  Math.max(...columns.map(({ heading }) => heading.length)) * heightOf(styles.columnHead) + 2 * PADDING;
/** A taller row is split over pages. */
const maxRow = (columns: readonly Column[]): number => PAGE.bottom - PAGE.top - 2 * PADDING - headHeight(columns);

interface WrappedLine {
  text: string;
  style: Style;
}

/** Yields after each row, so that the caller can let other work run. */
export function* drawTable(flow: Flow, { columns, rows, caption, heading }: Table, parent: Part): Generator<void> {
  const placed = placeColumns(flow, columns);
  let table: Part | null = null;
  for (const row of rows) {
    const cells = wrapCells(flow, placed, row);
    if (table === null) {
      reserve(flow, heightOfStart(flow, { heading, columns, rows: [row] }));
      if (heading !== null) drawHeading(flow, heading, parent);
      table = parent.add('Table', { title: caption });
      headRow(flow, placed, table);
    }
    drawRow(flow, placed, { cells, table });
    yield;
  }
  table?.end();
  addSpace(flow, 10);
}

/** Heading, header row and first row, which stay together. */
export function heightOfStart(flow: Flow, { heading, columns, rows }: Pick<Table, 'heading' | 'columns' | 'rows'>): number {
  const placed = placeColumns(flow, columns);
  const [row] = rows;
  const cells = row === undefined ? [] : wrapCells(flow, placed, row);
  return (heading === null ? 0 : HEADING) + headHeight(placed) + 2 * PADDING + Math.min(Math.max(0, ...cells.map(heightOfLines)), maxRow(placed));
}

export function drawHeading(flow: Flow, text: string, parent: Part): void {
  addSpace(flow, 6);
  const part = parent.add('H3');
  paragraph(flow, text, { style: styles.heading, part });
  part.end();
  addSpace(flow, 4);
}

function placeColumns({ surface }: Flow, columns: Table['columns']): Column[] {
  const total = columns.reduce((sum, { share }) => sum + share, 0);
  const all = WIDTH - 2 * INSET + GUTTER;
  let x: number = PAGE.left + INSET;
  return columns.map(({ heading, share }) => {
    const width = (all * share) / total - GUTTER;
    const column = { heading: surface.fonts.wrap(heading, styles.columnHead, width), x, width };
    x += (all * share) / total;
    return column;
  });
}

/** The first header row is tagged. Repeated header rows are decoration, so that screen readers skip them. */
function headRow(flow: Flow, columns: readonly Column[], table: Part | null): void {
  const { surface, y } = flow;
  surface.decoration(() => surface.fill(colors.head, { x: PAGE.left, y, width: WIDTH, height: headHeight(columns) }));
  const draw = ({ heading, x }: Column) => {
    for (const [index, line] of heading.entries()) surface.text(line, styles.columnHead, { x, y: y + PADDING + index * heightOf(styles.columnHead) });
  };
  if (table === null) {
    surface.decoration(() => columns.forEach(draw));
  } else {
    const row = table.add('TR');
    for (const column of columns) {
      const cell = row.add('TH', { scope: 'Column' });
      cell.content(() => draw(column));
      cell.end();
    }
    row.end();
  }
  flow.y += headHeight(columns);
}

function wrapCells({ surface }: Flow, columns: readonly Column[], row: Row): WrappedLine[][] {
  return columns.map(({ width }, index) =>
    (row.cells[index] ?? []).flatMap(({ text, as }): WrappedLine[] => {
      const style = cellStyle(as);
      return surface.fonts.wrap(text, style, width).map((each) => ({ text: each, style }));
    }),
  );
}

function drawRow(flow: Flow, columns: readonly Column[], { cells, table }: { cells: WrappedLine[][]; table: Part }): void {
  const part = table.add('TR');
  const parts = columns.map(() => part.add('TD'));
  const height = Math.max(...cells.map(heightOfLines));
  if (height + 2 * PADDING > PAGE.bottom - flow.y) nextPage(flow, columns, height);
  let rest: (readonly WrappedLine[])[] = cells;
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

/** A row is kept on one page, unless it is taller than a page and there is room to start it. */
function nextPage(flow: Flow, columns: readonly Column[], height: number): void {
  if (height > maxRow(columns) && PAGE.bottom - flow.y > 120) return;
  breakPage(flow);
  headRow(flow, columns, null);
}

function heightOfLines(lines: readonly WrappedLine[]): number {
  return lines.reduce((sum, { style }) => sum + heightOf(style), 0);
}

function fitting(lines: readonly WrappedLine[], room: number): readonly WrappedLine[] {
  let used = 0;
  const end = lines.findIndex(({ style }) => {
    used += heightOf(style);
    return used > room;
  });
  return end === -1 ? lines : lines.slice(0, Math.max(end, 0));
}

function drawPiece(flow: Flow, columns: readonly Column[], { pieces, parts }: { pieces: (readonly WrappedLine[])[]; parts: readonly Part[] }): void {
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
  flow.y = top + Math.max(...pieces.map(heightOfLines)) + PADDING;
  const { y } = flow;
  surface.decoration(() => surface.fill(colors.rule, { x: PAGE.left, y, width: WIDTH, height: 0.5 }));
}
