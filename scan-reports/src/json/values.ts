import type { ReportInput } from '../contract.ts';
import { textBytes } from '../shared/input.ts';
import { createExtractor, type JsonValue } from './extractor.ts';

/**
 * Extracts the values at the given paths from JSON of any size. In a path such as `runs.*.results.*`, `*` is any key or index. The
 * empty path is the whole document. Bytes are only scanned for structure, and only complete wanted values go through JSON.parse.
 * Values inside an extracted value are not extracted again. A value that is larger than `maxBytes` has an error instead.
 */
export async function* jsonValues(input: ReportInput, patterns: readonly string[], maxBytes?: number): AsyncGenerator<JsonValue> {
  const extractor = createExtractor(
    patterns.map((pattern) => (pattern === '' ? [] : pattern.split('.'))),
    maxBytes,
  );
  for await (const bytes of textBytes(input)) {
    const chunk = Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    for (let at = 0; at < chunk.length; ) {
      at = extractor.write(chunk, at);
      for (const value of extractor.take()) yield value;
    }
  }
  extractor.end();
  for (const value of extractor.take()) yield value;
}

/** Formats the position of a value: `Results[0].Vulnerabilities[3]`, or `line 5 a[1]` in JSON Lines. */
export function placeOf({ document, path }: Pick<JsonValue, 'document' | 'path'>): string {
  const text = path.map((part) => (typeof part === 'number' ? `[${part}]` : `.${part}`)).join('');
  const place = text.startsWith('.') ? text.slice(1) : text;
  return document === 0 ? place || 'document' : `line ${document + 1}${place ? ` ${place}` : ''}`;
}
