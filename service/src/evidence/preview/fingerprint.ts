import { sql } from 'kysely';
import { auditTrail } from '../../audit/relations.ts';
import type { TenantTx } from '../../db/database.ts';
import { findingsFingerprint } from '../../findings/facts/fingerprint.ts';
import { findingLinks, itemFingerprint } from '../../work-items/relations.ts';

/** Events that say nothing about the work, the people or the policy. Results of imports are in the findings. */
const UNRELATED = ['session', 'upload', 'webhook', 'sync_run', 'evidence_package', 'finding'];
/** What people do with imports after they ran. */
const IMPORT_ACTIONS = ['import.confirmed', 'import.discarded'];

/** Changes whenever something changes that the state of a work item, or who took part in it, is computed from. */
export async function stateFingerprint(tx: TenantTx, orgId: string, itemId: string, since: string): Promise<string> {
  const everLinked = sql`select distinct l.finding_id from ${findingLinks} l where l.org_id = ${orgId} and l.work_item_id = ${itemId}`;
  const { rows } = await sql<{ fingerprint: string }>`
    select md5(concat_ws(' ', ${findingsFingerprint(orgId, everLinked)}, ${itemFingerprint(orgId, itemId)},
      (select count(*) from artifacts a where a.org_id = ${orgId} and a.work_item_id = ${itemId}),
      (select count(*) from artifacts a join artifact_removals r on r.org_id = ${orgId} and r.artifact_id = a.id where a.org_id = ${orgId} and a.work_item_id = ${itemId}),
      (select count(*) from artifacts a join artifact_captures c on c.org_id = ${orgId} and c.artifact_id = a.id where a.org_id = ${orgId} and a.work_item_id = ${itemId}),
      (select count(*) from ${auditTrail} e where e.org_id = ${orgId} and e.occurred_at >= ${since}::timestamptz and e.object_type <> all(${UNRELATED})
        and (e.object_type <> 'import' or e.action = any(${IMPORT_ACTIONS})) and (e.object_type <> 'work_item' or e.object_id = ${itemId})))) as fingerprint`.execute(
    tx,
  );
  return rows[0]?.fingerprint ?? '';
}
