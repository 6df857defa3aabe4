import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type pg from 'pg';
import { from } from 'pg-copy-streams';

/** Bytes as the hexadecimal that hashes come in: no Buffer is made for each of millions. */
export class Hex {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

export type CopyValue = string | number | boolean | Date | Hex | null | readonly (string | number)[] | Record<string, unknown>;

/** `COPY … FROM STDIN` of lines in text format, on a connection that is not pipelined. */
export async function copyLines(client: pg.ClientBase, table: string, columns: readonly string[], lines: Uint8Array): Promise<void> {
  await pipeline(Readable.from(blocks(lines)), client.query(from(`copy ${table} (${columns.join(', ')}) from stdin`)));
}

const BLOCK_BYTES = 256 * 1024;

function* blocks(lines: Uint8Array): Generator<Uint8Array> {
  for (let at = 0; at < lines.length; at += BLOCK_BYTES) yield lines.subarray(at, at + BLOCK_BYTES);
}

export function copyLine(values: readonly CopyValue[]): string {
  let line = '';
  for (const value of values) line += line === '' ? copyText(value) : `\t${copyText(value)}`;
  return `${line}\n`;
}

const SPECIAL = /[\\\t\n\r\0]/;
const QUOTED = /[\\"]/;

function copyText(value: CopyValue): string {
  if (value === null) return '\\N';
  if (typeof value === 'string') return escaped(value);
  if (typeof value === 'number') return String(value);
  if (typeof value === 'boolean') return value ? 't' : 'f';
  if (value instanceof Hex) return `\\\\x${value.text}`;
  if (value instanceof Date) return value.toISOString();
  if (Array.isArray(value)) return value.length === 0 ? '{}' : escaped(`{${value.map(arrayElement).join(',')}}`);
  return escaped(JSON.stringify(value));
}

function arrayElement(item: string | number): string {
  if (typeof item === 'number') return String(item);
  return QUOTED.test(item) ? `"${item.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"` : `"${item}"`;
}

/** PostgreSQL knows no NUL in text. */
function escaped(text: string): string {
  if (!SPECIAL.test(text)) return text;
  return text.replaceAll('\0', '').replaceAll('\\', '\\\\').replaceAll('\t', '\\t').replaceAll('\n', '\\n').replaceAll('\r', '\\r');
}
