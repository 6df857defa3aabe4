import { equalBytes, fromUtf8 } from '@rrs/evidence-format';
import { LIMITS } from '../limits.ts';
import type { Recorder } from '../report.ts';
import type { Source } from './source.ts';
import { readExactly, type Window } from './window.ts';
import { CENTRAL_SIZE, centralHeader, descriptor, END_SIZE, type EntryFacts, endRecords, localHeader } from './zip-records.ts';

/**
 * Reads a ZIP archive strictly: it rebuilds each record from the values in the directory and compares it byte by byte. So no byte of the
 * container can be changed, and no two programs can see different files in it.
 */
export interface ZipEntry extends EntryFacts {
  /** Offset after the last byte, including the data descriptor. */
  end: number;
}

const END_SIGNATURE = 0x06054b50;
const END64_SIGNATURE = 0x06064b50;
const LOCATOR_SIGNATURE = 0x07064b50;
const CENTRAL_SIGNATURE = 0x02014b50;
const MAX_COMMENT = 0xffff;
const LOCATOR_SIZE = 20;
const END64_SIZE = 56;

interface End {
  /** Offsets of the directory, of the end records, and of the byte after the last end record. */
  directory: number;
  records: number;
  end: number;
  entries: number;
}

/** Returns the entries in directory order, or null if there is no readable directory. */
export async function readDirectory(source: Source, recorder: Recorder): Promise<ZipEntry[] | null> {
  const end = await findEnd(source, recorder);
  if (end === null) return null;
  if (end.entries > LIMITS.entries || end.records - end.directory > LIMITS.directory) {
    recorder.fail('too_large', '', {
      detail: 'The ZIP has too many entries or its directory is too large.',
      expected: `at most ${LIMITS.entries}`,
      actual: String(end.entries),
    });
    return null;
  }
  if (end.directory > end.records) {
    recorder.fail('archive', '', 'The ZIP directory starts after its end record.');
    return null;
  }
  const bytes = await readExactly(source, end.directory, end.records - end.directory);
  const entries = parseDirectory(bytes, end.entries, recorder);
  if (entries === null) return null;
  checkEnd(await readExactly(source, end.records, end.end - end.records), end, recorder);
  return placeEntries(entries, end.directory, recorder);
}

async function findEnd(source: Source, recorder: Recorder): Promise<End | null> {
  const length = Math.min(source.size, END_SIZE + MAX_COMMENT + LOCATOR_SIZE + END64_SIZE);
  const tail = await readExactly(source, source.size - length, length);
  const view = viewOf(tail);
  const at = lastIndexOf(view, END_SIGNATURE, length - END_SIZE);
  if (at === null) {
    const begun = source.size >= 4 && viewOf(await readExactly(source, 0, 4)).getUint32(0, true) === 0x04034b50;
    if (begun) recorder.fail('truncated', '', 'The end record of the ZIP is missing.');
    else recorder.fail('archive', '', 'This is not a ZIP file.');
    return null;
  }
  const offset = source.size - length;
  const trailing = length - at - END_SIZE;
  if (trailing > 0) recorder.fail('trailing_bytes', '', { detail: 'Extra bytes follow the ZIP.', expected: '0 bytes', actual: `${trailing} bytes` });
  const end64 = at - LOCATOR_SIZE - END64_SIZE;
  const long = end64 >= 0 && view.getUint32(at - LOCATOR_SIZE, true) === LOCATOR_SIGNATURE && view.getUint32(end64, true) === END64_SIGNATURE;
  const found = long
    ? { entries: number64(view, end64 + 32), size: number64(view, end64 + 40), directory: number64(view, end64 + 48), records: offset + end64 }
    : { entries: view.getUint16(at + 10, true), size: view.getUint32(at + 12, true), directory: view.getUint32(at + 16, true), records: offset + at };
  if (found.directory + found.size !== found.records) {
    const shift = found.records - found.directory - found.size;
    if (shift < 0) recorder.fail('truncated', '', 'The ZIP is shorter than its end record states.');
    else recorder.fail('archive', '', `There are ${shift} bytes before the ZIP or between its parts.`);
    return null;
  }
  return { directory: found.directory, records: found.records, end: offset + at + END_SIZE, entries: found.entries };
}

function lastIndexOf(view: DataView, signature: number, from: number): number | null {
  for (let at = from; at >= 0; at--) if (view.getUint32(at, true) === signature) return at;
  return null;
}

function parseDirectory(bytes: Uint8Array, count: number, recorder: Recorder): EntryFacts[] | null {
  const view = viewOf(bytes);
  const entries: EntryFacts[] = [];
  let at = 0;
  while (at < bytes.length) {
    if (entries.length === count) return broken(`The end record states ${count} entries, but the directory has more.`);
    if (at + CENTRAL_SIZE > bytes.length || view.getUint32(at, true) !== CENTRAL_SIGNATURE) return broken('The ZIP directory is damaged.');
    const length = CENTRAL_SIZE + view.getUint16(at + 28, true) + view.getUint16(at + 30, true) + view.getUint16(at + 32, true);
    if (at + length > bytes.length) return broken('The ZIP directory is damaged.');
    const record = bytes.subarray(at, at + length);
    const entry = parseEntry(record);
    if (entry === null) return broken('The ZIP directory contains a name that is not UTF-8 or a number that is out of range.');
    checkForm(record, entry, recorder);
    entries.push(entry);
    at += length;
  }
  if (entries.length !== count) return broken(`The end record states ${count} entries, but the directory has ${entries.length}.`);
  return entries;

  function broken(detail: string): null {
    recorder.fail('archive', '', detail);
    return null;
  }
}

function parseEntry(record: Uint8Array): EntryFacts | null {
  const view = viewOf(record);
  const nameEnd = CENTRAL_SIZE + view.getUint16(28, true);
  const extra = view.getUint16(30, true);
  const wide = zip64Numbers(record.subarray(nameEnd, nameEnd + extra));
  const number = (at: number) => (view.getUint32(at, true) === 0xffffffff ? (wide.shift() ?? 0xffffffff) : view.getUint32(at, true));
  try {
    const size = number(24);
    number(20);
    return {
      name: fromUtf8(record.subarray(CENTRAL_SIZE, nameEnd)),
      crc: view.getUint32(16, true),
      size,
      offset: number(42),
      streamed: (view.getUint16(8, true) & 8) !== 0,
    };
  } catch {
    return null;
  }
}

function zip64Numbers(extra: Uint8Array): number[] {
  const view = viewOf(extra);
  if (extra.length < 4 || view.getUint16(0, true) !== 1) return [];
  const numbers: number[] = [];
  for (let at = 4; at + 8 <= extra.length; at += 8) numbers.push(number64(view, at));
  return numbers;
}

function checkForm(record: Uint8Array, entry: EntryFacts, recorder: Recorder): void {
  if (equalBytes(record, centralHeader(entry))) return;
  const view = viewOf(record);
  if (isCompressedOrEncrypted(view.getUint16(8, true), view.getUint16(10, true)))
    recorder.fail('compressed', entry.name, 'The entry is compressed or encrypted.');
  else recorder.fail('archive', entry.name, 'The directory record of the entry is not in its exact form (date, mode, versions, flags, extra fields, comment).');
}

function checkEnd(bytes: Uint8Array, end: End, recorder: Recorder): void {
  const expected = endRecords({ entries: end.entries, size: end.records - end.directory, offset: end.directory });
  if (!equalBytes(bytes, expected)) recorder.fail('archive', '', 'The end record of the ZIP is not in its exact form.');
}

/** The entries must fill the range from the first byte to the directory without gaps or overlaps. */
function placeEntries(entries: EntryFacts[], directory: number, recorder: Recorder): ZipEntry[] | null {
  const placed: ZipEntry[] = [];
  let start = 0;
  for (const entry of entries) {
    if (entry.offset !== start) return misplaced(entry.name, { start, found: entry.offset });
    start += localHeader(entry).length + entry.size + descriptor(entry).length;
    placed.push({ ...entry, end: start });
  }
  if (entries.length === 0) recorder.fail('archive', '', 'The ZIP is empty.');
  return start === directory ? placed : misplaced('', { start, found: directory });

  function misplaced(name: string, at: { start: number; found: number }): null {
    recorder.fail('archive', name, {
      detail: 'There are gaps or overlaps between the entries.',
      expected: `at byte ${at.start}`,
      actual: `at byte ${at.found}`,
    });
    return null;
  }
}

/** Yields the content of an entry and checks the records before and after it. The caller must check the CRC. */
export async function* readEntry(window: Window, entry: ZipEntry, recorder: Recorder): AsyncGenerator<Uint8Array> {
  const expected = localHeader(entry);
  const header = await window.take(entry.offset, expected.length);
  if (!equalBytes(header, expected)) {
    const view = viewOf(header);
    if (isCompressedOrEncrypted(view.getUint16(6, true), view.getUint16(8, true)))
      recorder.fail('compressed', entry.name, 'The entry is compressed or encrypted.');
    else recorder.fail('entry_mismatch', entry.name, 'The local header of the entry does not match the ZIP directory.');
  }
  yield* window.pieces(entry.offset + expected.length, entry.size);
  const tail = descriptor(entry);
  if (!equalBytes(await window.take(entry.end - tail.length, tail.length), tail)) {
    recorder.fail('entry_mismatch', entry.name, 'The data descriptor of the entry does not match the ZIP directory.');
  }
}

function isCompressedOrEncrypted(flags: number, method: number): boolean {
  return method !== 0 || (flags & 0x2041) !== 0;
}

function number64(view: DataView, at: number): number {
  const value = view.getBigUint64(at, true);
  if (value > BigInt(Number.MAX_SAFE_INTEGER)) throw new Error('The ZIP contains a number that is out of range.');
  return Number(value);
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
