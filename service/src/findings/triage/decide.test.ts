import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { systemActor } from '../../shared/actor.ts';
import { AppError } from '../../shared/errors.ts';
import type { FindingRow } from '../fields/field.ts';
import { justifications, mayMove, mayRestate, type Status, statuses } from '../status.ts';
import { asksForApproval, type Decidable, decide, type FindingPatch } from './decide.ts';

type Row = FindingRow & Decidable;

const now = new Date('2026-11-15T12:00:00Z');
const policy = { sla: {}, four_eyes: false } as never;
const deciding = { actor: { ...systemActor('o', 'Ada'), person: { id: 'ada', name: 'Ada' } }, policy, now };
const words = fc.constantFrom('one reason', 'another reason');
const patches = fc.record(
  {
    status: fc.constantFrom(...statuses),
    reason: words,
    owner: words,
    expires_at: fc.constantFrom('2027-01-01T00:00:00Z', '2027-06-01T02:00:00+02:00', '2026-01-01T00:00:00Z', '2031-01-01T00:00:00Z'),
    justification: fc.constantFrom(...justifications.slice(0, 2)),
  },
  { requiredKeys: ['status'] },
) as fc.Arbitrary<FindingPatch & { status: Status }>;
const fresh = {
  status: 'open',
  status_reason: null,
  acceptance_owner: null,
  acceptance_expires_at: null,
  compensating_control: null,
  justification: null,
  reopen_count: 0,
  scope: null,
};

/** Applies a patch. A refused patch leaves the finding unchanged. */
function after(finding: Row, patch: FindingPatch): Row {
  try {
    return { ...finding, ...decide(finding, patch, deciding) } as Row;
  } catch (error) {
    if (error instanceof AppError) return finding;
    throw error;
  }
}

describe('a decision', () => {
  it('has the requested values, and repeating it changes nothing', () => {
    fc.assert(
      fc.property(fc.array(patches, { maxLength: 6 }), patches, (path, patch) => {
        const finding = path.reduce(after, { ...fresh, tags: [] as string[] } as Row);
        let change: ReturnType<typeof decide>;
        try {
          change = decide(finding, patch, deciding);
        } catch (error) {
          expect(error).toBeInstanceOf(AppError);
          return;
        }
        expect(
          patch.status === finding.status ? mayRestate(patch.status) || Object.keys(change).length === 0 : mayMove(finding.status, patch.status, 'person'),
        ).toBe(true);
        const decided = { ...finding, ...change } as Row;
        expect(decided.status).toBe(patch.status);
        if (patch.reason !== undefined) expect(decided.status_reason).toBe(patch.reason);
        if (patch.owner !== undefined) expect(decided.acceptance_owner).toBe(patch.owner);
        if (patch.expires_at !== undefined) expect(decided.acceptance_expires_at).toEqual(new Date(patch.expires_at));
        if (patch.justification !== undefined) expect(decided.justification).toBe(patch.justification);
        expect(decide(decided, patch, deciding)).toEqual({});
      }),
    );
  });

  it('to accept a risk never changes the status under the four-eyes policy, and follows the same rules', () => {
    const strict = { ...deciding, policy: { sla: {}, four_eyes: true } as never };
    const outcome = (finding: Row, patch: FindingPatch, rules: typeof deciding): string => {
      try {
        return Object.keys(decide(finding, patch, rules)).join();
      } catch (error) {
        return (error as AppError).message;
      }
    };
    fc.assert(
      fc.property(fc.array(patches, { maxLength: 4 }), patches, (path, patch) => {
        const finding = path.reduce(after, { ...fresh, tags: [] as string[] } as Row);
        const [loose, checked] = [outcome(finding, patch, deciding), outcome(finding, patch, strict)];
        const asks = asksForApproval(finding, patch, strict);
        expect(checked).toBe(asks && loose.startsWith('status,') ? '' : loose);
        expect(asks).toBe(patch.status === 'risk_accepted' && loose !== '');
      }),
    );
  });
});
