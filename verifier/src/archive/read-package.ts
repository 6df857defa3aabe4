import { nameCheck, parseTopFolder, toHex } from '@rrs/evidence-format';
import type { Platform } from '../platform.ts';
import type { Findings } from '../report.ts';
import type { Source } from './source.ts';
import { windowOver } from './window.ts';
import { readDirectory, readEntry, type ZipEntry } from './zip-reader.ts';

export interface StoredFile {
  size: number;
  /** Hexadecimal. */
  sha256: string;
  /** Of the files that are parsed; null for the others and for those that are too large. */
  bytes: Uint8Array | null;
}

export interface Opened {
  folder: { workItemId: string; sequence: number };
  /** By path below the folder. */
  files: Map<string, StoredFile>;
  bytes: number;
}

const MIB = 1 << 20;

/** The files that are held to be parsed, and how large each may be; all others only pass by. */
function parsedUpTo(path: string): number | null {
  if (path === 'data/evidence.json' || path === 'data/audit-trail.jsonl' || path === 'manifest-sha256.txt') return 64 * MIB;
  if (path.startsWith('proof/') || path === 'bagit.txt' || path === 'bag-info.txt' || path === 'tagmanifest-sha256.txt') return MIB;
  return null;
}

/** More files than a proof has are not worth their memory. */
const MAX_HELD = 64;

/** Every byte of the package passes here once, front to back. */
export async function readPackage(source: Source, platform: Platform, findings: Findings): Promise<Opened | null> {
  const entries = await findings.guard('archive', '', () => readDirectory(source, findings));
  if (entries === null) return null;
  const top = entries.map(({ name }) => name.split('/')[0] ?? '').find((name) => parseTopFolder(name) !== null);
  const folder = top === undefined ? null : parseTopFolder(top);
  if (folder === null) findings.fail('layout', '', 'There is no folder named evidence-<work item>-<number>.');
  const paths = pathsOf(entries, top ?? null, findings);
  const files = new Map<string, StoredFile>();
  const window = windowOver(source);
  let held = 0;
  for (const [index, entry] of entries.entries()) {
    const path = paths[index] ?? null;
    const limit = path === null || held >= MAX_HELD ? null : parsedUpTo(path);
    const file = await findings.guard('truncated', entry.name, () => readFile({ entry, limit, read: readEntry(window, entry, findings) }, platform, findings));
    if (file === null || path === null) continue;
    if (file.bytes !== null) held++;
    files.set(path, file);
  }
  if (!findings.failed('container')) findings.settle('container', 'pass', `a stored ZIP of ${entries.length} files, nothing before, between or after them`);
  return folder === null ? null : { folder, files, bytes: source.size };
}

/** The path below the top folder of each entry, or null where it must not be taken for one. */
function pathsOf(entries: ZipEntry[], top: string | null, findings: Findings): (string | null)[] {
  const check = nameCheck();
  let before = '';
  return entries.map(({ name }) => {
    if (name < before) findings.fail('archive', name, 'The entries are not sorted by name.');
    before = name;
    const inside = top !== null && name.startsWith(`${top}/`);
    if (top !== null && !inside) findings.fail('layout', name, `The entry is not in the folder ${top}.`);
    const path = inside ? name.slice(top.length + 1) : name;
    const fault = check(path);
    if (fault === 'name') findings.fail('name', name, 'The name is not safe to unpack on every system.');
    if (fault === 'duplicate') findings.fail('duplicate', name, 'On some system the name stands for two files.');
    return inside && fault === null ? path : null;
  });
}

interface Reading {
  entry: ZipEntry;
  limit: number | null;
  read: AsyncGenerator<Uint8Array>;
}

async function readFile({ entry, limit, read }: Reading, platform: Platform, findings: Findings): Promise<StoredFile> {
  const tooLarge = limit !== null && entry.size > limit;
  if (tooLarge)
    findings.fail('too_large', entry.name, { detail: 'The file is too large to be read.', expected: `at most ${limit} bytes`, actual: `${entry.size} bytes` });
  const bytes = limit === null || tooLarge ? null : new Uint8Array(entry.size);
  const hash = platform.sha256();
  let crc = 0;
  let filled = 0;
  for await (const piece of read) {
    hash.update(piece);
    crc = platform.crc32(piece, crc);
    bytes?.set(piece, filled);
    filled += piece.length;
  }
  if (crc !== entry.crc) {
    findings.fail('entry_mismatch', entry.name, { detail: 'The checksum of the entry is wrong.', expected: hex32(entry.crc), actual: hex32(crc) });
  }
  return { size: entry.size, sha256: toHex(hash.digest()), bytes };
}

function hex32(value: number): string {
  return value.toString(16).padStart(8, '0');
}
