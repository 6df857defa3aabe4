import { concat } from '../bytes/bytes.ts';
import { crc32 as pureCrc32 } from '../bytes/crc32.ts';
import { assertFormat } from '../bytes/errors.ts';
import { nameCheck } from './names.ts';
import { centralHeader, dataDescriptor, endRecords, LIMIT32, localHeader, type Member, type WrittenEntry } from './zip-records.ts';

export interface ZipEntry {
  /** With the top folder. */
  name: string;
  content: Uint8Array | AsyncIterable<Uint8Array>;
  /**
   * Of a stream. The form of its header depends on it, so a stream of 4 GiB or more must give it, and any that gives it is held to it.
   */
  size?: number;
}

export interface ZipOptions {
  /** A faster one than the pure one. */
  crc32?: (bytes: Uint8Array, previous: number) => number;
  /** After each entry. */
  onEntry?: (entry: WrittenEntry) => void;
}

const LONGEST_ENTRY_NAME = 255;
const DIRECTORY_CHUNK = 65_536;

/** The same entries give the same bytes. Chunks of content pass through as they come; only the directory is held. */
export async function* writeZip(entries: AsyncIterable<ZipEntry> | Iterable<ZipEntry>, options: ZipOptions = {}): AsyncGenerator<Uint8Array> {
  const { crc32 = pureCrc32, onEntry } = options;
  const assertName = nameOrder();
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
      assertFormat(entry.size === undefined || entry.size === member.size, `${entry.name}: said to have ${entry.size} bytes, has ${member.size}`);
      const descriptor = dataDescriptor(member);
      yield descriptor;
      offset += descriptor.length;
    }
    offset += member.size;
    directory.push(centralHeader(member));
    onEntry?.({ name: member.name, size: member.size, crc32: member.crc32, offset: member.offset });
  }
  yield* packed(directory);
  yield endRecords({ entries: directory.length, offset, size: directory.reduce((size, { length }) => size + length, 0) });
}

function memberOf({ name, content, size }: ZipEntry, offset: number, crc32: (bytes: Uint8Array, previous: number) => number): Member {
  if (!(content instanceof Uint8Array)) return { name, offset, size: size ?? 0, crc32: 0, descriptor: true };
  assertFormat(size === undefined || size === content.length, `${name}: said to have ${size} bytes, has ${content.length}`);
  return { name, offset, size: content.length, crc32: crc32(content, 0), descriptor: false };
}

/** Passes a stream on, and leaves its size and CRC in the member. */
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
    assertFormat(member.size <= most, `${member.name}: a stream of 4 GiB or more must give its size beforehand`);
    member.crc32 = crc32(chunk, member.crc32);
    yield chunk;
  }
}

function nameOrder(): (name: string) => void {
  const check = nameCheck(LONGEST_ENTRY_NAME);
  let before = '';
  return (name) => {
    const fault = check(name);
    assertFormat(fault === null, fault === 'name' ? `unsafe name ${JSON.stringify(name)}` : `${JSON.stringify(name)} stands for two files`);
    assertFormat(name > before, `${name} comes before ${before}`);
    before = name;
  };
}

function* packed(parts: readonly Uint8Array[]): Generator<Uint8Array> {
  let held: Uint8Array[] = [];
  let size = 0;
  for (const part of parts) {
    held.push(part);
    size += part.length;
    if (size < DIRECTORY_CHUNK) continue;
    yield concat(...held);
    [held, size] = [[], 0];
  }
  if (size > 0) yield concat(...held);
}
