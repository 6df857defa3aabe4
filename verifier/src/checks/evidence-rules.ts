import { canonicalJson, concludeFrom, countsOf, type Evidence, type GapCode, gradeOf, weightOf } from '@rrs/evidence-format';
import type { OpenedPackage } from '../archive/read-package.ts';

interface Fault {
  detail: string;
  expected?: string;
  actual?: string;
}

const SELF = 'data/evidence.json';

/** Checks the rules for evidence.json that its schema cannot express: docs/evidence-package.md, section 7. */
export function* evidenceFaults(evidence: Evidence, { files }: OpenedPackage): Generator<Fault> {
  yield* fileFaults(evidence, files);
  yield* referenceFaults(evidence);
  yield* conclusionFaults(evidence);
  if (evidence.supersedes !== null && evidence.supersedes.sequence >= evidence.sequence) yield { detail: '`supersedes` does not name an earlier package.' };
}

function* fileFaults(evidence: Evidence, files: OpenedPackage['files']): Generator<Fault> {
  const listed = new Set<string>();
  for (const { path, size, sha256 } of evidence.files) {
    const stored = files.get(path);
    if (listed.has(path)) yield { detail: `\`files\` lists ${path} twice.` };
    listed.add(path);
    if (path === SELF || !path.startsWith('data/') || stored === undefined) yield { detail: `\`files\` lists ${path}, which is not a payload file.` };
    else if (stored.size !== size || stored.sha256 !== sha256) {
      yield {
        detail: `The size or hash of ${path} differs from its entry in \`files\`.`,
        expected: `${size} bytes, ${sha256}`,
        actual: `${stored.size} bytes, ${stored.sha256}`,
      };
    }
  }
  for (const path of files.keys()) if (path.startsWith('data/') && path !== SELF && !listed.has(path)) yield { detail: `\`files\` does not list ${path}.` };
  for (const { what, file, size, sha256 } of originals(evidence)) {
    const stored = files.get(file);
    if (stored === undefined || !file.startsWith('data/')) yield { detail: `The file ${file} of ${what} is not in the package.` };
    else if (stored.size !== size || stored.sha256 !== sha256) {
      yield {
        detail: `The size or hash of ${file} differs from ${what}.`,
        expected: `${size} bytes, ${sha256}`,
        actual: `${stored.size} bytes, ${stored.sha256}`,
      };
    }
  }
}

function originals({ scans, artifacts, collection }: Evidence): { what: string; file: string; size: number | null; sha256: string | null }[] {
  const records = [
    ...scans.map((scan) => ({ ...scan, what: `scan ${scan.id}` })),
    ...artifacts.map((artifact) => ({ ...artifact, what: `artifact ${artifact.id}` })),
    ...collection.map((record) => ({ ...record, what: 'a record in `collection`' })),
  ];
  return records.flatMap(({ what, file, size, sha256 }) => (file === null ? [] : [{ what, file, size, sha256 }]));
}

function* referenceFaults({ findings, scans, artifacts }: Evidence): Generator<Fault> {
  for (const [kind, ids] of Object.entries({ finding: findings, scan: scans, artifact: artifacts })) {
    const seen = new Set<string>();
    for (const { id } of ids) {
      if (seen.has(id)) yield { detail: `The ${kind} ${id} occurs twice.` };
      seen.add(id);
    }
  }
  const known = new Set(scans.map(({ id }) => id));
  for (const { id, before, after } of findings) {
    for (const { scan } of [before, after])
      if (scan !== null && !known.has(scan)) yield { detail: `Finding ${id} refers to the scan ${scan}, which is not in \`scans\`.` };
  }
}

function* conclusionFaults({ findings, scans, artifacts, counts, conclusion, completeness }: Evidence): Generator<Fault> {
  const counted = { ...countsOf(findings), artifacts: artifacts.length, scans: scans.length };
  if (canonicalJson(counted) !== canonicalJson(counts)) {
    yield { detail: '`counts` does not match the findings, artifacts and scans.', expected: canonicalJson(counted), actual: canonicalJson(counts) };
  }
  const follows = concludeFrom(findings);
  if (follows !== conclusion.status) yield { detail: 'The conclusion does not follow from the findings.', expected: follows, actual: conclusion.status };
  const grade = gradeOf(completeness.gaps);
  if (grade !== completeness.grade) yield { detail: 'The grade does not follow from the gaps.', expected: grade, actual: completeness.grade };
  for (const { code, weight } of completeness.gaps) {
    const allowed = [weightOf(code, { fourEyes: false }), weightOf(code, { fourEyes: true })];
    if (!allowed.includes(weight)) yield { detail: `The gap ${code} has the wrong weight.`, expected: allowed[0] ?? '', actual: weight };
  }
}

/** Returns a message for each gap that follows from evidence.json itself but is not listed in it. */
export function missingGaps(evidence: Evidence): string[] {
  const { findings, scans, artifacts, approvals } = evidence;
  const derived: [GapCode, boolean][] = [
    ['unfinished', findings.some(({ state }) => state === 'open' || state === 'in_progress' || state === 'remediated')],
    ['no_findings', findings.length === 0],
    ['scan_not_kept', scans.some(({ file }) => file === null)],
    ['artifact_removed', artifacts.some(({ removed }) => removed !== null)],
    ['no_approval', !approvals.some(({ decision }) => decision === 'approved')],
    ['interrupted_sealing', evidence.abandoned_leaves.length > 0],
  ];
  return derived.flatMap(([code, applies]) => (applies && !hasGap(evidence, code) ? [`The gap ${code} applies but is not listed.`] : []));
}

export function hasGap({ completeness }: Evidence, code: GapCode): boolean {
  return completeness.gaps.some((gap) => gap.code === code);
}
