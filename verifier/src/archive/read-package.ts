import { nameCheck, parseTopFolder, toHex } from '@rrs/evidence-format';
import { LIMITS } from '../limits.ts';
import type { Platform } from '../platform.ts';
import type { Recorder } from '../report.ts';
import type { Source } from './source.ts';
import { windowOver } from './window.ts';
import { readDirectory, readEntry, type ZipEntry } from './zip-reader.ts';

export interface StoredFile {
  size: number;
  /** In hexadecimal. */
  sha256: string;
  /** Content of a file that is parsed. Null for all other files and for files above the limit. */
  bytes: Uint8Array | null;
  /** Reads the content from the archive again. The caller must compare its hash. */
  reread(): AsyncGenerator<Uint8Array>;
}

export interface OpenedPackage {
  folder: { workItemId: string; sequence: number };
  /** Keyed by the path below the top folder. */
  files: Map<string, StoredFile>;
  bytes: number;
}

/** Returns the maximum size of a file that is kept in memory for parsing, or null for a file that is only hashed. */
function parseLimit(path: string): number | null {
  if (path === 'data/evidence.json') return LIMITS.evidence;
  if (path === 'manifest-sha256.txt') return LIMITS.manifest;
  if (path.startsWith('proof/') || path === 'bagit.txt' || path === 'bag-info.txt' || path === 'tagmanifest-sha256.txt') return LIMITS.proofFile;
  return null;
}

/** Reads every byte of the package once, in order, and hashes every file. Parses nothing but the ZIP itself. */
export async function readPackage(source: Source, platform: Platform, recorder: Recorder): Promise<OpenedPackage | null> {
  const entries = await recorder.guard('archive', '', () => readDirectory(source, recorder));
  if (entries === null) return null;
  const top = entries.map(({ name }) => name.split('/')[0] ?? '').find((name) => parseTopFolder(name) !== null);
  const folder = top === undefined ? null : parseTopFolder(top);
  if (folder === null) recorder.fail('layout', '', 'There is no top-level folder named evidence-<work item ID>-<sequence>.');
  const paths = pathsOf(entries, top ?? null, recorder);
  const files = new Map<string, StoredFile>();
  const window = windowOver(source);
  let parsedFiles = 0;
  for (const [index, entry] of entries.entries()) {
    const path = paths[index] ?? null;
    const limit = path === null || parsedFiles >= LIMITS.parsedFiles ? null : parseLimit(path);
    const file = await recorder.guard('truncated', entry.name, () => readFile({ entry, limit, read: readEntry(window, entry, recorder) }, platform, recorder));
    if (file === null || path === null) continue;
    if (file.bytes !== null) parsedFiles++;
    files.set(path, { ...file, reread: () => readEntry(windowOver(source), entry, recorder) });
  }
  if (!recorder.failed('container')) recorder.setLayer('container', 'pass', `ZIP archive with ${entries.length} files and no other bytes`);
  return folder === null ? null : { folder, files, bytes: source.size };
}

/** Returns the path of each entry below the top folder, or null for an entry that must not be treated as a file of the package. */
function pathsOf(entries: ZipEntry[], top: string | null, recorder: Recorder): (string | null)[] {
  const check = nameCheck();
  let before = '';
  return entries.map(({ name }) => {
    if (name < before) recorder.fail('archive', name, 'The entries are not sorted by name.');
    before = name;
    const inside = top !== null && name.startsWith(`${top}/`);
    if (top !== null && !inside) recorder.fail('layout', name, `The entry is not in the folder ${top}.`);
    const path = inside ? name.slice(top.length + 1) : name;
    const fault = check(path);
    if (fault === 'name') recorder.fail('name', name, 'The name is not safe to unpack on every system.');
    if (fault === 'duplicate') recorder.fail('duplicate', name, 'The name refers to the same file as another entry on some systems.');
    return inside && fault === null ? path : null;
  });
}

interface Reading {
  entry: ZipEntry;
  limit: number | null;
  read: AsyncGenerator<Uint8Array>;
}

type HashedFile = Omit<StoredFile, 'reread'>;

async function readFile({ entry, limit, read }: Reading, platform: Platform, recorder: Recorder): Promise<HashedFile> {
  const tooLarge = limit !== null && entry.size > limit;
  if (tooLarge)
    recorder.fail('too_large', entry.name, {
      detail: 'The file exceeds the size limit of the verifier.',
      expected: `at most ${limit} bytes`,
      actual: `${entry.size} bytes`,
    });
  const bytes = limit === null || tooLarge ? null : new Uint8Array(entry.size);
  const hash = platform.sha256();
  let crc = 0;
  let filled = 0;
  for await (const piece of read) {
    recorder.tick();
    hash.update(piece);
    crc = platform.crc32(piece, crc);
    bytes?.set(piece, filled);
    filled += piece.length;
  }
  if (crc !== entry.crc) {
    recorder.fail('entry_mismatch', entry.name, { detail: 'The CRC-32 of the entry does not match.', expected: hex32(entry.crc), actual: hex32(crc) });
  }
  return { size: entry.size, sha256: toHex(hash.digest()), bytes };
}

function hex32(value: number): string {
  return value.toString(16).padStart(8, '0');
}
