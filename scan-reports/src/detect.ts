import type { ReportFormat, ReportHead, ReportInput } from './contract.ts';
import { DELIMITERS, headRows } from './csv/rows.ts';
import { beginning } from './shared/input.ts';

const HEAD_BYTES = 65_536;

/** Reads the beginning of a file and prepares it for detection. */
export async function headOf(input: ReportInput): Promise<ReportHead> {
  const text = (await beginning(input, HEAD_BYTES)).toString('utf8');
  const start = text.trimStart();
  const isXml = start.startsWith('<');
  const isJson = start.startsWith('{') || start.startsWith('[');
  const isArray = start.startsWith('[');
  return {
    text,
    filename: input.filename,
    jsonShape: !isJson ? null : isArray ? 'array' : /^\{[^\n]*\}[^\S\n]*\n\s*\{/.test(start) ? 'lines' : 'object',
    jsonKeys: isJson ? keysOfFirstObject(start) : [],
    xmlRoot: isXml ? rootOf(start) : null,
    csvRows: isXml || isJson ? [] : firstRows(text),
  };
}

/** Returns the first format that recognizes the file. The registry lists specific formats before general ones. */
export function detectFormat(formats: readonly ReportFormat[], head: ReportHead): ReportFormat | null {
  return formats.find((format) => format.detect(head)) ?? null;
}

/** Returns the top-level keys of the first object. The text may end inside the object. */
function keysOfFirstObject(text: string): string[] {
  const keys: string[] = [];
  let depth = 0;
  let at = text.indexOf('{');
  for (; at >= 0 && at < text.length; at++) {
    const character = text[at];
    if (character === '"') {
      const end = stringEnd(text, at + 1);
      if (end === -1) break;
      if (depth === 1 && /^\s*:/.test(text.slice(end + 1, end + 50))) keys.push(text.slice(at + 1, end));
      at = end;
    } else if (character === '{' || character === '[') depth++;
    else if ((character === '}' || character === ']') && --depth === 0) break;
  }
  return keys;
}

function stringEnd(text: string, from: number): number {
  for (let at = from; at < text.length; at++) {
    if (text[at] === '\\') at++;
    else if (text[at] === '"') return at;
  }
  return -1;
}

function rootOf(text: string): ReportHead['xmlRoot'] {
  const withoutProlog = text.replace(/^(?:\s|<\?[\s\S]*?\?>|<!--[\s\S]*?-->|<!DOCTYPE[^[>]*(?:\[[\s\S]*?\]\s*)?>)*/i, '');
  const [, name, rest = ''] = /^<([\w.:-]+)([^>]*)/.exec(withoutProlog) ?? [];
  if (name === undefined) return null;
  const [prefix, local] = name.includes(':') ? (name.split(':') as [string, string]) : [null, name];
  const declaration = new RegExp(`xmlns${prefix === null ? '' : `:${prefix}`}\\s*=\\s*["']([^"']*)["']`).exec(rest);
  return { name: local, namespace: declaration?.[1] ?? '' };
}

/** Rows for every delimiter that yields several cells, starting with the delimiter that yields the widest row. */
function firstRows(text: string): string[][] {
  // A delimiter that is not there yields no row with several cells.
  const readings = DELIMITERS.map((delimiter, index) => (index === 0 || text.includes(delimiter) ? headRows(text, delimiter) : []));
  const width = (rows: readonly string[][]): number => Math.max(0, ...rows.map((row) => row.length));
  return readings
    .filter((rows, index) => index === 0 || width(rows) > 1)
    .sort((a, b) => width(b) - width(a))
    .flat();
}

/** True if one of the first rows contains all of these cells. */
export function hasColumns(head: ReportHead, ...names: string[]): boolean {
  return head.csvRows.some((row) => names.every((name) => row.includes(name)));
}

/** Returns the keys of the first object in the list at a top-level key. Null if the head contains no such list. */
export function keysInList(head: ReportHead, key: string): string[] | null {
  if (head.jsonShape !== 'object' || !hasKeys(head, key)) return null;
  const [list] = new RegExp(`"${key}"\\s*:\\s*\\[\\s*`).exec(head.text) ?? [];
  if (list === undefined) return null;
  const inside = head.text.slice(head.text.indexOf(list) + list.length);
  return inside.startsWith('{') ? keysOfFirstObject(inside) : [];
}

export function hasKeys(head: ReportHead, ...names: string[]): boolean {
  return names.every((name) => head.jsonKeys.includes(name));
}
