import { type Bytes, concat, utf8 } from '@rrs/evidence-format';

/**
 * Builds the only form that each ZIP record may have: docs/evidence-package.md, section 1.
 * This is deliberately independent of the writer in evidence-format, so that a mistake in one does not go unnoticed in the other.
 */
export interface EntryFacts {
  name: string;
  crc: number;
  size: number;
  /** Offset of the local header. */
  offset: number;
  /** Whether a data descriptor with sizes and CRC follows the content. */
  streamed: boolean;
}

export const CENTRAL_SIZE = 46;
export const END_SIZE = 22;
const MAX32 = 0xffffffff;
const MAX16 = 0xffff;
const DATE_1980 = 0x21;
const MODE_0644 = 0o100644;
const MADE_BY = 0x032d;

/** Encodes numbers in little-endian. Each digit of the pattern is the width of one number in bytes. */
function packed(pattern: string, ...values: number[]): Bytes {
  const bytes = new Uint8Array([...pattern].reduce((sum, digit) => sum + Number(digit), 0));
  let at = 0;
  for (const [index, digit] of [...pattern].entries()) {
    let left = values[index] ?? 0;
    for (let count = Number(digit); count > 0; count--) {
      bytes[at++] = left % 256;
      left = Math.floor(left / 256);
    }
  }
  return bytes;
}

function zip64(numbers: number[]): Bytes {
  return numbers.length === 0 ? new Uint8Array() : packed(`22${'8'.repeat(numbers.length)}`, 1, 8 * numbers.length, ...numbers);
}

const cap = (value: number) => Math.min(value, MAX32);
const version = (extra: Bytes) => (extra.length === 0 ? 20 : 45);
const flags = ({ streamed }: EntryFacts) => (streamed ? 0x0808 : 0x0800);

export function localHeader(entry: EntryFacts): Bytes {
  const known = entry.streamed ? { crc: 0, size: 0 } : entry;
  const large = entry.size >= MAX32;
  const extra = zip64(large ? [known.size, known.size] : []);
  const size = large ? MAX32 : known.size;
  const name = utf8(entry.name);
  const fixed = packed('42222244422', 0x04034b50, version(extra), flags(entry), 0, 0, DATE_1980, known.crc, size, size, name.length, extra.length);
  return concat(fixed, name, extra);
}

export function descriptor({ streamed, crc, size }: EntryFacts): Bytes {
  return streamed ? packed(size >= MAX32 ? '4488' : '4444', 0x08074b50, crc, size, size) : new Uint8Array();
}

export function centralHeader(entry: EntryFacts): Bytes {
  const { crc, size, offset } = entry;
  const extra = zip64([...(size >= MAX32 ? [size, size] : []), ...(offset >= MAX32 ? [offset] : [])]);
  const name = utf8(entry.name);
  const first = packed('4222222444', 0x02014b50, MADE_BY, version(extra), flags(entry), 0, 0, DATE_1980, crc, cap(size), cap(size));
  return concat(first, packed('22222224', name.length, extra.length, 0, 0, 0, 0, MODE_0644, cap(offset)), name, extra);
}

export function endRecords({ entries, size, offset }: { entries: number; size: number; offset: number }): Bytes {
  const count = Math.min(entries, MAX16);
  const end = packed('42222442', 0x06054b50, 0, 0, count, count, cap(size), cap(offset), 0);
  if (entries < MAX16 && size < MAX32 && offset < MAX32) return end;
  const record = packed('4822448888', 0x06064b50, 44, MADE_BY, 45, 0, 0, entries, entries, size, offset);
  return concat(record, packed('4484', 0x07064b50, 0, offset + size, 1), end);
}
