import { pipeline, Readable } from 'node:stream';
import { CsvError, parse } from 'csv-parse';
import { parse as parseNow } from 'csv-parse/sync';
import { ReportError, type ReportInput } from '../contract.ts';
import { beginning, textBytes } from '../shared/input.ts';

export interface CsvRow {
  /** By the header's names, trimmed; a repeated name keeps its first column. */
  cells: Readonly<Record<string, string>>;
  /** The line that the row begins in. */
  place: string;
  /** How many further cells have something in them, but no column with a name. */
  unnamed: number;
}

const MAX_ROW_CHARACTERS = 4 * 1024 * 1024;
const HEAD_BYTES = 65_536;
const HEAD_LINES = 20;
export const DELIMITERS = [',', ';', '\t', '|'] as const;

interface CsvOptions {
  delimiter?: string;
  nameOf?: (cell: string) => string;
}

interface Parsed {
  record: string[];
  info: { empty_lines: number };
}

/**
 * Rows below the first row that contains all of `required`; what stands before it (titles, blank lines) is passed over, and so are rows
 * of empty cells. Without a given delimiter it is the one with which such a row is there. `nameOf` makes names of what the header says.
 */
export async function* csvRows(input: ReportInput, required: readonly string[], options: CsvOptions = {}): AsyncGenerator<CsvRow> {
  const { nameOf = (cell: string) => cell } = options;
  const delimiter = options.delimiter ?? delimiterOf((await beginning(input, HEAD_BYTES)).toString('utf8'), required, nameOf);
  let lastByte: number | undefined;
  async function* bytes(): AsyncGenerator<Uint8Array> {
    for await (const chunk of textBytes(input)) {
      lastByte = chunk.at(-1) ?? lastByte;
      yield chunk;
    }
  }
  const rows: AsyncIterable<Parsed> = pipeline(
    Readable.from(bytes()),
    parse({
      delimiter,
      record_delimiter: ['\r\n', '\n', '\r'],
      relax_column_count: true,
      relax_quotes: true,
      skip_empty_lines: true,
      info: true,
      max_record_size: MAX_ROW_CHARACTERS,
    }),
    () => {},
  );
  let header: { width: number; names: string[]; columns: [number, string][] } | null = null;
  let next = 1;
  let emptyLines = 0;
  let full = 0;
  let short = 0;
  let last = 0;
  try {
    for await (const { record, info } of rows) {
      const line = next + info.empty_lines - emptyLines;
      emptyLines = info.empty_lines;
      next = line + 1 + breaksIn(record);
      if (header === null) {
        const names = record.map((cell) => nameOf(cell.trim()));
        if (required.every((name) => names.includes(name))) header = { width: names.length, names, columns: columnsOf(names) };
        continue;
      }
      last = record.length;
      if (last < header.width) short++;
      else full++;
      if (record.every((cell) => cell.trim() === '')) continue;
      const cells: Record<string, string> = Object.create(null);
      for (const [index, name] of header.columns) cells[name] = record[index]?.trim() ?? '';
      yield { cells, place: `line ${line}`, unnamed: unnamedIn(record, header.names) };
    }
  } catch (error) {
    if (error instanceof CsvError) throw new ReportError(`The file is no valid CSV: ${error.message}.`, { cause: error });
    throw error;
  }
  if (header === null) throw new ReportError(`The file has no CSV header with the columns ${required.join(', ')}.`);
  // Where every other row is full, a short one without an end of line is a file that was cut off.
  if (full > 0 && short === 1 && last < header.width && lastByte !== 0x0a && lastByte !== 0x0d)
    throw new ReportError('The file ends in the middle of a CSV row: it is not complete.');
}

/** Lines that the cells of a row take beside the first; the parser's own count takes a CRLF inside of quotes for two. */
function breaksIn(record: readonly string[]): number {
  let breaks = 0;
  for (const cell of record) if (/[\r\n]/.test(cell)) breaks += cell.match(/\r\n|\r|\n/g)?.length ?? 0;
  return breaks;
}

/** Index and name of each column; of equal names the first. */
function columnsOf(names: readonly string[]): [number, string][] {
  return [...names.entries()].filter(([index, name]) => names.indexOf(name) === index);
}

function unnamedIn(record: readonly string[], names: readonly string[]): number {
  let unnamed = 0;
  for (const [index, cell] of record.entries()) if (!names[index] && cell.trim() !== '') unnamed++;
  return unnamed;
}

function delimiterOf(text: string, required: readonly string[], nameOf: (cell: string) => string): string {
  const isHeader = (row: readonly string[]): boolean => required.every((name) => row.some((cell) => nameOf(cell) === name));
  return DELIMITERS.find((delimiter) => headRows(text, delimiter).some(isHeader)) ?? ',';
}

/** The first lines of a file as rows of trimmed cells, for every delimiter that may be meant. */
export function headRows(text: string, delimiter: string): string[][] {
  const lines = text.split(/\r\n|\n|\r/).slice(0, HEAD_LINES);
  return parsedRows(lines.join('\n'), delimiter) ?? lines.flatMap((line) => parsedRows(line, delimiter) ?? []);
}

/** Null: a quote is open at the end. */
function parsedRows(text: string, delimiter: string): string[][] | null {
  try {
    const rows = parseNow(text, { delimiter, relax_column_count: true, relax_quotes: true, skip_empty_lines: true, max_record_size: MAX_ROW_CHARACTERS });
    return (rows as string[][]).map((row) => row.map((cell) => cell.trim()));
  } catch {
    return null;
  }
}
