import { assertFormat, FormatError } from '../bytes/errors.ts';

export interface JsonLimits {
  /** Objects and arrays inside each other. */
  depth: number;
}

/** JSON.parse that refuses what two readers may read differently: a key twice in one object (RFC 8259 section 4), and nesting that some give up on. */
export function parseStrictJson(text: string, limits: JsonLimits = { depth: 64 }): unknown {
  try {
    checkStructure(text, limits.depth);
    return JSON.parse(text);
  } catch (error) {
    throw error instanceof SyntaxError ? new FormatError(`not JSON: ${error.message}`) : error;
  }
}

/** Looks at brackets and keys only; whether they stand where they may is for JSON.parse to say. */
function checkStructure(text: string, depth: number): void {
  const open: Set<string>[] = [];
  for (let at = 0; at < text.length; at++) {
    switch (text.charCodeAt(at)) {
      case 0x7b: // {
      case 0x5b: // [
        open.push(new Set());
        assertFormat(open.length <= depth, `nested deeper than ${depth}`);
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

/** Most keys are spelled as they are. */
function keyIn(quoted: string): string {
  return quoted.includes('\\') ? (JSON.parse(quoted) as string) : quoted.slice(1, -1);
}

function addKey(keys: Set<string> | undefined, key: string): void {
  assertFormat(!keys?.has(key), `the key ${JSON.stringify(key)} stands twice in one object`);
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
