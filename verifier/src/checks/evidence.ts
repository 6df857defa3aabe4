import {
  canonicalPieces,
  type Evidence,
  evidenceSchema,
  fromUtf8,
  parseBagInfo,
  parseStrictJson,
  TRAIL_START,
  validate,
  verifyTrail,
} from '@rrs/evidence-format';
import type { Opened } from '../archive/read-package.ts';
import type { Findings } from '../report.ts';
import { evidenceFaults, missingGaps } from './evidence-rules.ts';

const FILE = 'data/evidence.json';
const TRAIL = 'data/audit-trail.jsonl';
const MAX_SCHEMA_FAULTS = 50;

/** evidence.json: its form, and that it agrees with itself and with the files of the package. Null where its form is wrong. */
export async function checkEvidence(opened: Opened, findings: Findings): Promise<Evidence | null> {
  if (!opened.files.has(FILE)) findings.fail('schema', FILE, 'The file is missing.');
  const evidence = await findings.guard('schema', FILE, () => readEvidence(opened, findings));
  if (evidence === null) return null;
  await findings.guard('evidence', FILE, () => {
    for (const fault of evidenceFaults(evidence, opened)) findings.fail('evidence', FILE, fault);
    for (const gap of missingGaps(evidence)) findings.fail('gap_missing', FILE, gap);
    compareBagInfo(evidence, opened, findings);
  });
  if (!findings.failed('evidence')) {
    findings.settle('evidence', 'pass', `"${evidence.conclusion.status}" follows from the findings, grade ${evidence.completeness.grade} from the gaps`);
  }
  return evidence;
}

function readEvidence({ files }: Opened, findings: Findings): Evidence | null {
  const stored = files.get(FILE);
  if (!stored?.bytes) return null;
  const text = fromUtf8(stored.bytes);
  // It may be large, and nobody reads it again.
  stored.bytes = null;
  const value = parseStrictJson(text);
  if (!isCanonical(value, text)) findings.fail('schema', FILE, 'It is not canonical JSON (RFC 8785) followed by a line feed.');
  const faults = validate(evidenceSchema, value);
  for (const { path, message } of faults.slice(0, MAX_SCHEMA_FAULTS)) findings.fail('schema', FILE, `${path}: ${message}`);
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

function compareBagInfo(evidence: Evidence, { files, folder }: Opened, findings: Findings): void {
  const said: [string, string | number, string | number][] = [
    ['the work item', evidence.work_item.id, folder.workItemId],
    ['the sequence', evidence.sequence, folder.sequence],
  ];
  for (const [what, expected, actual] of said) {
    if (expected !== actual)
      findings.fail('evidence', FILE, {
        detail: `The name of the folder says another thing about ${what}.`,
        expected: String(expected),
        actual: String(actual),
      });
  }
  const bytes = files.get('bag-info.txt')?.bytes;
  if (!bytes) return;
  const info = bagInfo(bytes);
  if (info !== null && (info.packageId !== evidence.package_id || info.workItemId !== evidence.work_item.id)) {
    findings.fail('bag', 'bag-info.txt', 'It names another package or work item than evidence.json.');
  }
}

/** That it cannot be read was reported before. */
function bagInfo(bytes: Uint8Array) {
  try {
    return parseBagInfo(fromUtf8(bytes));
  } catch {
    return null;
  }
}

/** data/audit-trail.jsonl: each line holds the hash of the one before, and evidence.json that of the last. */
export async function checkAuditTrail({ files }: Opened, evidence: Evidence, findings: Findings): Promise<void> {
  const stored = files.get(TRAIL);
  if (stored === undefined) findings.fail('audit_trail', TRAIL, 'The file is missing.');
  const bytes = stored?.bytes ?? null;
  if (bytes === null) return;
  await findings.guard('audit_trail', TRAIL, async () => {
    if (bytes.length > 0 && bytes.at(-1) !== LF) findings.fail('audit_trail', TRAIL, 'The last line is cut off.');
    const { events, head, faults } = await verifyTrail(linesOf(bytes));
    for (const { line, message } of faults) findings.fail('audit_trail', TRAIL, `Line ${line}: ${message}.`);
    const said = evidence.audit_trail;
    if (said.file !== TRAIL) findings.fail('audit_trail', FILE, { detail: 'It names another file as audit trail.', expected: TRAIL, actual: said.file });
    if (said.events !== events || said.head !== head) {
      findings.fail('audit_trail', TRAIL, {
        detail: 'It is not the chain that evidence.json names.',
        expected: `${said.events} events ending in ${said.head}`,
        actual: `${events} events ending in ${head}`,
      });
    }
    const empty = head === TRAIL_START;
    if (!findings.failed('audit_trail'))
      findings.settle('audit_trail', 'pass', empty ? 'no events, as evidence.json says' : `an unbroken chain of ${events} events`);
  });
}

const LF = 0x0a;

/** Without their LF, each decoded as it is asked for; not what follows the last one. */
function* linesOf(bytes: Uint8Array): Generator<string> {
  for (let start = 0, end = bytes.indexOf(LF); end !== -1; start = end + 1, end = bytes.indexOf(LF, start)) yield fromUtf8(bytes.subarray(start, end));
}
