import type { Finding } from '@rrs/evidence-format';
import { sql } from 'kysely';
import { auditTrail } from '../../audit/relations.ts';
import type { TenantTx } from '../../db/database.ts';
import { evidenceFindings, readScans, readStaleSources } from '../../findings/list/evidence-facts.ts';
import { findingFacts, findingHistory } from '../../findings/relations.ts';
import { readPolicy } from '../../organizations/read-policy.ts';
import { organizationNames } from '../../organizations/relations.ts';
import { participantsIn } from '../../work-items/items/participants.ts';
import { readApprovals, readItem } from '../../work-items/items/read.ts';
import { findingLinks, linkedFindingIds } from '../../work-items/relations.ts';
import { allArtifacts, recordSealedArtifacts } from '../artifacts/artifacts.ts';
import { leavesOfPackage } from '../log/transparency-log.ts';
import type { PackageRow } from '../packages/packages.ts';
import { newestPublished } from '../packages/supersede.ts';
import { buildFinding } from './build-finding.ts';
import { finalDecisions } from './final-decisions.ts';
import type { Unlinked } from './gaps.ts';
import { readWithCursor } from './read-with-cursor.ts';
import { ticketLinks } from './tickets.ts';
import { buildTrail, type EventFacts } from './trail.ts';

/** Everything that a package states, read in one transaction. There can be thousands of findings and events, so each row is reduced to what the package needs. */
export type Snapshot = Awaited<ReturnType<typeof readSnapshot>>;

export async function readSnapshot(tx: TenantTx, { org_id: orgId, id, work_item_id: itemId, sequence }: PackageRow) {
  await sql`set transaction isolation level repeatable read`.execute(tx);
  const { rows } = await sql<{ as_of: Date; name: string }>`select now() as as_of, name from ${organizationNames} o where id = ${orgId}`.execute(tx);
  const asOf = rows[0]?.as_of ?? new Date();
  const item = await readItem(tx, orgId, itemId);
  const linked = linkedFindingIds(orgId, itemId);
  const artifacts = [...(await allArtifacts(tx, orgId, itemId)), ...(await ticketLinks(tx, orgId, itemId))];
  await recordSealedArtifacts(
    tx,
    orgId,
    id,
    artifacts.filter(({ sha256, removal }) => sha256 !== null && removal === null).map((artifact) => artifact.id),
  );
  const findings: Finding[] = [];
  for await (const facts of readWithCursor(tx, evidenceFindings(orgId, linked))) findings.push(buildFinding(facts, asOf));
  const scanIds = new Set(findings.flatMap(({ before, after }) => [before.scan, after.scan]));
  const approvals = await readApprovals(tx, orgId, itemId);
  const titles = new Map([item, ...findings, ...artifacts].map(({ id, title }) => [id, title]));
  return {
    asOf,
    organization: { id: orgId, name: rows[0]?.name ?? '' },
    item,
    findings,
    artifacts,
    scans: await readScans(
      tx,
      orgId,
      [...scanIds].filter((scan) => scan !== null),
    ),
    staleSources: await readStaleSources(tx, orgId, linked),
    approvals,
    decisions: finalDecisions(approvals, await participantsIn(tx, orgId, itemId)),
    unlinked: await readUnlinked(tx, orgId, itemId),
    trail: await buildTrail(readEvents(tx, orgId, itemId), titles),
    abandoned: (await leavesOfPackage(tx, orgId, id)).filter(({ published_at }) => published_at === null),
    supersedes: await newestPublished(tx, { org_id: orgId, work_item_id: itemId }, { below: sequence }),
    fourEyes: (await readPolicy(tx, orgId)).four_eyes,
  };
}

/** Findings that were removed from the work item, not added again, and are not closed. */
async function readUnlinked(tx: TenantTx, orgId: string, itemId: string): Promise<Unlinked[]> {
  const { rows } = await sql<Unlinked>`
    select distinct on (f.id) f.id, f.title, l.unlinked_at, l.unlinked_by, l.unlink_reason
    from ${findingLinks} l join ${findingFacts} f on f.org_id = ${orgId} and f.id = l.finding_id and f.closed_at is null
    where l.org_id = ${orgId} and l.work_item_id = ${itemId} and l.unlinked_at is not null and f.id not in (${linkedFindingIds(orgId, itemId)})
    order by f.id, l.unlinked_at desc`.execute(tx);
  return rows;
}

/** Every event of the work item, its artifacts, its packages and its findings. */
function readEvents(tx: TenantTx, orgId: string, itemId: string): AsyncIterable<EventFacts> {
  return readWithCursor(
    tx,
    sql<EventFacts>`
    select id, occurred_at, actor_type, actor_id, actor_name, action, object_type, object_id, before, after, null as reason, null::uuid as import_id
    from ${auditTrail} trail where org_id = ${orgId} and object_id in (
      select ${itemId}::uuid::text
      union all select id::text from artifacts where org_id = ${orgId} and work_item_id = ${itemId}
      union all select id::text from evidence_packages where org_id = ${orgId} and work_item_id = ${itemId})
    union all
    select h.id, h.occurred_at, h.actor_type, h.actor_id, h.actor_name, 'finding.' || h.action, 'finding', h.finding_id::text, h.before, h.after, h.reason, h.import_id
    from ${findingHistory} h where h.org_id = ${orgId} and h.finding_id in (${linkedFindingIds(orgId, itemId)})
    order by occurred_at, id`,
  );
}
