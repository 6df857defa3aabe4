import { canonicalPieces, type Evidence, evidenceSchema, fromUtf8, parseBagInfo, parseStrictJson, validate } from '@rrs/evidence-format';
import type { OpenedPackage } from '../archive/read-package.ts';
import { LIMITS } from '../limits.ts';
import type { Recorder } from '../report.ts';
import { evidenceFaults, missingGaps } from './evidence-rules.ts';

const FILE = 'data/evidence.json';
const MAX_SCHEMA_FAULTS = 50;

/** Checks the form of evidence.json and that it agrees with itself and with the files. Returns null if its form is wrong. */
export async function checkEvidence(opened: OpenedPackage, recorder: Recorder): Promise<Evidence | null> {
  if (!opened.files.has(FILE)) recorder.fail('schema', FILE, 'The file is missing.');
  const evidence = await recorder.guard('schema', FILE, () => readEvidence(opened, recorder));
  if (evidence === null) return null;
  await recorder.guard('evidence', FILE, () => {
    for (const fault of evidenceFaults(evidence, opened)) recorder.fail('evidence', FILE, fault);
    for (const gap of missingGaps(evidence)) recorder.fail('gap_missing', FILE, gap);
    compareBagInfo(evidence, opened, recorder);
  });
  if (!recorder.failed('evidence')) {
    recorder.setLayer(
      'evidence',
      'pass',
      `conclusion "${evidence.conclusion.status}" follows from the findings, grade ${evidence.completeness.grade} from the gaps`,
    );
  }
  return evidence;
}

function readEvidence({ files }: OpenedPackage, recorder: Recorder): Evidence | null {
  const stored = files.get(FILE);
  if (!stored?.bytes) return null;
  const text = fromUtf8(stored.bytes);
  // Frees memory: the file may be large and is not read again.
  stored.bytes = null;
  const value = parseStrictJson(text, { nodes: LIMITS.evidenceNodes });
  if (!isCanonical(value, text)) recorder.fail('schema', FILE, 'The file is not canonical JSON (RFC 8785) followed by a line feed.');
  const faults = validate(evidenceSchema, value);
  for (const { path, message } of faults.slice(0, MAX_SCHEMA_FAULTS)) recorder.fail('schema', FILE, `${path === '' ? 'The document' : path} ${message}.`);
  return faults.length === 0 ? (value as Evidence) : null;
}

function isCanonical(value: unknown, text: string): boolean {
  let at = 0;
  for (const piece of canonicalPieces(value)) {
    if (!text.startsWith(piece, at)) return false;
    at += piece.length;
  }
  return text.slice(at) === '\n';
}

function compareBagInfo(evidence: Evidence, { files, folder }: OpenedPackage, recorder: Recorder): void {
  const compared: [string, string | number, string | number][] = [
    ['work item ID', evidence.work_item.id, folder.workItemId],
    ['sequence', evidence.sequence, folder.sequence],
  ];
  for (const [what, expected, actual] of compared) {
    if (expected !== actual)
      recorder.fail('evidence', FILE, {
        detail: `The name of the top-level folder has a different ${what}.`,
        expected: String(expected),
        actual: String(actual),
      });
  }
  const bytes = files.get('bag-info.txt')?.bytes;
  if (!bytes) return;
  const info = bagInfo(bytes);
  if (info !== null && (info.packageId !== evidence.package_id || info.workItemId !== evidence.work_item.id)) {
    recorder.fail('bag', 'bag-info.txt', 'The package or work item ID differs from evidence.json.');
  }
}

/** The content check already reported a bag-info.txt that cannot be parsed. */
function bagInfo(bytes: Uint8Array) {
  try {
    return parseBagInfo(fromUtf8(bytes));
  } catch {
    return null;
  }
}
