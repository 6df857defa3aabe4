import { concat } from '../bytes/bytes.ts';
import { crc32 as pureCrc32 } from '../bytes/crc32.ts';
import { assertFormat } from '../bytes/errors.ts';
import { nameCheck } from './names.ts';
import { centralHeader, dataDescriptor, endRecords, LIMIT32, localHeader, type Member, type WrittenEntry } from './zip-records.ts';

export interface ZipEntry {
  /** Path including the top folder. */
  name: string;
  content: Uint8Array | AsyncIterable<Uint8Array>;
  /** Size of a stream in bytes. Required for 4 GiB or more, because the form of the header depends on it. Checked if given. */
  size?: number;
}

export interface ZipOptions {
  /** Replaces the built-in implementation with a faster one. */
  crc32?: (bytes: Uint8Array, previous: number) => number;
  /** Called after each entry. */
  onEntry?: (entry: WrittenEntry) => void;
}

const MAX_ENTRY_NAME_LENGTH = 255;
const DIRECTORY_CHUNK = 65_536;

/** Writes an archive. The same entries always give the same bytes. Only the directory is kept in memory. */
export async function* writeZip(entries: AsyncIterable<ZipEntry> | Iterable<ZipEntry>, options: ZipOptions = {}): AsyncGenerator<Uint8Array> {
  const { crc32 = pureCrc32, onEntry } = options;
  const assertName = entryNameCheck();
  const directory: Uint8Array[] = [];
  let offset = 0;
  for await (const entry of entries) {
    assertName(entry.name);
    const member = memberOf(entry, offset, crc32);
    const header = localHeader(member);
    yield header;
    offset += header.length;
    if (entry.content instanceof Uint8Array) {
      if (entry.content.length > 0) yield entry.content;
    } else {
      yield* streamed(entry.content, member, crc32);
      assertFormat(entry.size === undefined || entry.size === member.size, `${entry.name}: expected ${entry.size} bytes, got ${member.size}`);
      const descriptor = dataDescriptor(member);
      yield descriptor;
      offset += descriptor.length;
    }
    offset += member.size;
    directory.push(centralHeader(member));
    onEntry?.({ name: member.name, size: member.size, crc32: member.crc32, offset: member.offset });
  }
  yield* batched(directory);
  yield endRecords({ entries: directory.length, offset, size: directory.reduce((size, { length }) => size + length, 0) });
}

function memberOf({ name, content, size }: ZipEntry, offset: number, crc32: (bytes: Uint8Array, previous: number) => number): Member {
  if (!(content instanceof Uint8Array)) return { name, offset, size: size ?? 0, crc32: 0, descriptor: true };
  assertFormat(size === undefined || size === content.length, `${name}: expected ${size} bytes, got ${content.length}`);
  return { name, offset, size: content.length, crc32: crc32(content, 0), descriptor: false };
}

/** Yields the chunks of a stream and stores its size and CRC in the member. */
async function* streamed(
  content: AsyncIterable<Uint8Array>,
  member: Member,
  crc32: (bytes: Uint8Array, previous: number) => number,
): AsyncGenerator<Uint8Array> {
  const most = member.size >= LIMIT32 ? Number.MAX_SAFE_INTEGER : LIMIT32 - 1;
  member.size = 0;
  for await (const chunk of content) {
    if (chunk.length === 0) continue;
    member.size += chunk.length;
    assertFormat(member.size <= most, `${member.name}: the size of a stream of 4 GiB or more must be given`);
    member.crc32 = crc32(chunk, member.crc32);
    yield chunk;
  }
}

function entryNameCheck(): (name: string) => void {
  const check = nameCheck(MAX_ENTRY_NAME_LENGTH);
  let previous = '';
  return (name) => {
    const fault = check(name);
    assertFormat(fault === null, fault === 'name' ? `unsafe name ${JSON.stringify(name)}` : `${JSON.stringify(name)} refers to two files`);
    assertFormat(name > previous, `${name} must come before ${previous}`);
    previous = name;
  };
}

function* batched(parts: readonly Uint8Array[]): Generator<Uint8Array> {
  let batch: Uint8Array[] = [];
  let size = 0;
  for (const part of parts) {
    batch.push(part);
    size += part.length;
    if (size < DIRECTORY_CHUNK) continue;
    yield concat(...batch);
    [batch, size] = [[], 0];
  }
  if (size > 0) yield concat(...batch);
}
