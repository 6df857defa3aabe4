import { crc32 } from '@rrs/evidence-format';
import { centralHeader, descriptor, endRecords, localHeader } from '../archive/zip-records.ts';

export interface RawEntry {
  name: string;
  content: Uint8Array;
}

/** Writes a ZIP of the right form with any names in any order, which the real writer refuses. */
export function rawZip(entries: RawEntry[]): Uint8Array {
  const parts: Uint8Array[] = [];
  const directory: Uint8Array[] = [];
  let offset = 0;
  for (const { name, content } of entries) {
    const facts = { name, crc: crc32(content), size: content.length, offset, streamed: content.length >= 1000 };
    const pieces = [localHeader(facts), content, descriptor(facts)];
    parts.push(...pieces);
    directory.push(centralHeader(facts));
    offset += pieces.reduce((sum, { length }) => sum + length, 0);
  }
  const size = directory.reduce((sum, { length }) => sum + length, 0);
  return Buffer.concat([...parts, ...directory, endRecords({ entries: entries.length, size, offset })]);
}

/** Returns the sorted entries of a package for rawZip. */
export function rawEntries(folder: string, files: ReadonlyMap<string, Uint8Array>): RawEntry[] {
  return [...files].map(([path, content]) => ({ name: `${folder}/${path}`, content })).sort((a, b) => (a.name < b.name ? -1 : 1));
}
