import { canonicalJson, type EvidenceDocument, fieldOf, parseStrictJson } from '@rrs/evidence-format';
import { linesOf } from '../archive/lines.ts';
import type { StoredFile } from '../archive/read-package.ts';
import type { CheckContext } from '../checks/context.ts';
import { LIMITS } from '../limits.ts';
import { approvalPath } from './files.ts';

type Context = Pick<CheckContext, 'opened' | 'platform' | 'recorder'>;

/**
 * Checks that each approval comes with the state that was approved, and that it is a state of this work item. A missing file is a fault of the files.
 * Returns the findings of these states.
 */
export async function checkApprovedStates(context: Context, document: EvidenceDocument): Promise<Set<string>> {
  const { opened, recorder } = context;
  const findings = new Set<string>();
  for (const approval of document.approvals) {
    const { id, state_sha256 } = approval;
    const file = approvalPath(id);
    const stored = opened.files.get(file);
    if (stored === undefined) continue;
    if (stored.sha256 !== state_sha256)
      recorder.fail('approval_state', file, { detail: 'The file is not the state that was approved.', expected: state_sha256, actual: stored.sha256 });
    await recorder.guard('approval_state', file, async () => {
      const detail = await faultOf(context, stored, { document, findings, at: approval.at });
      if (detail !== null) recorder.fail('approval_state', file, detail);
    });
  }
  return findings;
}

async function faultOf(
  { platform, recorder }: Context,
  stored: StoredFile,
  { document, findings, at }: { document: EvidenceDocument; findings: Set<string>; at: string },
): Promise<string | null> {
  const { organization, work_item } = document;
  let count = 0;
  for await (const lines of linesOf(stored, platform, { line: LIMITS.findingLine, lines: LIMITS.stateLines })) {
    recorder.tick();
    for (const line of lines) {
      const value = parseStrictJson(line);
      if (canonicalJson(value) !== line) return `Line ${count + 1} is not canonical JSON.`;
      if (++count === 1 && (fieldOf(value, 'organization_id') !== organization.id || fieldOf(value, 'work_item_id') !== work_item.id))
        return 'The state belongs to another work item or organization.';
      if (count === 1 && !wasInForce(document, at, fieldOf(value, 'policy'))) return 'The policy in the state is not the one that was in force then.';
      for (const kind of ['finding', 'unlinked']) {
        const id = fieldOf(fieldOf(value, kind), 'id');
        if (typeof id === 'string') findings.add(id);
      }
    }
  }
  return count === 0 ? 'The file is empty.' : null;
}

/** A state has only the deadlines of the severities that the findings had. */
function wasInForce({ policies }: EvidenceDocument, at: string, approved: unknown): boolean {
  const policy = policies.findLast(({ effective_from }) => effective_from <= at) ?? policies[0];
  const sla = Object.entries(fieldOf(approved, 'sla') ?? {});
  const same = (name: 'four_eyes' | 'brake'): boolean => canonicalJson(fieldOf(approved, name) ?? null) === canonicalJson(policy?.[name] ?? null);
  return same('four_eyes') && same('brake') && sla.every(([severity, days]) => fieldOf(policy?.sla, severity) === days);
}
