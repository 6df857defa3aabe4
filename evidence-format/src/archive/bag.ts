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

/** Two spaces between hash and name: the manifest is at once what `sha256sum -c` reads. */
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
  /** Hash by name. */
  entries: Map<string, string>;
  faults: { line: number; message: string }[];
}

/** Takes what it can read, and names every line that is not as manifestText writes it. */
export function parseManifest(text: string): Manifest {
  const manifest: Manifest = { entries: new Map(), faults: [] };
  const lines = text.split('\n');
  if (lines.pop() !== '') manifest.faults.push({ line: lines.length + 1, message: 'does not end with a line feed' });
  let before = '';
  for (const [at, line] of lines.entries()) {
    const [, sha256 = '', path = ''] = /^([0-9a-f]{64}) {2}(.+)$/.exec(line) ?? [];
    const message = path === '' ? 'not a hash, two spaces and a name' : !isSafeName(path) ? 'unsafe name' : path <= before ? 'not sorted, or twice' : null;
    if (message === null) manifest.entries.set(path, sha256);
    else manifest.faults.push({ line: at + 1, message });
    if (path > before) before = path;
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

/** A name is anything; here it is one line that is not empty. */
export function bagValue(text: string): string {
  const line = text
    .toWellFormed()
    .replaceAll(/[\p{Cc}\p{Zl}\p{Zp}\s]+/gu, ' ')
    .trim();
  return line === '' ? '-' : line;
}

/** Exactly the labels that bagInfoText writes, in its order. */
export function parseBagInfo(text: string): BagInfo {
  const lines = text.split('\n');
  assertFormat(lines.length === LABELS.length + 1 && lines.at(-1) === '', `bag-info.txt has ${LABELS.length} lines`);
  const values = LABELS.map((label, at) => {
    const line = lines[at] as string;
    assertFormat(line.startsWith(`${label}: `), `bag-info.txt has ${label} in line ${at + 1}`);
    return line.slice(label.length + 2);
  });
  const [softwareAgent, date, packageId, workItemId, organization, oxum] = values as [string, string, string, string, string, string];
  const [bytes, files, ...rest] = oxum.split('.');
  assertFormat(bytes !== undefined && files !== undefined && rest.length === 0, 'Payload-Oxum is <bytes>.<files>');
  const info = { softwareAgent, date, packageId, workItemId, organization, payload: { bytes: parseDecimal(bytes), files: parseDecimal(files) } };
  assertFormat(bagInfoText(info) === text, 'bag-info.txt is not written as it should be');
  return info;
}
