/** Where a command prints. Results go to `out`; progress and remarks go to `err`, so that results can be piped. */
export interface Terminal {
  out(text: string | Uint8Array): void;
  err(text: string): void;
  /** Whether `out` shows colors. */
  color: boolean;
  /** Whether `err` is a terminal on which a line can be written over. NO_COLOR also turns that off. */
  live: boolean;
  /** Characters per line of `out`. Without a terminal, lines are not cut. */
  width: number;
}

export function systemTerminal(): Terminal {
  const { stdout, stderr, env } = process;
  // The reader of a pipe has seen enough, as "head" does. The exit status is that of a program that the signal ends: the result is not known.
  stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 141 : 3));
  return {
    out: (text) => void stdout.write(text),
    err: (text) => void stderr.write(text),
    color: stdout.isTTY === true && stdout.hasColors(),
    live: stderr.isTTY === true && !env.NO_COLOR && env.TERM !== 'dumb',
    width: stdout.isTTY === true ? stdout.columns : Number.POSITIVE_INFINITY,
  };
}

const COLORS = { critical: 35, high: 31, medium: 33, low: 36, bold: 1, green: 32, red: 31, dim: 2 } as const;

export function painter({ color }: Pick<Terminal, 'color'>): (text: string, style: string) => string {
  return (text, style) => (color && style in COLORS ? `\u001b[${COLORS[style as keyof typeof COLORS]}m${text}\u001b[0m` : text);
}

export interface Column<Row> {
  title: string;
  value(row: Row): string;
  /** The style of a cell, such as the name of its severity. */
  style?(row: Row): string;
  /** Is cut if the terminal is too narrow for it. The last column always is. */
  isCut?: boolean;
}

const GAP = '  ';
const LEAST_WIDTH = 12;
const LEAST_WIDTH_OF_LAST = 20;

/** Rows under their titles, as wide as the terminal. */
export function table<Row>(rows: readonly Row[], columns: readonly Column<Row>[], terminal: Pick<Terminal, 'color' | 'width'>): string {
  const paint = painter(terminal);
  const cells = rows.map((row) => columns.map(({ value }) => printable(value(row))));
  const natural = columns.map(({ title }, at) => Math.max(title.length, ...cells.map((line) => [...(line[at] ?? '')].length)));
  const widths = narrowed(natural, columns, terminal.width);
  const before = widthBeforeLast(widths);
  const line = (texts: readonly string[], styleOf: (at: number) => string): string =>
    texts
      .map((text, at) => {
        const isLast = at === texts.length - 1;
        const shown = cut(text, isLast ? Math.max(LEAST_WIDTH, terminal.width - before) : (widths[at] ?? 0));
        return paint(shown, styleOf(at)) + (isLast ? '' : ' '.repeat((widths[at] ?? 0) - [...shown].length));
      })
      .join(GAP)
      .trimEnd();
  const titles = line(
    columns.map(({ title }) => title.toUpperCase()),
    () => 'dim',
  );
  const lines = rows.map((row, n) => line(cells[n] ?? [], (at) => columns[at]?.style?.(row) ?? ''));
  return `${[titles, ...lines].join('\n')}\n`;
}

const widthBeforeLast = (widths: readonly number[]): number => widths.slice(0, -1).reduce((sum, width) => sum + width + GAP.length, 0);

/** The widths of the columns, so that there is room for the last one. */
function narrowed(natural: readonly number[], columns: readonly { isCut?: boolean }[], terminalWidth: number): number[] {
  const widths = [...natural];
  for (const [at, { isCut }] of columns.entries()) {
    const missing = widthBeforeLast(widths) + Math.min(LEAST_WIDTH_OF_LAST, natural.at(-1) ?? 0) - terminalWidth;
    const width = widths[at] ?? 0;
    if (isCut && missing > 0 && at < columns.length - 1) widths[at] = Math.min(width, Math.max(LEAST_WIDTH, width - missing));
  }
  return widths;
}

const LEAST_TEXT = 24;

/** A text after its label, continued below its beginning if it is longer than a line of the terminal. */
export function wrap(label: string, text: string, { width }: Pick<Terminal, 'width'>): string {
  const room = width - label.length;
  if (room < LEAST_TEXT) return label + text;
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const longer = lines.length === 0 ? word : `${lines.at(-1)} ${word}`;
    if (lines.length > 0 && longer.length <= room) lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  return label + lines.join(`\n${' '.repeat(label.length)}`);
}

function cut(text: string, width: number): string {
  const characters = [...text];
  return characters.length <= width ? text : `${characters.slice(0, width - 1).join('')}…`;
}

/** Threat: titles come from reports. Control characters could rewrite what the terminal shows. */
export function printable(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is left out
  return text.replaceAll(/[\u0000-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, ' ');
}

/** One line that is written over while something goes on. Without a terminal, nothing is shown. */
export function progress({ err, live }: Terminal): { show(text: string): void; clear(): void } {
  let shown = '';
  const write = (text: string): void => {
    if (!live || text === shown) return;
    err(`\r\u001b[K${text}`);
    shown = text;
  };
  return { show: write, clear: () => write('') };
}

const BAR_WIDTH = 24;

/** A bar for a part from 0 to 1: "[######------]  50 %". */
export function bar(part: number): string {
  const full = Math.round(Math.min(1, part) * BAR_WIDTH);
  return `[${'#'.repeat(full)}${'-'.repeat(BAR_WIDTH - full)}] ${String(Math.floor(Math.min(1, part) * 100)).padStart(3)} %`;
}
