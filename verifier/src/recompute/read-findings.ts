import { canonicalJson, type Finding, FormatError, findingSchema, validate } from '@rrs/evidence-format';
import { linesOf } from '../archive/lines.ts';
import type { CheckContext } from '../checks/context.ts';
import { LIMITS } from '../limits.ts';
import { FINDINGS } from './fault.ts';

const MAX_FAULTS_PER_LINE = 5;

/** Reads data/findings.jsonl line by line, and passes on each finding up to the first fault. Returns null if the form of a line is wrong. */
export async function readFindings(
  { opened, platform, recorder }: Pick<CheckContext, 'opened' | 'platform' | 'recorder'>,
  visit: (finding: Finding) => void,
): Promise<Finding[] | null> {
  const stored = opened.files.get(FINDINGS);
  if (stored === undefined) {
    recorder.fail('schema', FINDINGS, 'The file is missing.');
    return null;
  }
  if (stored.size > LIMITS.findingBytes) {
    recorder.fail('too_large', FINDINGS, {
      detail: 'The findings exceed the size limit of the verifier.',
      expected: `at most ${LIMITS.findingBytes} bytes`,
      actual: `${stored.size} bytes`,
    });
    return null;
  }
  return recorder.guard('schema', FINDINGS, async () => {
    const findings: Finding[] = [];
    let faults = 0;
    let count = 0;
    for await (const lines of linesOf(stored, platform, { line: LIMITS.findingLine, lines: LIMITS.findings })) {
      for (const line of lines) {
        recorder.tick();
        count++;
        const value = parseLine(line, count);
        const found = [...faultsOf(line, value, findings.at(-1)?.id ?? '')];
        for (const message of found) recorder.fail('schema', FINDINGS, `Line ${count} ${message}.`);
        faults += found.length;
        if (faults > 0) continue;
        findings.push(value as Finding);
        visit(value as Finding);
      }
    }
    return faults === 0 ? findings : null;
  });
}

function parseLine(line: string, number: number): unknown {
  try {
    return JSON.parse(line);
  } catch {
    throw new FormatError(`line ${number} is not valid JSON`);
  }
}

/** Duplicate keys, whitespace and other notations are found by writing the line again. That comes last, because the schema bounds the nesting. */
function* faultsOf(line: string, value: unknown, previous: string): Generator<string> {
  const faults = validate(findingSchema, value);
  for (const { path, message } of faults.slice(0, MAX_FAULTS_PER_LINE)) yield path === '' ? message : `${path} ${message}`;
  if (faults.length > 0) return;
  if (canonicalJson(value) !== line) yield 'is not canonical JSON (RFC 8785)';
  if ((value as Finding).id <= previous) yield 'is not sorted by ID, or its ID occurs twice';
}
