import { pipeline, Readable } from 'node:stream';
import { CsvError, parse } from 'csv-parse';
import { parse as parseSync } from 'csv-parse/sync';
import { type ReportEntry, ReportError, type ReportInput } from '../contract.ts';
import { beginning, textBytes } from '../shared/input.ts';
import { bounded } from '../shared/read.ts';
import { runEntry } from '../shared/run.ts';

export interface CsvRow {
  /** Trimmed cells by column name. If a name occurs several times, the first column counts. */
  cells: Readonly<Record<string, string>>;
  /** The line in which the row starts. */
  place: string;
  /** Number of non-empty cells without a named column. */
  unnamed: number;
}

const MAX_ROW_CHARACTERS = 4 * 1024 * 1024;
const HEAD_BYTES = 65_536;
const HEAD_LINES = 20;
export const DELIMITERS = [',', ';', '\t', '|'] as const;

interface CsvOptions {
  delimiter?: string;
  nameOf?: (cell: string) => string;
  /** Receives how the file ends. */
  end?: CsvEnd;
}

export interface CsvEnd {
  /** Whether the file ends in its header or in its only row, without a line break. It may have been cut off. */
  isCut: boolean;
}

/** For `csvRows`. The run is not finished if the file may have been cut off. */
export function csvEnd(): CsvEnd & { facts(): Generator<ReportEntry> } {
  return {
    isCut: false,
    *facts() {
      if (this.isCut) yield* runEntry({ unfinished: true });
    },
  };
}

interface ParsedRow {
  record: string[];
  info: { empty_lines: number };
}

/**
 * Yields the rows below the header, which is the first row that contains all `required` columns. Skips lines before the header and rows
 * with only empty cells. Without a `delimiter`, uses the one that makes the header match. `nameOf` maps header cells to column names.
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
  const rows: AsyncIterable<ParsedRow> = pipeline(
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
  let nextLine = 1;
  let emptyLines = 0;
  let fullRows = 0;
  let shortRows = 0;
  let lastWidth = 0;
  try {
    for await (const { record, info } of rows) {
      const line = nextLine + info.empty_lines - emptyLines;
      emptyLines = info.empty_lines;
      nextLine = line + 1 + breaksIn(record);
      if (header === null) {
        const names = record.map((cell) => nameOf(cell.trim()));
        if (required.every((name) => names.includes(name))) header = { width: names.length, names, columns: columnsOf(names) };
        continue;
      }
      lastWidth = record.length;
      if (lastWidth < header.width) shortRows++;
      else fullRows++;
      if (record.every((cell) => cell.trim() === '')) continue;
      const cells: Record<string, string> = Object.create(null);
      for (const [index, name] of header.columns) cells[name] = bounded(record[index] ?? '');
      yield { cells, place: `line ${line}`, unnamed: unnamedIn(record, header.names) };
    }
  } catch (error) {
    if (error instanceof CsvError) throw new ReportError(`The file is not valid CSV: ${error.message}.`, { cause: error });
    throw error;
  }
  if (header === null) throw new ReportError(`The file has no CSV header with the columns ${required.join(', ')}.`);
  if (lastByte === 0x0a || lastByte === 0x0d) return;
  // Some tools end a header without rows like this, too. It is not known whether there are rows.
  if (options.end && fullRows === 0 && shortRows <= 1) options.end.isCut = true;
  // If every other row is full, a short last row without a line break means that the file was cut off.
  if (fullRows > 0 && shortRows === 1 && lastWidth < header.width) throw new ReportError('The file is not complete: it ends inside a CSV row.');
}

/** Number of line breaks in the cells of a row. The parser's own line count takes a quoted CRLF for two. */
function breaksIn(record: readonly string[]): number {
  let breaks = 0;
  for (const cell of record) if (/[\r\n]/.test(cell)) breaks += cell.match(/\r\n|\r|\n/g)?.length ?? 0;
  return breaks;
}

/** Index and name of each column. Only the first of several columns with the same name counts. */
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

/** Returns the first lines of a file as rows of trimmed cells. */
export function headRows(text: string, delimiter: string): string[][] {
  const lines = text.split(/\r\n|\n|\r/).slice(0, HEAD_LINES);
  return parsedRows(lines.join('\n'), delimiter) ?? lines.flatMap((line) => parsedRows(line, delimiter) ?? []);
}

/** Returns null if the text ends inside quotes. */
function parsedRows(text: string, delimiter: string): string[][] | null {
  try {
    const rows = parseSync(text, { delimiter, relax_column_count: true, relax_quotes: true, skip_empty_lines: true, max_record_size: MAX_ROW_CHARACTERS });
    return (rows as string[][]).map((row) => row.map((cell) => cell.trim()));
  } catch {
    return null;
  }
}
