import { type Bytes, concat, utf8 } from '../bytes/bytes.ts';

/** Records of a ZIP archive (APPNOTE 6.3) with stored files, dated 1980-01-01 00:00, mode 0644. */

export interface WrittenEntry {
  name: string;
  size: number;
  crc32: number;
  /** Offset of the local header in the archive. */
  offset: number;
}

export interface Member extends WrittenEntry {
  /** Whether a data descriptor with size and CRC follows the content. */
  descriptor: boolean;
}

export const LIMIT32 = 0xffff_ffff;
const LIMIT16 = 0xffff;
const UTF8_NAMES = 0x0800;
const DESCRIPTOR_FOLLOWS = 0x0008;
const DATE = 0x0021;
const REGULAR_0644 = 0o100644 * 0x1_0000;
const MADE_BY_UNIX = 0x0300;
const PLAIN = 20;
const ZIP64 = 45;

type Field = readonly [size: 2 | 4 | 8, value: number];
const u16 = (value: number): Field => [2, value];
const u32 = (value: number): Field => [4, value];
const u64 = (value: number): Field => [8, value];

function record(...fields: readonly Field[]): Bytes {
  const bytes = new Uint8Array(fields.reduce((length, [size]) => length + size, 0));
  const view = new DataView(bytes.buffer);
  let at = 0;
  for (const [size, value] of fields) {
    if (size === 2) view.setUint16(at, value, true);
    else if (size === 4) view.setUint32(at, value, true);
    else view.setBigUint64(at, BigInt(value), true);
    at += size;
  }
  return bytes;
}

export function localHeader({ name, size, crc32, descriptor }: Member): Bytes {
  const large = size >= LIMIT32;
  const extra = large ? record(u16(1), u16(16), u64(descriptor ? 0 : size), u64(descriptor ? 0 : size)) : new Uint8Array();
  const stated = large ? LIMIT32 : descriptor ? 0 : size;
  const path = utf8(name);
  const fixed = record(
    u32(0x04034b50),
    u16(large ? ZIP64 : PLAIN),
    u16(UTF8_NAMES | (descriptor ? DESCRIPTOR_FOLLOWS : 0)),
    u16(0),
    u16(0),
    u16(DATE),
    u32(descriptor ? 0 : crc32),
    u32(stated),
    u32(stated),
    u16(path.length),
    u16(extra.length),
  );
  return concat(fixed, path, extra);
}

export function dataDescriptor({ size, crc32 }: WrittenEntry): Bytes {
  const length = size >= LIMIT32 ? u64(size) : u32(size);
  return record(u32(0x08074b50), u32(crc32), length, length);
}

export function centralHeader({ name, size, crc32, offset, descriptor }: Member): Bytes {
  const sizes = size >= LIMIT32 ? [u64(size), u64(size)] : [];
  const large = [...sizes, ...(offset >= LIMIT32 ? [u64(offset)] : [])];
  const extra = large.length === 0 ? new Uint8Array() : record(u16(1), u16(8 * large.length), ...large);
  const path = utf8(name);
  const fixed = record(
    u32(0x02014b50),
    u16(MADE_BY_UNIX | ZIP64),
    u16(large.length === 0 ? PLAIN : ZIP64),
    u16(UTF8_NAMES | (descriptor ? DESCRIPTOR_FOLLOWS : 0)),
    u16(0),
    u16(0),
    u16(DATE),
    u32(crc32),
    u32(Math.min(size, LIMIT32)),
    u32(Math.min(size, LIMIT32)),
    u16(path.length),
    u16(extra.length),
    u16(0),
    u16(0),
    u16(0),
    u32(REGULAR_0644),
    u32(Math.min(offset, LIMIT32)),
  );
  return concat(fixed, path, extra);
}

export interface Directory {
  entries: number;
  offset: number;
  size: number;
}

export function endRecords({ entries, offset, size }: Directory): Bytes {
  const large = entries >= LIMIT16 || offset >= LIMIT32 || size >= LIMIT32;
  const count = Math.min(entries, LIMIT16);
  const end = record(u32(0x06054b50), u16(0), u16(0), u16(count), u16(count), u32(Math.min(size, LIMIT32)), u32(Math.min(offset, LIMIT32)), u16(0));
  return large ? concat(zip64End({ entries, offset, size }), end) : end;
}

function zip64End({ entries, offset, size }: Directory): Bytes {
  return concat(
    record(u32(0x06064b50), u64(44), u16(MADE_BY_UNIX | ZIP64), u16(ZIP64), u32(0), u32(0), u64(entries), u64(entries), u64(size), u64(offset)),
    record(u32(0x07064b50), u32(0), u64(offset + size), u32(1)),
  );
}
