import { canonicalJson, collectionOf, type Evidence, type EvidenceDocument, type Finding } from '@rrs/evidence-format';
import type { Code } from '../codes.ts';
import { EVIDENCE, type Fault, FINDINGS } from './fault.ts';

type Derived = Pick<Evidence, 'conclusion' | 'completeness' | 'counts' | 'checks' | 'decisions' | 'controls' | 'selections'>;

/** Compares what the document concludes with what follows from its facts. */
export function* derivedFaults(document: EvidenceDocument, derived: Derived): Generator<Fault> {
  yield* differing('conclusion', 'The conclusion does not follow from the facts.', [derived.conclusion, document.conclusion]);
  yield* differing('grade', 'The grade does not follow from the gaps.', [derived.completeness.grade, document.completeness.grade]);
  yield* gapFaults(document.completeness.gaps, derived.completeness.gaps);
  yield* differing('counts', '`counts` does not match the facts.', [derived.counts, document.counts]);
  yield* listFaults('check', 'check', [derived.checks, document.checks]);
  yield* listFaults('decision', 'decision', [derived.decisions, document.decisions]);
  yield* listFaults('selection', 'selection', [derived.selections, document.selections]);
  yield* listFaults('control', 'control', [derived.controls, document.controls]);
  yield* collectionFaults(document);
}

/** Only the artifacts that the service fetched itself have a source and time of their own. */
function* collectionFaults({ scans, artifacts, collection }: EvidenceDocument): Generator<Fault> {
  const stated = new Map(collection.map((entry) => [entry.file, entry]));
  const captures = artifacts.flatMap(({ id, file, captured }) => {
    const entry = captured && file !== null ? stated.get(file) : undefined;
    return entry ? [[id, { source: entry.source, at: entry.collected_at }] as const] : [];
  });
  yield* listFaults('collection', 'collected file', [collectionOf(scans, artifacts, new Map(captures)), collection]);
}

type Gaps = Evidence['completeness']['gaps'];

function* gapFaults(stated: Gaps, derived: Gaps): Generator<Fault> {
  const [has, needs] = [stated, derived].map((gaps) => gaps.map(canonicalJson)) as [string[], string[]];
  const [listed, required] = [new Set(has), new Set(needs)];
  const missing = needs.filter((gap) => !listed.has(gap));
  const extra = has.filter((gap) => !required.has(gap));
  for (const gap of missing) yield fault('gap_missing', `The gap ${codeOf(gap)} applies but is not listed in this form.`, { expected: short(gap) });
  for (const gap of extra) yield fault('gap_false', `The gap ${codeOf(gap)} is listed but does not apply in this form.`, { actual: short(gap) });
  if (missing.length === 0 && extra.length === 0 && has.join('\n') !== needs.join('\n'))
    yield fault('gap_false', 'The gaps are listed twice or in another order.');
}

function codeOf(gap: string): string {
  return (JSON.parse(gap) as { code: string }).code;
}

function* listFaults(code: Code, what: string, [derived, stated]: [readonly unknown[], readonly unknown[]]): Generator<Fault> {
  const length = Math.max(derived.length, stated.length);
  for (let at = 0; at < length; at++) {
    const [expected, actual] = [derived[at], stated[at]].map((item) => (item === undefined ? 'none' : canonicalJson(item))) as [string, string];
    if (expected !== actual)
      return yield fault(code, `The ${what} number ${at + 1} does not follow from the facts.`, { expected: short(expected), actual: short(actual) });
  }
}

function* differing(code: Code, detail: string, values: [unknown, unknown]): Generator<Fault> {
  const [expected, actual] = values.map((value) => (typeof value === 'string' ? value : canonicalJson(value))) as [string, string];
  if (expected !== actual) yield fault(code, detail, { expected: short(expected), actual: short(actual) });
}

const FINDING_CODES = { standing: 'standing', provenance: 'provenance', due_at: 'due', within_sla: 'due' } as const;

/** The same for one finding. */
export function* findingDerivedFaults(stated: Finding, derived: Finding): Generator<Fault> {
  for (const key of ['standing', 'provenance', 'due_at', 'within_sla'] as const) {
    if (stated[key] === derived[key]) continue;
    const [expected, actual] = [derived[key], stated[key]].map(String) as [string, string];
    yield { code: FINDING_CODES[key], file: FINDINGS, detail: `${key} of the finding ${stated.id} does not follow from the facts.`, expected, actual };
  }
}

function fault(code: Code, detail: string, compared: { expected?: string; actual?: string } = {}): Fault {
  return { code, file: EVIDENCE, detail, ...compared };
}

const MAX_SHOWN = 500;

function short(text: string): string {
  return text.length <= MAX_SHOWN ? text : `${text.slice(0, MAX_SHOWN)} …`;
}
