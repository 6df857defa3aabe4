import { flagOf, numberOf } from './arguments.ts';
import { type Call, EXIT } from './command.ts';
import { type Column, painter, printable, table } from './terminal.ts';

export function printJson({ terminal }: Pick<Call, 'terminal'>, value: unknown): void {
  terminal.out(`${JSON.stringify(value, null, 2)}\n`);
}

const DEFAULT_LIMIT = 50;
const MOST_PER_PAGE = 200;

/** How many entries to ask for in a request. */
export function pageSize(call: Call): number {
  return Math.min(MOST_PER_PAGE, (numberOf(call, 'limit') ?? DEFAULT_LIMIT) + 1);
}

/** Prints the first entries of a list, as a table or as JSON. */
export async function printList<Row>(call: Call, rows: AsyncIterable<Row>, columns: readonly Column<Row>[], none: string): Promise<number> {
  const { terminal } = call;
  const limit = numberOf(call, 'limit') ?? DEFAULT_LIMIT;
  const shown: Row[] = [];
  let hasMore = false;
  for await (const row of rows) {
    hasMore = shown.length === limit;
    if (hasMore) break;
    shown.push(row);
  }
  if (flagOf(call, 'json')) printJson(call, shown);
  else {
    terminal.out(shown.length === 0 ? `${none}\n` : table(shown, columns, terminal));
    if (hasMore) terminal.err(`There are more. Show them with --limit ${limit * 2}, or add a filter.\n`);
  }
  return EXIT.ok;
}

/** Prints a thing with its facts, or as JSON. Facts without a value are left out. */
export function printFacts(call: Call, thing: unknown, title: string, facts: Readonly<Record<string, string | number | null | undefined>>): number {
  if (flagOf(call, 'json')) printJson(call, thing);
  else {
    const shown = Object.entries(facts).filter(([, value]) => value !== null && value !== undefined && value !== '');
    const width = Math.max(0, ...shown.map(([name]) => name.length)) + 2;
    const lines = shown.map(([name, value]) => `  ${name.padEnd(width)}${printable(String(value))}\n`);
    call.terminal.out(`${painter(call.terminal)(printable(title), 'bold')}\n${lines.join('')}`);
  }
  return EXIT.ok;
}

export const dayOf = (time: string | null): string => time?.slice(0, 10) ?? '';
export const minuteOf = (time: string | null): string => time?.slice(0, 16).replace('T', ' ') ?? '';
/** "1 finding", "2 findings". */
export const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`;
