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
  for await (const { number, text, isLast } of linesOf(input)) {
    const found = parsed(text, isLast);
    if (found === null) continue;
    isLines ||= found.error === undefined;
    if (!isLines) break;
    yield { place: `line ${number}`, ...found };
  }
  if (!isLines) for await (const found of jsonValues(input, [''])) yield { ...found, place: placeOf(found) };
}

/** Yields the values at a path of one document. For the empty path, yields a sequence of documents. */
export async function* jsonRecords(input: ReportInput, pattern: string): AsyncGenerator<JsonRecord> {
  if (pattern === '') yield* jsonDocuments(input);
  else for await (const found of jsonValues(input, [pattern])) yield { ...found, place: placeOf(found) };
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

async function* linesOf(input: ReportInput): AsyncGenerator<Line> {
  let number = 1;
  let pieces: Uint8Array[] = [];
  let length = 0;
  const add = (piece: Uint8Array): void => {
    length += piece.length;
    if (length > MAX_VALUE_BYTES) pieces = [];
    else pieces.push(piece);
  };
  const finish = (isLast: boolean): Line => {
    const text = length > MAX_VALUE_BYTES ? null : Buffer.concat(pieces).toString('utf8');
    pieces = [];
    length = 0;
    return { number: number++, text, isLast };
  };
  for await (const chunk of textBytes(input)) {
    let start = 0;
    for (let end = chunk.indexOf(0x0a); end !== -1; end = chunk.indexOf(0x0a, start)) {
      add(chunk.subarray(start, end));
      yield finish(false);
      start = end + 1;
    }
    add(chunk.subarray(start));
  }
  if (length > 0) yield finish(true);
}
