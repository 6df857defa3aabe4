import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { ReportFormat } from './contract.ts';
import { formats } from './registry.ts';
import { fromBuffer } from './shared/input.ts';

const CUTS = 40;
const fixturesOf = ({ id }: ReportFormat): string[] => {
  const folder = join(import.meta.dirname, 'formats', id, 'fixtures');
  return readdirSync(folder)
    .map((name) => join(folder, name))
    .filter((path) => statSync(path).isFile());
};

/** How many records the file has, and whether a complete run could be believed. Null if the file cannot be read. */
async function readWhole(format: ReportFormat, bytes: Uint8Array): Promise<{ records: number; isWhole: boolean } | null> {
  const input = fromBuffer(bytes, 'report');
  let records = 0;
  try {
    const about = await format.about?.(input);
    let isWhole = about?.finished !== false && about?.tools?.length !== 0;
    for await (const item of format.read(input)) {
      if ('run' in item) isWhole &&= !item.run.unfinished && !item.run.inventory_only;
      else if ('rejection' in item) isWhole = false;
      else records++;
    }
    return { records, isWhole };
  } catch {
    return null;
  }
}

/** A file of lines that ends after a line has no sign of what is missing, and one that ends in the last cell of a row has none either. */
function hasNoSign(bytes: Buffer, at: number, path: string): boolean {
  if (!/\.(?:csv|jsonl|ndjson)$/.test(path)) return false;
  const [rest = ''] = bytes.subarray(at).toString().split('\n');
  return bytes[at - 1] === 10 || rest.trim() === '' || (path.endsWith('.csv') && !rest.includes(','));
}

test.each(formats.map((format) => [format.id, format] as const))(
  '%s: a file that is cut off does not pass for a whole one with fewer records',
  async (_, format) => {
    for (const path of fixturesOf(format)) {
      const bytes = readFileSync(path);
      const whole = await readWhole(format, bytes);
      if (whole === null) continue;
      const step = Math.max(1, Math.floor(bytes.length / CUTS));
      for (let at = 1; at < bytes.length; at += step) {
        if (hasNoSign(bytes, at, path)) continue;
        const cut = await readWhole(format, bytes.subarray(0, at));
        expect(
          cut?.isWhole && cut.records < whole.records,
          `${path} after ${at} of ${bytes.length} bytes: ${bytes.subarray(Math.max(0, at - 60), at)}`,
        ).not.toBe(true);
      }
    }
  },
);
