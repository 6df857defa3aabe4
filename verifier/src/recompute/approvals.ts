import { canonicalJson, type EvidenceDocument, parseStrictJson } from '@rrs/evidence-format';
import { linesOf } from '../archive/lines.ts';
import type { StoredFile } from '../archive/read-package.ts';
import type { CheckContext } from '../checks/context.ts';
import { LIMITS } from '../limits.ts';
import { approvalPath } from './files.ts';

type Context = Pick<CheckContext, 'opened' | 'platform' | 'recorder'>;

/** Checks that each approval comes with the state that was approved, and that it is a state of this work item. A missing file is a fault of the files. */
export async function checkApprovedStates(context: Context, document: EvidenceDocument): Promise<void> {
  const { opened, recorder } = context;
  for (const { id, state_sha256 } of document.approvals) {
    const file = approvalPath(id);
    const stored = opened.files.get(file);
    if (stored === undefined) continue;
    if (stored.sha256 !== state_sha256)
      recorder.fail('approval_state', file, { detail: 'The file is not the state that was approved.', expected: state_sha256, actual: stored.sha256 });
    await recorder.guard('approval_state', file, async () => {
      const detail = await faultOf(context, stored, document);
      if (detail !== null) recorder.fail('approval_state', file, detail);
    });
  }
}

async function faultOf({ platform, recorder }: Context, stored: StoredFile, { organization, work_item }: EvidenceDocument): Promise<string | null> {
  let count = 0;
  for await (const lines of linesOf(stored, platform, { line: LIMITS.findingLine, lines: LIMITS.stateLines })) {
    recorder.tick();
    for (const line of lines) {
      const value = parseStrictJson(line) as { organization_id?: unknown; work_item_id?: unknown };
      if (canonicalJson(value) !== line) return `Line ${count + 1} is not canonical JSON.`;
      if (++count === 1 && (value.organization_id !== organization.id || value.work_item_id !== work_item.id))
        return 'The state belongs to another work item or organization.';
    }
  }
  return count === 0 ? 'The file is empty.' : null;
}
