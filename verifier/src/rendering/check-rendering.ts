import { ed25519RawFromSpki, opensshFingerprint, RENDERER, type RenderContext, toHex, utf8, vkey } from '@rrs/evidence-format';
import type { CheckContext } from '../checks/context.ts';
import type { LogState } from '../checks/log.ts';
import type { Content } from '../recompute/check-evidence.ts';
import { EVIDENCE, FINDINGS } from '../recompute/fault.ts';
import { type ReadableFile, readableFiles, tagFiles } from './readable-files.ts';

interface Keys {
  key: Uint8Array | null;
  log: LogState | null;
}

/** Writes the readable files again and compares the bytes, so that no report can tell another story than the evidence. */
export function checkRendering(context: CheckContext, { document, findings, renderer }: Content, keys: Keys): void {
  const { recorder, opened } = context;
  if (renderer !== RENDERER) {
    recorder.setLayer('rendering', 'not_checked', `the readable files were written by version ${renderer}, which this verifier does not know`);
    return;
  }
  const rendering = contextOf(context, keys);
  if (findings === null || rendering === null) return;
  const evidence = { ...document, findings };
  const payload = [...opened.files].filter(([path]) => path.startsWith('data/'));
  const total = { files: payload.length, bytes: payload.reduce((sum, [, { size }]) => sum + size, 0) };
  const files = [...readableFiles(evidence, rendering), ...tagFiles(document, rendering, total)];
  for (const file of files) compare(context, file);
  if (!recorder.failed('rendering'))
    recorder.setLayer(
      'rendering',
      'pass',
      `${files.length} readable files are exactly what the evidence says${document.formats.includes('pdf') ? '; report.pdf was not compared' : ''}`,
    );
}

function contextOf({ opened }: CheckContext, { key, log }: Keys): RenderContext | null {
  if (key === null || log === null || log.logKey === null || log.noteKey === null) return null;
  const hash = (path: string) => opened.files.get(path)?.sha256 ?? '';
  return {
    keys: { package: opensshFingerprint(key), log: opensshFingerprint(log.logKey), note: vkey(log.origin, ed25519RawFromSpki(log.noteKey)) },
    sha256: { evidence: hash(EVIDENCE), findings: hash(FINDINGS) },
  };
}

/** A file that is missing is reported by the checks of the files and tag files. */
function compare({ opened, platform, recorder }: CheckContext, { path, text }: ReadableFile): void {
  const stored = opened.files.get(path);
  if (stored === undefined) return;
  recorder.tick();
  const hash = platform.sha256();
  for (const piece of inBlocks(text())) hash.update(utf8(piece));
  const expected = toHex(hash.digest());
  if (expected !== stored.sha256)
    recorder.fail('rendering', path, {
      detail: 'The file is not what the evidence says.',
      expected: `SHA-256 ${expected}`,
      actual: `SHA-256 ${stored.sha256}`,
    });
}

const BLOCK = 1 << 16;

/** Joins short texts, because encoding and hashing each of them takes longer than the work itself. */
function* inBlocks(pieces: Iterable<string>): Generator<string> {
  let block = '';
  for (const piece of pieces) {
    block += piece;
    if (block.length < BLOCK) continue;
    yield block;
    block = '';
  }
  yield block;
}
