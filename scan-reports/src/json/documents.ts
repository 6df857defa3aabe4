import type { ReportInput } from '../contract.ts';
import { textBytes } from '../shared/input.ts';
import { INVALID_JSON, MAX_VALUE_BYTES, TOO_LARGE } from './extractor.ts';
import { jsonValues, placeOf } from './values.ts';

export interface JsonRecord {
  place: string;
  value: unknown;
  error?: string;
}

/**
 * Reads a sequence of documents. If the first non-blank line is a document, the file is JSON Lines, and a line that is not valid JSON is an
 * error of that line only. Otherwise, documents may span several lines.
 */
export async function* jsonDocuments(input: ReportInput): AsyncGenerator<JsonRecord> {
  let isLines = false;
  reading: for await (const lines of linesOf(input))
    for (const { number, text, isLast } of lines) {
      const found = parsed(text, isLast);
      if (found === null) continue;
      isLines ||= found.error === undefined;
      if (!isLines) break reading;
      yield { place: `line ${number}`, ...found };
    }
  if (!isLines) yield* placedValues(input, '');
}

/** Yields the values at a path of one document. For the empty path, yields a sequence of documents. */
export function jsonRecords(input: ReportInput, pattern: string): AsyncGenerator<JsonRecord> {
  return pattern === '' ? jsonDocuments(input) : placedValues(input, pattern);
}

async function* placedValues(input: ReportInput, pattern: string): AsyncGenerator<JsonRecord> {
  for await (const found of jsonValues(input, [pattern])) yield { ...found, place: placeOf(found) };
}

/** Returns null for a blank line. */
function parsed(text: string | null, isLast: boolean): Omit<JsonRecord, 'place'> | null {
  if (text === null) return { value: undefined, error: TOO_LARGE };
  if (text.trim() === '') return null;
  try {
    return { value: JSON.parse(text) };
  } catch {
    return { value: undefined, error: isLast ? `${INVALID_JSON}: the file ends inside it` : INVALID_JSON };
  }
}

interface Line {
  number: number;
  /** Null if the line is too long. */
  text: string | null;
  /** True if the file ends without a line break after this line. */
  isLast: boolean;
}

/** Yields the lines that each piece of the file ends. To wait for each line would take longer than to parse it. */
async function* linesOf(input: ReportInput): AsyncGenerator<Line[]> {
  let number = 1;
  let begun: Uint8Array[] = [];
  let length = 0;
  const add = (piece: Uint8Array): void => {
    length += piece.length;
    if (length > MAX_VALUE_BYTES) begun = [];
    else begun.push(piece);
  };
  const finish = (isLast: boolean): Line => {
    const text = length > MAX_VALUE_BYTES ? null : Buffer.concat(begun).toString('utf8');
    begun = [];
    length = 0;
    return { number: number++, text, isLast };
  };
  for await (const chunk of textBytes(input)) {
    const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length);
    const lines: Line[] = [];
    let start = 0;
    for (let end = bytes.indexOf(0x0a); end !== -1; end = bytes.indexOf(0x0a, start)) {
      // Most lines are in one piece, so they need no copy.
      if (length === 0 && end - start <= MAX_VALUE_BYTES) lines.push({ number: number++, text: bytes.toString('utf8', start, end), isLast: false });
      else {
        add(bytes.subarray(start, end));
        lines.push(finish(false));
      }
      start = end + 1;
    }
    add(bytes.subarray(start));
    yield lines;
  }
  if (length > 0) yield [finish(true)];
}
