import { bagitText, fromUtf8, type Manifest, parseBagInfo, parseManifest } from '@rrs/evidence-format';
import type { OpenedPackage, StoredFile } from '../archive/read-package.ts';
import type { Recorder } from '../report.ts';

const TAG_FILES = ['README.txt', 'bag-info.txt', 'bagit.txt', 'manifest-sha256.txt'] as const;
const MANIFEST = 'manifest-sha256.txt';
export const TAG_MANIFEST = 'tagmanifest-sha256.txt';

/** Checks the bag: every file has the hash in the manifests, no file is missing and none was added. */
export async function checkContent({ files }: OpenedPackage, recorder: Recorder): Promise<void> {
  const payload = [...files].filter(([path]) => path.startsWith('data/'));
  const manifest = await readManifest(MANIFEST, files, recorder);
  if (manifest !== null) comparePayload(new Map(payload), manifest, recorder);
  const tagManifest = await readManifest(TAG_MANIFEST, files, recorder);
  if (tagManifest !== null) compareTags(files, tagManifest, recorder);
  for (const path of files.keys())
    if (isUnexpected(path)) recorder.fail('tag_extra', path, 'The file does not belong to the payload, the proof or the fixed files of a package.');
  await checkBagFiles(files, payload, recorder);
  if (!recorder.failed('content')) recorder.setLayer('content', 'pass', `${payload.length} files match their sealed hashes, none missing, none added`);
}

function isUnexpected(path: string): boolean {
  return !path.startsWith('data/') && !path.startsWith('proof/') && path !== TAG_MANIFEST && !TAG_FILES.some((name) => name === path);
}

async function readManifest(path: string, files: OpenedPackage['files'], recorder: Recorder): Promise<Manifest | null> {
  const file = files.get(path);
  if (file === undefined) recorder.fail('tag_missing', path, 'The manifest is missing.');
  const bytes = file?.bytes ?? null;
  if (bytes === null) return null;
  const manifest = await recorder.guard('manifest', path, () => parseManifest(fromUtf8(bytes)));
  for (const { line, message } of manifest?.faults ?? []) recorder.fail('manifest', path, `Line ${line}: ${message}.`);
  return manifest;
}

function comparePayload(payload: Map<string, StoredFile>, { entries }: Manifest, recorder: Recorder): void {
  for (const [path, expected] of entries) {
    if (!path.startsWith('data/')) recorder.fail('manifest', MANIFEST, `The manifest lists ${path}, which is not under data/.`);
    else if (!payload.has(path)) recorder.fail('payload_missing', path, 'The manifest lists this file, but it is not in the package.');
    else compareHash('payload_changed', { path, expected, actual: payload.get(path)?.sha256 }, recorder);
  }
  for (const path of payload.keys()) if (!entries.has(path)) recorder.fail('payload_extra', path, 'The manifest does not list this file.');
}

function compareTags(files: OpenedPackage['files'], { entries }: Manifest, recorder: Recorder): void {
  for (const path of entries.keys()) {
    if (!TAG_FILES.some((name) => name === path)) recorder.fail('manifest', TAG_MANIFEST, `The manifest lists ${path}, which does not belong there.`);
  }
  for (const path of TAG_FILES) {
    const expected = entries.get(path);
    if (expected === undefined) recorder.fail('manifest', TAG_MANIFEST, `The manifest does not list ${path}.`);
    if (files.has(path)) {
      if (expected !== undefined) compareHash('tag_changed', { path, expected, actual: files.get(path)?.sha256 }, recorder);
    } else if (path !== MANIFEST) recorder.fail('tag_missing', path, 'The file is missing.');
  }
}

function compareHash(
  code: 'payload_changed' | 'tag_changed',
  { path, expected, actual }: { path: string; expected: string; actual: string | undefined },
  recorder: Recorder,
): void {
  if (actual !== expected) recorder.fail(code, path, { detail: 'The SHA-256 of the file does not match the manifest.', expected, actual: actual ?? 'no file' });
}

async function checkBagFiles(files: OpenedPackage['files'], payload: [string, StoredFile][], recorder: Recorder): Promise<void> {
  const declaration = files.get('bagit.txt')?.bytes;
  if (declaration) {
    await recorder.guard('bag', 'bagit.txt', () => {
      if (fromUtf8(declaration) !== bagitText) recorder.fail('bag', 'bagit.txt', 'The file is not a BagIt 1.0 declaration.');
    });
  }
  const info = files.get('bag-info.txt')?.bytes;
  if (!info) return;
  await recorder.guard('bag', 'bag-info.txt', () => {
    const { bytes, files: count } = parseBagInfo(fromUtf8(info)).payload;
    const actual = `${payload.reduce((sum, [, { size }]) => sum + size, 0)}.${payload.length}`;
    const expected = `${bytes}.${count}`;
    if (actual !== expected) recorder.fail('bag', 'bag-info.txt', { detail: 'Payload-Oxum (bytes.files) does not match the payload.', expected, actual });
  });
}
