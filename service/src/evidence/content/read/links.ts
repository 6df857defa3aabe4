import type { FindingFacts, UnlinkedFinding } from '@rrs/evidence-format';
import { sql } from 'kysely';
import { auditTrail, type RecordedActor, recordedActor } from '../../../audit/relations.ts';
import type { TenantTx } from '../../../db/database.ts';
import { findingFacts } from '../../../findings/relations.ts';
import { severityName } from '../../../findings/severity.ts';
import { findingLinks, linkedFindingIds } from '../../../work-items/relations.ts';
import type { ToPerson } from './persons.ts';

interface UnlinkedRow {
  id: string;
  title: string;
  severity: number;
  status: UnlinkedFinding['state'];
  unlinked_at: Date;
  unlinked_by: string;
  unlink_reason: string | null;
  /** What the audit trail says about the removal. Null if the finding was merged. */
  actor: RecordedActor | null;
  severity_then: UnlinkedFinding['severity'] | null;
  occurred_at: Date | null;
}

/** Findings that were removed from the work item and not added again. Not those that were merged into a finding that is on it. */
export async function readUnlinked(tx: TenantTx, orgId: string, itemId: string, toPerson: ToPerson): Promise<UnlinkedFinding[]> {
  const linked = linkedFindingIds(orgId, itemId);
  const { rows } = await sql<UnlinkedRow>`
    with recorded as materialized (
      select distinct on (e.after->>'finding_id') e.after->>'finding_id' as finding_id, ${recordedActor('e')} as actor, e.after->>'severity' as severity, e.occurred_at from ${auditTrail} e
      where e.org_id = ${orgId} and e.object_id = ${itemId} and e.action = 'work_item.finding_unlinked' order by 1, e.occurred_at desc, e.id desc
    )
    select distinct on (f.id) f.id, f.title, f.severity, f.status, l.unlinked_at, l.unlinked_by, l.unlink_reason, recorded.actor, recorded.severity as severity_then, recorded.occurred_at
    from ${findingLinks} l join ${findingFacts} f on f.org_id = ${orgId} and f.id = l.finding_id left join recorded on recorded.finding_id = f.id::text
    where l.org_id = ${orgId} and l.work_item_id = ${itemId} and l.unlinked_at is not null and f.id not in (${linked})
      and (f.merged_into is null or f.merged_into not in (${linked}))
    order by f.id, l.unlinked_at desc`.execute(tx);
  return rows.map(({ id, title, severity, status, unlinked_at, unlinked_by, unlink_reason, actor, severity_then, occurred_at }) => ({
    id,
    title,
    severity: severity_then ?? severityName(severity),
    state: status,
    at: (occurred_at ?? unlinked_at).toISOString(),
    by: toPerson(actor ?? { type: 'system', id: null, name: unlinked_by }),
    reason: unlink_reason,
  }));
}

export type WorkItemLinks = FindingFacts['work_items'];

/** Every work item that the findings of a work item were ever in, oldest first, by finding. */
export async function readWorkItemsEver(tx: TenantTx, orgId: string, itemId: string): Promise<Map<string, WorkItemLinks>> {
  // Each half has an index of its own.
  const { rows } = await sql<{ finding_id: string; links: { id: string; linked_at: string; unlinked_at: string | null }[] }>`
    select l.finding_id, jsonb_agg(jsonb_build_object('id', l.work_item_id, 'linked_at', l.linked_at, 'unlinked_at', l.unlinked_at) order by l.linked_at, l.work_item_id) as links
    from (${linkedFindingIds(orgId, itemId)}) own cross join lateral (
      select * from ${findingLinks} now where now.org_id = ${orgId} and now.finding_id = own.finding_id and now.unlinked_at is null
      union all select * from ${findingLinks} was where was.org_id = ${orgId} and was.finding_id = own.finding_id and was.unlinked_at is not null offset 0
    ) l
    group by l.finding_id`.execute(tx);
  const time = (text: string): string => new Date(text).toISOString();
  return new Map(
    rows.map(({ finding_id, links }) => [
      finding_id,
      links.map(({ id, linked_at, unlinked_at }) => ({ id, linked_at: time(linked_at), unlinked_at: unlinked_at === null ? null : time(unlinked_at) })),
    ]),
  );
}
