import { ReportError } from '../contract.ts';
import { type PatternNode, patternTree } from './patterns.ts';
import { stringEnd, UNFINISHED_ESCAPE } from './string-end.ts';

/** A value extracted from a document. Has `error` instead of `value` if it is not valid JSON or too large. */
export interface JsonValue {
  /** Index of the document in a sequence of documents (JSON Lines). 0 for an ordinary file. */
  document: number;
  /** Keys and indexes from the root of the document. */
  path: readonly (string | number)[];
  /** Index of the pattern that the value matched. */
  pattern: number;
  value: unknown;
  error?: string;
}

const MAX_DEPTH = 200;
export const MAX_VALUE_BYTES = 16 * 1024 * 1024;
const MAX_KEY_BYTES = 1024 * 1024;
export const TOO_LARGE = `the record is larger than ${MAX_VALUE_BYTES} bytes`;
export const INVALID_JSON = 'the record is not valid JSON';
/** Bounds the number of parsed values in memory, however large a chunk is. */
const BATCH_SIZE = 256;

interface Frame {
  array: boolean;
  /** Key or index of the member that is being read. */
  key: string | number;
  node: PatternNode;
}

const QUOTE = 0x22;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;
const COMMA = 0x2c;
const COLON = 0x3a;

const isSpace = (byte: number): boolean => byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;

type Mode = 'value' | 'first_key' | 'key' | 'colon' | 'after' | 'key_text' | 'string' | 'scalar' | 'container';

/**
 * A push parser: `write` scans a chunk for structure, `take` returns the values completed so far, `end` checks that nothing is open. Larger values than
 * `maxBytes` are not parsed.
 */
export function createExtractor(patterns: readonly (readonly string[])[], maxBytes = MAX_VALUE_BYTES) {
  const root = patternTree(patterns);
  const stack: Frame[] = [];
  let values: JsonValue[] = [];
  let mode: Mode = 'value';
  let document = 0;
  let offset = 0;
  // State of the value that is skipped or captured as a whole.
  let matched = -1;
  /** Start of the value or key in the current chunk. `pieces` has its bytes from earlier chunks. */
  let start = 0;
  let pieces: Buffer[] = [];
  let captured = 0;
  let depth = 0;
  const kinds = new Uint8Array(MAX_DEPTH + 1);
  let inString = false;
  let escaped = false;

  const fail = (at: number, what: string): never => {
    throw new ReportError(`The file is not valid JSON: ${what} at byte ${offset + at}.`);
  };

  const currentNode = (): PatternNode | null => {
    const parent = stack.at(-1);
    if (parent === undefined) return root;
    const { named, other } = parent.node;
    return (named.size === 0 ? undefined : named.get(String(parent.key))) ?? other;
  };

  /** Keeps the bytes of a value or key that continues in the next chunk. */
  const carryOver = (chunk: Buffer): void => {
    captured += chunk.length - start;
    if (mode === 'key_text' && captured > MAX_KEY_BYTES) fail(chunk.length, `key longer than ${MAX_KEY_BYTES} bytes`);
    if (captured > maxBytes) pieces = [];
    else if (mode === 'key_text' || matched !== -1) pieces.push(chunk.subarray(start));
  };

  const textTo = (chunk: Buffer, end: number): string => {
    if (pieces.length === 0) return chunk.toString('utf8', start, end);
    const text = Buffer.concat([...pieces, chunk.subarray(start, end)]).toString('utf8');
    pieces = [];
    return text;
  };

  const finish = (chunk: Buffer, end: number): void => {
    if (matched !== -1) values.push({ document, path: stack.map(({ key }) => key), pattern: matched, ...parsed(chunk, end) });
    captured = 0;
    endValue();
  };

  const parsed = (chunk: Buffer, end: number): { value: unknown; error?: string } => {
    if (captured + end - start > maxBytes) {
      pieces = [];
      return { value: undefined, error: TOO_LARGE };
    }
    try {
      return { value: JSON.parse(textTo(chunk, end)) };
    } catch {
      return { value: undefined, error: INVALID_JSON };
    }
  };

  /** A value is complete. The outermost value is a document. */
  const endValue = (): void => {
    if (stack.length === 0) document++;
    mode = stack.length === 0 ? 'value' : 'after';
  };

  const close = (): void => {
    stack.pop();
    endValue();
  };

  /** Handles the first byte of a value. Returns the next index to read. */
  const begin = (chunk: Buffer, at: number): number => {
    const byte = chunk[at] as number;
    const node = currentNode();
    matched = node?.matched ?? -1;
    start = at;
    if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) {
      if (node !== null && matched === -1 && (node.named.size > 0 || node.other !== null)) {
        stack.push({ array: byte === OPEN_ARRAY, key: 0, node });
        mode = byte === OPEN_ARRAY ? 'value' : 'first_key';
        return at + 1;
      }
      mode = 'container';
      depth = 0;
      inString = false;
      return at;
    }
    if (byte === QUOTE) {
      mode = 'string';
      escaped = false;
      return at + 1;
    }
    if (!/[-0-9tfn]/.test(String.fromCharCode(byte))) fail(at, `unexpected "${String.fromCharCode(byte)}"`);
    mode = 'scalar';
    return at;
  };

  /** Returns the index of the quote that ends the string, or -1 if the string continues in the next chunk. */
  const endOfString = (chunk: Buffer, from: number): number => {
    const end = stringEnd(chunk, escaped ? from + 1 : from);
    escaped = end === UNFINISHED_ESCAPE;
    return end < 0 ? -1 : end;
  };

  const inContainer = (chunk: Buffer, from: number): number => {
    const length = chunk.length;
    let at = from;
    if (inString) {
      at = endOfString(chunk, at) + 1;
      if (at === 0) at = length;
      else inString = false;
    }
    while (at < length) {
      const byte = chunk[at++] as number;
      // Spaces, commas, colons, digits.
      if (byte < OPEN_ARRAY && byte !== QUOTE) continue;
      if (byte === QUOTE) {
        escaped = false;
        const end = endOfString(chunk, at);
        if (end === -1) {
          inString = true;
          break;
        }
        at = end + 1;
      } else if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) {
        if (depth >= MAX_DEPTH) fail(at - 1, `more than ${MAX_DEPTH} nested levels`);
        kinds[depth++] = byte;
      } else if (byte === CLOSE_OBJECT || byte === CLOSE_ARRAY) {
        // In ASCII, "}" and "]" are two positions after "{" and "[".
        if (kinds[--depth] !== byte - 2) fail(at - 1, `unexpected "${String.fromCharCode(byte)}"`);
        if (depth === 0) {
          finish(chunk, at);
          return at;
        }
      }
    }
    return length;
  };

  const step = (chunk: Buffer, at: number): number => {
    const byte = chunk[at] as number;
    switch (mode) {
      case 'container':
        return inContainer(chunk, at);
      case 'string': {
        const end = endOfString(chunk, at);
        if (end === -1) return chunk.length;
        finish(chunk, end + 1);
        return end + 1;
      }
      case 'key_text': {
        const end = endOfString(chunk, at);
        if (end === -1) return chunk.length;
        const text = textTo(chunk, end);
        captured = 0;
        (stack.at(-1) as Frame).key = text.includes('\\') ? unescaped(text, end) : text;
        mode = 'colon';
        return end + 1;
      }
      case 'scalar': {
        let end = at;
        while (end < chunk.length && !isDelimiter(chunk[end] as number)) end++;
        if (end < chunk.length) finish(chunk, end);
        return end;
      }
      default:
        return isSpace(byte) ? at + 1 : between(chunk, at, byte);
    }
  };

  /** Handles a byte between the members of a container that contains wanted values. */
  const between = (chunk: Buffer, at: number, byte: number): number => {
    const top = stack.at(-1);
    switch (mode) {
      case 'value':
        if (byte !== CLOSE_ARRAY || !top?.array || top.key !== 0) return begin(chunk, at);
        close();
        return at + 1;
      case 'first_key':
      case 'key':
        if (byte === CLOSE_OBJECT && mode === 'first_key') {
          close();
          return at + 1;
        }
        if (byte !== QUOTE) fail(at, 'expected a key');
        mode = 'key_text';
        escaped = false;
        start = at + 1;
        return at + 1;
      case 'colon':
        if (byte !== COLON) fail(at, 'expected ":"');
        mode = 'value';
        return at + 1;
      default:
        if (byte === COMMA && top) {
          if (top.array) top.key = (top.key as number) + 1;
          mode = top.array ? 'value' : 'key';
        } else if (top && byte === (top.array ? CLOSE_ARRAY : CLOSE_OBJECT)) close();
        else fail(at, `unexpected "${String.fromCharCode(byte)}"`);
        return at + 1;
    }
  };

  const unescaped = (text: string, at: number): string => {
    try {
      return JSON.parse(`"${text}"`) as string;
    } catch {
      return fail(at, 'invalid key');
    }
  };

  const isInsideToken = (): boolean => mode === 'container' || mode === 'string' || mode === 'scalar' || mode === 'key_text';

  return {
    /** Scans the chunk from an index. Returns the index to continue at after `take`, or the end of the chunk. */
    write(chunk: Buffer, from: number): number {
      let at = from;
      if (at === 0) start = 0;
      while (at < chunk.length && values.length < BATCH_SIZE) at = step(chunk, at);
      if (at >= chunk.length) {
        if (isInsideToken()) carryOver(chunk);
        offset += chunk.length;
      }
      return at;
    },
    end(): void {
      start = 0;
      if (mode === 'scalar') finish(Buffer.alloc(0), 0);
      if (stack.length > 0 || mode !== 'value') throw new ReportError(`The file is not complete: it ends inside a JSON value after ${offset} bytes.`);
    },
    take(): JsonValue[] {
      const taken = values;
      if (taken.length > 0) values = [];
      return taken;
    },
  };
}

function isDelimiter(byte: number): boolean {
  return byte === COMMA || byte === CLOSE_ARRAY || byte === CLOSE_OBJECT || isSpace(byte);
}
