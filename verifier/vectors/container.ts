import { deflateRawSync } from 'node:zlib';
import { crc32, utf8 } from '@rrs/evidence-format';
import { IDS } from '../src/testing/sample.ts';
import { bytes, changed, entries, failing, type Vector } from './vector.ts';

const CENTRAL = Buffer.from('504b0102', 'hex');
const END = Buffer.from('504b0506', 'hex');
const README = 'README.txt';

/** Offsets of the first local header and central directory record (README.txt) and of the end record. */
function records(zip: Buffer): { local: number; central: number; end: number } {
  return { local: 0, central: zip.indexOf(CENTRAL), end: zip.lastIndexOf(END) };
}

/** Inserts bytes and adjusts every offset in the directory, so that only the inserted bytes are wrong. */
function insert(zip: Buffer, at: number, extra: Buffer): Buffer {
  const { central, end } = records(zip);
  const result = Buffer.concat([zip.subarray(0, at), extra, zip.subarray(at)]);
  for (let record = central + extra.length; record < end + extra.length; ) {
    const offset = result.readUInt32LE(record + 42);
    if (offset >= at) result.writeUInt32LE(offset + extra.length, record + 42);
    record += 46 + result.readUInt16LE(record + 28) + result.readUInt16LE(record + 30) + result.readUInt16LE(record + 32);
  }
  result.writeUInt32LE(central + extra.length, end + extra.length + 16);
  return result;
}

function flip(zip: Buffer, ...offsets: number[]): Buffer {
  for (const offset of offsets) zip[offset] = (zip[offset] ?? 0) ^ 1;
  return zip;
}

/** A megabyte of zeros, compressed to a kilobyte. */
function bomb(zip: Buffer): Buffer {
  const name = Buffer.from(`evidence-${IDS.workItem}-2/README.txt`);
  const zeros = Buffer.alloc(1 << 20);
  const packed = deflateRawSync(zeros);
  const { end } = records(zip);
  const fields = Buffer.alloc(22);
  fields.writeUInt16LE(20, 0);
  fields.writeUInt16LE(0x0800, 2);
  fields.writeUInt16LE(8, 4);
  fields.writeUInt16LE(0x21, 8);
  fields.writeUInt32LE(crc32(zeros), 10);
  fields.writeUInt32LE(packed.length, 14);
  fields.writeUInt32LE(zeros.length, 18);
  const lengths = Buffer.from([name.length, 0, 0, 0]);
  const local = Buffer.concat([Buffer.from('504b0304', 'hex'), fields, lengths, name, packed]);
  const central = Buffer.concat([
    CENTRAL,
    Buffer.from([45, 3]),
    fields,
    lengths,
    Buffer.from('000000000000', 'hex'),
    Buffer.from('0000a481', 'hex'),
    Buffer.alloc(4),
    name,
  ]);
  const tail = Buffer.from(zip.subarray(end));
  tail.writeUInt16LE(1, 8);
  tail.writeUInt16LE(1, 10);
  tail.writeUInt32LE(central.length, 12);
  tail.writeUInt32LE(local.length, 16);
  return Buffer.concat([local, central, tail]);
}

const named = (name: string) => (list: { name: string; content: Uint8Array }[]) =>
  [...list, { name, content: utf8('x') }].sort((a, b) => (a.name < b.name ? -1 : 1));
const inside = (path: string) => named(`evidence-${IDS.workItem}-2/${path}`);

export const container: Vector[] = [
  failing(
    'not a ZIP',
    ['archive'],
    bytes(() => utf8('This is a letter.')),
  ),
  failing(
    'an empty file',
    ['archive'],
    bytes(() => new Uint8Array()),
  ),
  failing(
    'truncated at the end',
    ['truncated'],
    bytes((zip) => zip.subarray(0, -1)),
  ),
  failing(
    'truncated in the middle',
    ['truncated'],
    bytes((zip) => zip.subarray(0, zip.length >> 1)),
  ),
  failing(
    'a range of bytes removed',
    ['truncated'],
    bytes((zip) => Buffer.concat([zip.subarray(0, 500), zip.subarray(600)])),
  ),
  failing(
    'trailing bytes',
    ['trailing_bytes'],
    bytes((zip) => Buffer.concat([zip, Buffer.from('x')])),
  ),
  failing(
    'a ZIP comment',
    ['archive', 'trailing_bytes'],
    bytes((zip) => {
      zip.writeUInt16LE(2, zip.length - 2);
      return Buffer.concat([zip, Buffer.from('hi')]);
    }),
  ),
  failing(
    'prefix bytes',
    ['archive'],
    bytes((zip) => Buffer.concat([Buffer.from('#!/bin/sh\n'), zip])),
  ),
  failing(
    'prefix bytes with adjusted offsets',
    ['archive'],
    bytes((zip) => insert(zip, 0, Buffer.from('MZ'))),
  ),
  failing(
    'bytes between the entries and the directory',
    ['archive'],
    bytes((zip) => insert(zip, records(zip).central, Buffer.from('hidden'))),
  ),
  failing(
    'an entry that the directory does not list',
    ['archive'],
    bytes((zip) => insert(zip, zip.indexOf(Buffer.from('504b0304', 'hex'), 4), zip.subarray(0, zip.indexOf(Buffer.from('504b0304', 'hex'), 4)))),
  ),
  failing(
    'a different local name',
    ['entry_mismatch'],
    bytes((zip) => flip(zip, 30)),
  ),
  failing(
    'a different local size',
    ['entry_mismatch'],
    bytes((zip) => flip(zip, 22)),
  ),
  failing(
    'a different local CRC',
    ['entry_mismatch'],
    bytes((zip) => flip(zip, 14)),
  ),
  failing(
    'a different CRC in the directory',
    ['entry_mismatch'],
    bytes((zip) => flip(zip, records(zip).central + 16)),
  ),
  failing(
    'overlapping entries',
    ['archive'],
    bytes((zip) => {
      const { central } = records(zip);
      const second = central + 46 + zip.readUInt16LE(central + 28);
      zip.writeUInt32LE(0, second + 42);
      return zip;
    }),
  ),
  failing(
    'a compressed entry',
    ['compressed'],
    bytes((zip) => {
      zip.writeUInt16LE(8, 8);
      zip.writeUInt16LE(8, records(zip).central + 10);
      return zip;
    }),
  ),
  failing('a compression bomb', ['archive', 'compressed'], bytes(bomb)),
  failing(
    'an encrypted entry',
    ['compressed'],
    bytes((zip) => flip(zip, 6, records(zip).central + 8)),
  ),
  failing(
    'a different date in both records',
    ['archive', 'entry_mismatch'],
    bytes((zip) => flip(zip, 12, records(zip).central + 14)),
  ),
  failing(
    'a different mode',
    ['archive'],
    bytes((zip) => flip(zip, records(zip).central + 40)),
  ),
  failing(
    'a wrong number of entries',
    ['archive'],
    bytes((zip) => flip(zip, records(zip).end + 10)),
  ),
  failing(
    'unsorted entries',
    ['archive'],
    entries(([first, second, ...rest]) => [second, first, ...rest].filter((entry) => entry !== undefined)),
  ),
  failing(
    'the same name twice',
    ['duplicate'],
    entries((list) => list.flatMap((entry) => (entry.name.endsWith(README) ? [entry, entry] : [entry]))),
  ),
  failing('a name that differs only in case', ['duplicate'], entries(inside('READMe.txt'))),
  failing('a name outside the archive root', ['layout', 'name'], entries(named('../evil'))),
  failing('a name with parent folder segments', ['name'], entries(inside('data/../../evil'))),
  failing('an absolute name', ['layout', 'name'], entries(named('/etc/passwd'))),
  failing('a name with a backslash', ['name'], entries(inside('data\\evil'))),
  failing('a reserved Windows name', ['name'], entries(inside('data/nul.txt'))),
  failing('a folder entry', ['name'], entries(inside('data/'))),
  failing('a second top folder', ['layout'], entries(named('zzz/file'))),
  failing(
    'a different top folder',
    ['layout'],
    entries((list) => list.map(({ name, content }) => ({ name: name.replace(/^evidence/, 'package'), content }))),
  ),
  failing(
    'a file that is too large to parse',
    ['rendering', 'tag_changed', 'too_large'],
    changed((files) => files.set('bag-info.txt', new Uint8Array((1 << 20) + 1))),
  ),
];
