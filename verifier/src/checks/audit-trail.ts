import { type Evidence, FormatError, fromUtf8, TRAIL_START, toHex, verifyTrail } from '@rrs/evidence-format';
import type { StoredFile } from '../archive/read-package.ts';
import { LIMITS } from '../limits.ts';
import type { CheckContext } from './context.ts';

const TRAIL = 'data/audit-trail.jsonl';
const LF = 0x0a;

type TrailContext = Pick<CheckContext, 'opened' | 'platform' | 'recorder'>;

/** Checks data/audit-trail.jsonl: each line contains the hash of the previous line, and evidence.json the hash of the last one. */
export async function checkAuditTrail(context: TrailContext, evidence: Evidence): Promise<void> {
  const { opened, recorder } = context;
  const stored = opened.files.get(TRAIL);
  if (stored === undefined) return recorder.fail('audit_trail', TRAIL, 'The file is missing.');
  const declared = evidence.audit_trail;
  if (declared.file !== TRAIL)
    recorder.fail('audit_trail', 'data/evidence.json', {
      detail: 'evidence.json names a different file as the audit trail.',
      expected: TRAIL,
      actual: declared.file,
    });
  if (declared.events > LIMITS.trailEvents)
    return recorder.fail('too_large', TRAIL, {
      detail: 'The audit trail has more events than the verifier reads.',
      expected: `at most ${LIMITS.trailEvents}`,
      actual: String(declared.events),
    });
  await recorder.guard('audit_trail', TRAIL, async () => {
    const { events, head, faults } = await verifyTrail(linesOf(context, stored, declared.events));
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
}

/** Yields the lines without their line feeds. Holds one line at a time, and stops at a line too many. */
async function* linesOf({ platform, recorder }: TrailContext, stored: StoredFile, expected: number): AsyncGenerator<string> {
  const hash = platform.sha256();
  let rest = new Uint8Array();
  let count = 0;
  for await (const piece of stored.reread()) {
    recorder.tick();
    hash.update(piece);
    let start = 0;
    for (let end = piece.indexOf(LF); end !== -1; start = end + 1, end = piece.indexOf(LF, start)) {
      if (++count > expected) throw new FormatError(`the audit trail has more than the ${expected} events that evidence.json states`);
      yield lineOf(rest, piece.subarray(start, end));
      rest = new Uint8Array();
    }
    rest = joined(rest, piece.subarray(start));
  }
  if (rest.length > 0) recorder.fail('audit_trail', TRAIL, 'The last line does not end with a line feed.');
  if (toHex(hash.digest()) !== stored.sha256) throw new Error('The audit trail changed while it was read.');
}

function lineOf(rest: Uint8Array, end: Uint8Array): string {
  return fromUtf8(joined(rest, end));
}

/** Copies, because the source may reuse the buffer of a piece. */
function joined(a: Uint8Array, b: Uint8Array): Uint8Array<ArrayBuffer> {
  if (a.length + b.length > LIMITS.trailLine) throw new FormatError(`a line of the audit trail is longer than ${LIMITS.trailLine} bytes`);
  const bytes = new Uint8Array(a.length + b.length);
  bytes.set(a);
  bytes.set(b, a.length);
  return bytes;
}
