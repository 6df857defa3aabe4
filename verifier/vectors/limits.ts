import { chainLine, type Evidence, TRAIL_START, utf8 } from '@rrs/evidence-format';
import { LIMITS } from '../src/limits.ts';
import { changed, edit, failing, sealed, type Vector } from './vector.ts';

const TRAIL = 'data/audit-trail.jsonl';

/** Seals a trail of these lines with the right number of events and the right head. */
function sealedTrail(lines: string[], head: string, change: (evidence: Evidence) => void = () => {}): Vector['make'] {
  return sealed({
    payload: (files) => void files.set(TRAIL, utf8(lines.map((line) => `${line}\n`).join(''))),
    evidence: (evidence) => {
      Object.assign(evidence.audit_trail, { events: lines.length, head });
      change(evidence);
    },
  });
}

const padded = (length: number) => {
  const { line } = chainLine({ type: '' }, 1, TRAIL_START);
  return chainLine({ type: 'x'.repeat(length - line.length) }, 1, TRAIL_START);
};
const longest = padded(LIMITS.trailLine);
const tooLong = padded(LIMITS.trailLine + 1);

/** Packages that are sealed correctly but exceed a limit of the verifier. */
export const limits: Vector[] = [
  { name: 'good: the longest line in the audit trail', verdict: 'verified', codes: [], make: sealedTrail([longest.line], longest.hash) },
  failing('a line in the audit trail that is too long', ['audit_trail'], sealedTrail([tooLong.line], tooLong.hash)),
  failing(
    'more audit events than evidence.json states',
    ['audit_trail'],
    sealedTrail([longest.line, chainLine({ type: 'b' }, 2, longest.hash).line], longest.hash, ({ audit_trail }) => {
      audit_trail.events = 1;
    }),
  ),
  failing(
    'more audit events than the verifier reads',
    ['too_large'],
    sealedTrail([longest.line], longest.hash, ({ audit_trail }) => {
      audit_trail.events = LIMITS.trailEvents + 1;
    }),
  ),
  failing('an audit trail without events', ['audit_trail'], sealedTrail(Array(200).fill('{}'), TRAIL_START)),
  failing('evidence.json with too many values', ['schema'], sealed({ evidenceText: () => `[${'{},'.repeat(100_000)}{}]\n` })),
  failing('evidence.json with many faults', ['schema'], sealed({ evidenceText: () => `[${'{},'.repeat(50_000)}{}]\n` })),
  failing('evidence.json that is too large', ['too_large'], sealed({ evidenceText: (text) => `${text}${' '.repeat(LIMITS.evidence)}` })),
  failing(
    'a manifest of empty lines',
    ['manifest'],
    changed((files) => edit(files, 'manifest-sha256.txt', () => '\n'.repeat(5_000))),
  ),
  failing('a time limit that is too short', ['deadline'], async () => ({ ...(await sealed()()), options: { timeLimit: 0 } })),
];
