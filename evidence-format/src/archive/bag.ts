import { decimal, parseDecimal } from '../bytes/decimal.ts';
import { assertFormat } from '../bytes/errors.ts';
import { assertSafeNames, isSafeName } from './names.ts';

/** RFC 8493. */
export const bagitText = 'BagIt-Version: 1.0\nTag-File-Character-Encoding: UTF-8\n';

export interface ManifestEntry {
  path: string;
  /** Lower-case hexadecimal. */
  sha256: string;
}

/** Separates hash and name with two spaces, so that `sha256sum -c` can read the manifest. */
export function manifestText(entries: readonly ManifestEntry[]): string {
  assertSafeNames(entries.map(({ path }) => path));
  assertFormat(
    entries.every(({ sha256 }) => /^[0-9a-f]{64}$/.test(sha256)),
    'not a SHA-256 hash',
  );
  return entries
    .toSorted((a, b) => (a.path < b.path ? -1 : 1))
    .map(({ path, sha256 }) => `${sha256}  ${path}\n`)
    .join('');
}

export interface Manifest {
  /** Maps paths to hashes. */
  entries: Map<string, string>;
  faults: { line: number; message: string }[];
}

/** A package has at most this many files. */
const MAX_LINES = 100_000;
const MAX_FAULTS = 100;

/** Returns the readable lines, and a fault for each line that is not in the form of manifestText. Stops at too many lines or faults. */
export function parseManifest(text: string): Manifest {
  const manifest: Manifest = { entries: new Map(), faults: [] };
  let previous = '';
  let number = 0;
  for (let start = 0; start < text.length && manifest.faults.length < MAX_FAULTS; ) {
    const end = text.indexOf('\n', start);
    const line = text.slice(start, end === -1 ? text.length : end);
    start += line.length + 1;
    number++;
    if (number > MAX_LINES) {
      manifest.faults.push({ line: number, message: `more than ${MAX_LINES} lines` });
      break;
    }
    if (end === -1) {
      manifest.faults.push({ line: number, message: 'does not end with a line feed' });
      break;
    }
    const [, sha256 = '', path = ''] = /^([0-9a-f]{64}) {2}(.+)$/.exec(line) ?? [];
    const message =
      path === '' ? 'expected a hash, two spaces and a name' : !isSafeName(path) ? 'unsafe name' : path <= previous ? 'not sorted or duplicate' : null;
    if (message === null) manifest.entries.set(path, sha256);
    else manifest.faults.push({ line: number, message });
    if (path > previous) previous = path;
  }
  return manifest;
}

export interface BagInfo {
  softwareAgent: string;
  /** YYYY-MM-DD. */
  date: string;
  packageId: string;
  workItemId: string;
  organization: string;
  payload: { bytes: number; files: number };
}

const LABELS = ['Bag-Software-Agent', 'Bagging-Date', 'External-Identifier', 'Bag-Group-Identifier', 'Source-Organization', 'Payload-Oxum'] as const;

export function bagInfoText({ softwareAgent, date, packageId, workItemId, organization, payload }: BagInfo): string {
  assertFormat(/^\d{4}-\d{2}-\d{2}$/.test(date), 'not a date');
  const values = [softwareAgent, date, packageId, workItemId, organization, `${decimal(payload.bytes)}.${decimal(payload.files)}`];
  return LABELS.map((label, at) => `${label}: ${bagValue(values[at] as string)}\n`).join('');
}

/** Control characters and white space. Listed, because what `\s` and `\p{}` match changes with the Unicode version of the engine. */
const CONTROLS = '\\0-\\u{1F}\\u{7F}-\\u{9F}';
const BLANK = new RegExp(`[${CONTROLS} \\u{A0}\\u{1680}\\u{2000}-\\u{200A}\\u{2028}\\u{2029}\\u{202F}\\u{205F}\\u{3000}\\u{FEFF}]+`, 'gu');

/** Turns any text into a single line that is not empty. */
export function bagValue(text: string): string {
  const line = text.toWellFormed().replaceAll(BLANK, ' ').replace(/^ | $/g, '');
  return line === '' ? '-' : line;
}

/** Accepts only the exact form that bagInfoText writes. */
export function parseBagInfo(text: string): BagInfo {
  const lines = text.split('\n');
  assertFormat(lines.length === LABELS.length + 1 && lines.at(-1) === '', `bag-info.txt must have ${LABELS.length} lines`);
  const values = LABELS.map((label, at) => {
    const line = lines[at] as string;
    assertFormat(line.startsWith(`${label}: `), `line ${at + 1} of bag-info.txt must be ${label}`);
    return line.slice(label.length + 2);
  });
  const [softwareAgent, date, packageId, workItemId, organization, oxum] = values as [string, string, string, string, string, string];
  const [bytes, files, ...rest] = oxum.split('.');
  assertFormat(bytes !== undefined && files !== undefined && rest.length === 0, 'Payload-Oxum must be <bytes>.<files>');
  const info = { softwareAgent, date, packageId, workItemId, organization, payload: { bytes: parseDecimal(bytes), files: parseDecimal(files) } };
  assertFormat(bagInfoText(info) === text, 'bag-info.txt is not in its exact form');
  return info;
}
