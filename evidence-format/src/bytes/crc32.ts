const SLICES = 16;

/** The entry at `256 * s + b` is the CRC of byte `b` followed by `s` zero bytes. */
const TABLE = makeTable();

function makeTable(): Int32Array {
  const table = new Int32Array(256 * SLICES);
  for (let byte = 0; byte < 256; byte++) {
    let value = byte;
    for (let bit = 0; bit < 8; bit++) value = value & 1 ? (value >>> 1) ^ 0xedb88320 : value >>> 1;
    table[byte] = value;
  }
  for (let at = 256; at < table.length; at++) {
    const value = table[at - 256] as number;
    table[at] = (value >>> 8) ^ (table[value & 0xff] as number);
  }
  return table;
}

/** Same interface as zlib: `previous` is the CRC of the preceding bytes. Unrolled because a loop over the slices takes twice as long. */
export function crc32(bytes: Uint8Array, previous = 0): number {
  const t = TABLE;
  let crc = ~previous;
  let at = 0;
  for (const last = bytes.length - SLICES; at <= last; at += SLICES) {
    crc =
      (t[0xf00 + ((crc ^ (bytes[at] as number)) & 0xff)] as number) ^
      (t[0xe00 + (((crc >>> 8) ^ (bytes[at + 1] as number)) & 0xff)] as number) ^
      (t[0xd00 + (((crc >>> 16) ^ (bytes[at + 2] as number)) & 0xff)] as number) ^
      (t[0xc00 + ((crc >>> 24) ^ (bytes[at + 3] as number))] as number) ^
      (t[0xb00 + (bytes[at + 4] as number)] as number) ^
      (t[0xa00 + (bytes[at + 5] as number)] as number) ^
      (t[0x900 + (bytes[at + 6] as number)] as number) ^
      (t[0x800 + (bytes[at + 7] as number)] as number) ^
      (t[0x700 + (bytes[at + 8] as number)] as number) ^
      (t[0x600 + (bytes[at + 9] as number)] as number) ^
      (t[0x500 + (bytes[at + 10] as number)] as number) ^
      (t[0x400 + (bytes[at + 11] as number)] as number) ^
      (t[0x300 + (bytes[at + 12] as number)] as number) ^
      (t[0x200 + (bytes[at + 13] as number)] as number) ^
      (t[0x100 + (bytes[at + 14] as number)] as number) ^
      (t[bytes[at + 15] as number] as number);
  }
  for (; at < bytes.length; at++) crc = (crc >>> 8) ^ (t[(crc ^ (bytes[at] as number)) & 0xff] as number);
  return ~crc >>> 0;
}
