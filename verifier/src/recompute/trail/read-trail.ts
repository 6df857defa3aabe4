import { type ChainedEvent, type EvidenceDocument, TRAIL_START, trailEventSchema, validate, verifyTrail } from '@rrs/evidence-format';
import { linesOf } from '../../archive/lines.ts';
import type { CheckContext } from '../../checks/context.ts';
import { LIMITS } from '../../limits.ts';
import { EVIDENCE, TRAIL } from '../fault.ts';

type Visit = (event: ChainedEvent, seq: number) => void;

/** Checks data/audit-trail.jsonl, and passes on its events: each line contains the hash of the previous line, and evidence.json the hash of the last one. Returns whether it is unbroken. */
export async function readTrail(
  { opened, platform, recorder }: Pick<CheckContext, 'opened' | 'platform' | 'recorder'>,
  { audit_trail: declared }: Pick<EvidenceDocument, 'audit_trail'>,
  visit: Visit,
): Promise<boolean> {
  const stored = opened.files.get(TRAIL);
  if (stored === undefined) {
    recorder.fail('audit_trail', TRAIL, 'The file is missing.');
    return false;
  }
  if (declared.file !== TRAIL)
    recorder.fail('audit_trail', EVIDENCE, { detail: 'evidence.json names a different file as the audit trail.', expected: TRAIL, actual: declared.file });
  if (declared.events > LIMITS.trailEvents) {
    recorder.fail('too_large', TRAIL, {
      detail: 'The audit trail has more events than the verifier reads.',
      expected: `at most ${LIMITS.trailEvents}`,
      actual: String(declared.events),
    });
    return false;
  }
  const limits = { line: LIMITS.trailLine, lines: declared.events };
  await recorder.guard('audit_trail', TRAIL, async () => {
    const { events, head, faults } = await verifyTrail(flat(linesOf(stored, platform, limits), recorder.tick), visitValid);
    for (const { line, message } of faults) recorder.fail('audit_trail', TRAIL, `Line ${line}: ${message}.`);
    if (declared.events !== events || declared.head !== head) {
      recorder.fail('audit_trail', TRAIL, {
        detail: 'The audit trail does not match evidence.json.',
        expected: `${declared.events} events ending in ${declared.head}`,
        actual: `${events} events ending in ${head}`,
      });
    }
    const empty = head === TRAIL_START;
    if (!recorder.failed('audit_trail'))
      recorder.setLayer('audit_trail', 'pass', empty ? 'no events, as evidence.json states' : `unbroken chain of ${events} events`);
  });
  return !recorder.failed('audit_trail');

  function visitValid(event: object, seq: number): void {
    const [fault] = validate(trailEventSchema, event);
    if (fault === undefined) visit(event as ChainedEvent, seq);
    else recorder.fail('audit_trail', TRAIL, `Line ${seq}: ${fault.path === '' ? 'the event' : fault.path} ${fault.message}.`);
  }
}

async function* flat(pieces: AsyncIterable<string[]>, tick: () => void): AsyncGenerator<string> {
  for await (const lines of pieces) {
    tick();
    yield* lines;
  }
}
