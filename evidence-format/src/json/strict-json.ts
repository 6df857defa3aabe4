import { assertFormat, FormatError } from '../bytes/errors.ts';

export interface JsonLimits {
  /** Maximum nesting of objects and arrays. */
  depth: number;
  /** Maximum number of values. An empty object or array counts twice. */
  nodes: number;
}

const JSON_LIMITS: JsonLimits = { depth: 64, nodes: 200_000 };

/**
 * Like JSON.parse, but refuses input on which parsers may differ or that needs far more memory than its size: duplicate keys in an object
 * (RFC 8259 section 4), deep nesting and too many values. The limits are checked before any value is created.
 */
export function parseStrictJson(text: string, limits: Partial<JsonLimits> = {}): unknown {
  try {
    checkStructure(text, { ...JSON_LIMITS, ...limits });
    return JSON.parse(text);
  } catch (error) {
    throw error instanceof SyntaxError ? new FormatError(`not valid JSON: ${error.message}`) : error;
  }
}

/** Checks only nesting, keys and the number of values. JSON.parse checks the syntax. */
function checkStructure(text: string, { depth, nodes }: JsonLimits): void {
  const open: Set<string>[] = [];
  let counted = 1;
  const count = (): void => assertFormat(++counted <= nodes, `more than ${nodes} values`);
  for (let at = 0; at < text.length; at++) {
    switch (text.charCodeAt(at)) {
      case 0x7b: // {
      case 0x5b: // [
        count();
        open.push(new Set());
        assertFormat(open.length <= depth, `nested deeper than ${depth} levels`);
        break;
      case 0x7d: // }
      case 0x5d: // ]
        open.pop();
        break;
      case 0x2c: // ,
        count();
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
