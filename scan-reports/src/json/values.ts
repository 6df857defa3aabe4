import type { ReportInput } from '../contract.ts';
import { textBytes } from '../shared/input.ts';
import { createCutter, type JsonValue } from './extractor.ts';

/**
 * Cuts the values at some paths (`runs.*.results.*`, where `*` is any key or index and the empty pattern the whole document) out of
 * JSON of any size. The bytes are only scanned for structure; what was asked for goes through JSON.parse when it is whole. A value
 * inside of one that was cut out is not cut out again.
 */
export async function* jsonValues(input: ReportInput, patterns: readonly string[]): AsyncGenerator<JsonValue> {
  const cutter = createCutter(patterns.map((pattern) => (pattern === '' ? [] : pattern.split('.'))));
  for await (const bytes of textBytes(input)) {
    const chunk = Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    for (let at = 0; at < chunk.length; ) {
      at = cutter.write(chunk, at);
      for (const value of cutter.take()) yield value;
    }
  }
  cutter.end();
  for (const value of cutter.take()) yield value;
}

export function placeOf({ document, path }: Pick<JsonValue, 'document' | 'path'>): string {
  const text = path.map((part) => (typeof part === 'number' ? `[${part}]` : `.${part}`)).join('');
  const place = text.startsWith('.') ? text.slice(1) : text;
  return document === 0 ? place || 'document' : `line ${document + 1}${place ? ` ${place}` : ''}`;
}
