import { ReportError } from '../contract.ts';
import { type State, statesOf } from './patterns.ts';

/** A value cut out of a document; `error` instead of `value` when the piece is no valid JSON or too large. */
export interface JsonValue {
  /** Which of several documents after each other (JSON Lines); 0 for an ordinary file. */
  document: number;
  /** Keys and indexes from the root of its document. */
  path: readonly (string | number)[];
  /** Index of the pattern that it matched. */
  pattern: number;
  value: unknown;
  error?: string;
}

const MAX_DEPTH = 200;
export const MAX_VALUE_BYTES = 16 * 1024 * 1024;
const MAX_KEY_BYTES = 1024 * 1024;
/** So many values are made before they are handed on, however large a chunk is. */
const BATCH = 256;

interface Frame {
  array: boolean;
  /** Of the value that is being read in it. */
  key: string | number;
  state: State;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;
const COMMA = 0x2c;
const COLON = 0x3a;
/** Most strings end sooner; for those that do not, a search in native code is faster in spite of its call. */
const SHORT_STRING = 24;

const isSpace = (byte: number): boolean => byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;

type Mode = 'value' | 'first_key' | 'key' | 'colon' | 'after' | 'key_text' | 'string' | 'scalar' | 'container';

export function createCutter(patterns: readonly (readonly string[])[]) {
  const root = statesOf(patterns);
  const stack: Frame[] = [];
  let found: JsonValue[] = [];
  let mode: Mode = 'value';
  let document = 0;
  let offset = 0;
  // Of the value that is passed over or captured as a whole:
  let matched = -1;
  /** Where the value (or the key) begins in the present chunk; what stood in earlier chunks is in `pieces`. */
  let start = 0;
  let pieces: Buffer[] = [];
  let captured = 0;
  let depth = 0;
  const kinds = new Uint8Array(MAX_DEPTH + 1);
  let inString = false;
  let escaped = false;

  const fail = (at: number, what: string): never => {
    throw new ReportError(`The file is no valid JSON: ${what} at byte ${offset + at}.`);
  };

  const stateHere = (): State | null => {
    const parent = stack.at(-1);
    if (parent === undefined) return root;
    const { named, other } = parent.state;
    return (named.size === 0 ? undefined : named.get(String(parent.key))) ?? other;
  };

  /** The chunk ends within a value or key. */
  const carry = (chunk: Buffer): void => {
    captured += chunk.length - start;
    if (mode === 'key_text' && captured > MAX_KEY_BYTES) fail(chunk.length, `a key of more than ${MAX_KEY_BYTES} bytes`);
    if (captured > MAX_VALUE_BYTES) pieces = [];
    else if (mode === 'key_text' || matched !== -1) pieces.push(chunk.subarray(start));
  };

  const textTo = (chunk: Buffer, end: number): string => {
    if (pieces.length === 0) return chunk.toString('utf8', start, end);
    const text = Buffer.concat([...pieces, chunk.subarray(start, end)]).toString('utf8');
    pieces = [];
    return text;
  };

  const finish = (chunk: Buffer, end: number): void => {
    if (matched !== -1) found.push({ document, path: stack.map(({ key }) => key), pattern: matched, ...parsed(chunk, end) });
    captured = 0;
    ended();
  };

  const parsed = (chunk: Buffer, end: number): { value: unknown; error?: string } => {
    if (captured + end - start > MAX_VALUE_BYTES) {
      pieces = [];
      return { value: undefined, error: `is larger than ${MAX_VALUE_BYTES} bytes` };
    }
    try {
      return { value: JSON.parse(textTo(chunk, end)) };
    } catch {
      return { value: undefined, error: 'is no valid JSON' };
    }
  };

  /** A value is whole; the outermost one is a document. */
  const ended = (): void => {
    if (stack.length === 0) document++;
    mode = stack.length === 0 ? 'value' : 'after';
  };

  const close = (): void => {
    stack.pop();
    ended();
  };

  /** The first byte of a value; returns where to go on. */
  const begin = (chunk: Buffer, at: number): number => {
    const byte = chunk[at] as number;
    const state = stateHere();
    matched = state?.matched ?? -1;
    start = at;
    if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) {
      if (state !== null && matched === -1 && (state.named.size > 0 || state.other !== null)) {
        stack.push({ array: byte === OPEN_ARRAY, key: 0, state });
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
    if (!/[-0-9tfn]/.test(String.fromCharCode(byte))) fail(at, `"${String.fromCharCode(byte)}" is unexpected`);
    mode = 'scalar';
    return at;
  };

  /** The quote that ends a string; -1 when it goes on in the next chunk. */
  const stringEnd = (chunk: Buffer, from: number): number => {
    const length = chunk.length;
    let at = escaped ? from + 1 : from;
    for (;;) {
      const near = Math.min(length, at + SHORT_STRING);
      while (at < near) {
        const byte = chunk[at];
        if (byte === QUOTE) {
          escaped = false;
          return at;
        }
        at += byte === BACKSLASH ? 2 : 1;
      }
      if (at < length) {
        const quote = chunk.indexOf(QUOTE, at);
        const end = quote === -1 ? length : quote;
        let slashes = 0;
        while (end - slashes > at && chunk[end - slashes - 1] === BACKSLASH) slashes++;
        if (quote !== -1 && slashes % 2 === 0) {
          escaped = false;
          return quote;
        }
        at = end + (slashes % 2);
      }
      if (at >= length) {
        escaped = at > length;
        return -1;
      }
    }
  };

  const inContainer = (chunk: Buffer, from: number): number => {
    const length = chunk.length;
    let at = from;
    if (inString) {
      at = stringEnd(chunk, at) + 1;
      if (at === 0) at = length;
      else inString = false;
    }
    while (at < length) {
      const byte = chunk[at++] as number;
      // Spaces, commas, colons, digits.
      if (byte < OPEN_ARRAY && byte !== QUOTE) continue;
      if (byte === QUOTE) {
        escaped = false;
        const end = stringEnd(chunk, at);
        if (end === -1) {
          inString = true;
          break;
        }
        at = end + 1;
      } else if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) {
        if (depth >= MAX_DEPTH) fail(at - 1, `more than ${MAX_DEPTH} levels`);
        kinds[depth++] = byte;
      } else if (byte === CLOSE_OBJECT || byte === CLOSE_ARRAY) {
        // In ASCII "}" and "]" stand two after "{" and "[".
        if (kinds[--depth] !== byte - 2) fail(at - 1, `"${String.fromCharCode(byte)}" is unexpected`);
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
        const end = stringEnd(chunk, at);
        if (end === -1) return chunk.length;
        finish(chunk, end + 1);
        return end + 1;
      }
      case 'key_text': {
        const end = stringEnd(chunk, at);
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

  /** Between the values of the containers that are looked into. */
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
        if (byte !== QUOTE) fail(at, 'a key was expected');
        mode = 'key_text';
        escaped = false;
        start = at + 1;
        return at + 1;
      case 'colon':
        if (byte !== COLON) fail(at, '":" was expected');
        mode = 'value';
        return at + 1;
      default:
        if (byte === COMMA && top) {
          if (top.array) top.key = (top.key as number) + 1;
          mode = top.array ? 'value' : 'key';
        } else if (top && byte === (top.array ? CLOSE_ARRAY : CLOSE_OBJECT)) close();
        else fail(at, `"${String.fromCharCode(byte)}" is unexpected`);
        return at + 1;
    }
  };

  const unescaped = (text: string, at: number): string => {
    try {
      return JSON.parse(`"${text}"`) as string;
    } catch {
      return fail(at, 'a key that is no valid text');
    }
  };

  const isWithin = (): boolean => mode === 'container' || mode === 'string' || mode === 'scalar' || mode === 'key_text';

  return {
    /** From one place of the chunk on; returns where to go on when there is something to take, or the chunk's end. */
    write(chunk: Buffer, from: number): number {
      let at = from;
      if (at === 0) start = 0;
      while (at < chunk.length && found.length < BATCH) at = step(chunk, at);
      if (at >= chunk.length) {
        if (isWithin()) carry(chunk);
        offset += chunk.length;
      }
      return at;
    },
    end(): void {
      start = 0;
      if (mode === 'scalar') finish(Buffer.alloc(0), 0);
      if (stack.length > 0 || mode !== 'value')
        throw new ReportError(`The file ends in the middle of a JSON value (after ${offset} bytes): it is not complete.`);
    },
    take(): JsonValue[] {
      const taken = found;
      if (taken.length > 0) found = [];
      return taken;
    },
  };
}

function isDelimiter(byte: number): boolean {
  return byte === COMMA || byte === CLOSE_ARRAY || byte === CLOSE_OBJECT || isSpace(byte);
}
