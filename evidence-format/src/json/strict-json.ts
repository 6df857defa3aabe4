import { assertFormat, FormatError } from '../bytes/errors.ts';

export interface JsonLimits {
  /** Maximum nesting of objects and arrays. */
  depth: number;
}

/** Like JSON.parse, but refuses input on which parsers may differ: duplicate keys in an object (RFC 8259 section 4) and deep nesting. */
export function parseStrictJson(text: string, limits: JsonLimits = { depth: 64 }): unknown {
  try {
    checkStructure(text, limits.depth);
    return JSON.parse(text);
  } catch (error) {
    throw error instanceof SyntaxError ? new FormatError(`not valid JSON: ${error.message}`) : error;
  }
}

/** Checks only nesting and keys. JSON.parse checks the syntax. */
function checkStructure(text: string, depth: number): void {
  const open: Set<string>[] = [];
  for (let at = 0; at < text.length; at++) {
    switch (text.charCodeAt(at)) {
      case 0x7b: // {
      case 0x5b: // [
        open.push(new Set());
        assertFormat(open.length <= depth, `nested deeper than ${depth} levels`);
        break;
      case 0x7d: // }
      case 0x5d: // ]
        open.pop();
        break;
      case 0x22: {
        const end = stringEnd(text, at);
        if (isKey(text, end)) addKey(open.at(-1), keyIn(text.slice(at, end)));
        at = end - 1;
      }
    }
  }
}

/** Avoids JSON.parse for keys without escapes, which are most keys. */
function keyIn(quoted: string): string {
  return quoted.includes('\\') ? (JSON.parse(quoted) as string) : quoted.slice(1, -1);
}

function addKey(keys: Set<string> | undefined, key: string): void {
  assertFormat(!keys?.has(key), `duplicate key ${JSON.stringify(key)}`);
  keys?.add(key);
}

function stringEnd(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === 0x5c) at++;
    else if (code === 0x22) return at + 1;
  }
  return text.length;
}

function isKey(text: string, end: number): boolean {
  let at = end;
  while (' \t\n\r'.includes(text.charAt(at)) && at < text.length) at++;
  return text.charAt(at) === ':';
}
