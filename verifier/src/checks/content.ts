import { bagitText, fromUtf8, type Manifest, parseBagInfo, parseManifest } from '@rrs/evidence-format';
import type { Opened, StoredFile } from '../archive/read-package.ts';
import type { Findings } from '../report.ts';

const TAG_FILES = ['README.txt', 'bag-info.txt', 'bagit.txt', 'manifest-sha256.txt'] as const;
const MANIFEST = 'manifest-sha256.txt';
const TAG_MANIFEST = 'tagmanifest-sha256.txt';

/** The bag: every file has the hash that the manifests say, none is missing, none is there that they do not know. */
export async function checkContent({ files }: Opened, findings: Findings): Promise<void> {
  const payload = [...files].filter(([path]) => path.startsWith('data/'));
  const manifest = await readManifest(MANIFEST, files, findings);
  if (manifest !== null) comparePayload(new Map(payload), manifest, findings);
  const tagManifest = await readManifest(TAG_MANIFEST, files, findings);
  if (tagManifest !== null) compareTags(files, tagManifest, findings);
  for (const path of files.keys())
    if (isStranger(path)) findings.fail('tag_extra', path, 'The file is neither payload, nor proof, nor one of the files that a package has.');
  await checkBagFiles(files, payload, findings);
  if (!findings.failed('content'))
    findings.settle('content', 'pass', `${payload.length} files have the hashes that were sealed; none is missing, none is extra`);
}

function isStranger(path: string): boolean {
  return !path.startsWith('data/') && !path.startsWith('proof/') && path !== TAG_MANIFEST && !TAG_FILES.some((name) => name === path);
}

async function readManifest(path: string, files: Opened['files'], findings: Findings): Promise<Manifest | null> {
  const file = files.get(path);
  if (file === undefined) findings.fail('tag_missing', path, 'The list of hashes is missing.');
  const bytes = file?.bytes ?? null;
  if (bytes === null) return null;
  const manifest = await findings.guard('manifest', path, () => parseManifest(fromUtf8(bytes)));
  for (const { line, message } of manifest?.faults ?? []) findings.fail('manifest', path, `Line ${line}: ${message}.`);
  return manifest;
}

function comparePayload(payload: Map<string, StoredFile>, { entries }: Manifest, findings: Findings): void {
  for (const [path, expected] of entries) {
    if (!path.startsWith('data/')) findings.fail('manifest', MANIFEST, `It lists ${path}, which is not under data/.`);
    else if (!payload.has(path)) findings.fail('payload_missing', path, 'The manifest lists it and it is not there.');
    else compareHash('payload_changed', { path, expected, actual: payload.get(path)?.sha256 }, findings);
  }
  for (const path of payload.keys()) if (!entries.has(path)) findings.fail('payload_extra', path, 'The manifest does not list it.');
}

function compareTags(files: Opened['files'], { entries }: Manifest, findings: Findings): void {
  for (const path of entries.keys()) {
    if (!TAG_FILES.some((name) => name === path)) findings.fail('manifest', TAG_MANIFEST, `It lists ${path}, which it must not.`);
  }
  for (const path of TAG_FILES) {
    const expected = entries.get(path);
    if (expected === undefined) findings.fail('manifest', TAG_MANIFEST, `It does not list ${path}.`);
    if (files.has(path)) {
      if (expected !== undefined) compareHash('tag_changed', { path, expected, actual: files.get(path)?.sha256 }, findings);
    } else if (path !== MANIFEST) findings.fail('tag_missing', path, 'The file is missing.');
  }
}

function compareHash(
  code: 'payload_changed' | 'tag_changed',
  { path, expected, actual }: { path: string; expected: string; actual: string | undefined },
  findings: Findings,
): void {
  if (actual !== expected) findings.fail(code, path, { detail: 'Its SHA-256 is not the one that was sealed.', expected, actual: actual ?? 'nothing' });
}

async function checkBagFiles(files: Opened['files'], payload: [string, StoredFile][], findings: Findings): Promise<void> {
  const declaration = files.get('bagit.txt')?.bytes;
  if (declaration) {
    await findings.guard('bag', 'bagit.txt', () => {
      if (fromUtf8(declaration) !== bagitText) findings.fail('bag', 'bagit.txt', 'It is not the declaration of a BagIt 1.0 bag.');
    });
  }
  const info = files.get('bag-info.txt')?.bytes;
  if (!info) return;
  await findings.guard('bag', 'bag-info.txt', () => {
    const { bytes, files: count } = parseBagInfo(fromUtf8(info)).payload;
    const actual = `${payload.reduce((sum, [, { size }]) => sum + size, 0)}.${payload.length}`;
    const expected = `${bytes}.${count}`;
    if (actual !== expected) findings.fail('bag', 'bag-info.txt', { detail: 'Payload-Oxum (bytes.files) is not true.', expected, actual });
  });
}
