import type { Style } from './fonts.ts';
import { PAGE, type Part, type Surface } from './surface.ts';
import { LEADING } from './theme.ts';

/** The position of the next line. */
export interface Flow {
  surface: Surface;
  y: number;
}

export const heightOf = ({ size }: Style): number => size * LEADING;

export function startFlow(surface: Surface): Flow {
  surface.newPage();
  return { surface, y: PAGE.top };
}

export function breakPage(flow: Flow): void {
  flow.surface.newPage();
  flow.y = PAGE.top;
}

/** Starts a new page unless this height fits on the current one. */
export function reserve(flow: Flow, height: number): void {
  if (flow.y + height > PAGE.bottom && flow.y > PAGE.top) breakPage(flow);
}

export function addSpace(flow: Flow, height: number): void {
  flow.y = Math.min(flow.y + height, PAGE.bottom);
}

export interface Paragraph {
  style: Style;
  part: Part;
  x?: number;
  width?: number;
  /** A bullet or label before the first line. */
  mark?: { text: string; style: Style; x: number };
  /** Drawn behind each line, so that it continues with the text on the next page. */
  behind?: (y: number, height: number) => void;
}

export function paragraph(flow: Flow, text: string, { style, part, x = PAGE.left, width = PAGE.right - x, mark, behind }: Paragraph): void {
  const { surface } = flow;
  const height = heightOf(style);
  for (const [index, line] of surface.fonts.wrap(text, style, width).entries()) {
    reserve(flow, height);
    const { y } = flow;
    if (behind) surface.decoration(() => behind(y, height));
    part.content(() => {
      if (mark && index === 0) surface.text(`${mark.text} `, mark.style, { x: mark.x, y: y + (height - heightOf(mark.style)) / 2 });
      surface.text(line, style, { x, y });
    });
    flow.y += height;
  }
}
