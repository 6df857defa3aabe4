import type { Finding } from '@rrs/evidence-format';
import { type RawBuilder, sql } from 'kysely';
import type { TenantTx } from '../../db/database.ts';
import { readPolicy } from '../../organizations/read-policy.ts';
import { participantsIn } from '../../work-items/items/participants.ts';
import { type ApprovalRow, readItem } from '../../work-items/items/read.ts';
import { allArtifacts, recordSealedArtifacts } from '../artifacts/artifacts.ts';
import { leavesOf } from '../log/transparency-log.ts';
import type { PackageRow } from '../packages/packages.ts';
import { describeFinding, type FindingFacts } from './describe-findings.ts';
import { lastWordsOf } from './final-decisions.ts';
import type { Unlinked } from './gaps.ts';
import { rowsOf } from './rows.ts';
import { ticketLinks } from './tickets.ts';
import { type EventFacts, trailOf } from './trail.ts';

/** Everything that a package says, read at one instant. Of what there may be thousands of, findings and events, only what it says of them is kept. */
export type Snapshot = Awaited<ReturnType<typeof readSnapshot>>;

export async function readSnapshot(tx: TenantTx, { org_id: orgId, id, work_item_id: itemId, sequence }: PackageRow) {
  await sql`set transaction isolation level repeatable read`.execute(tx);
  const { rows } = await sql<{ as_of: Date; name: string }>`select now() as as_of, name from organizations where id = ${orgId}`.execute(tx);
  const asOf = rows[0]?.as_of ?? new Date();
  const item = await readItem(tx, orgId, itemId);
  const artifacts = [...(await allArtifacts(tx, orgId, itemId)), ...(await ticketLinks(tx, orgId, itemId))];
  await recordSealedArtifacts(
    tx,
    orgId,
    id,
    artifacts.filter(({ sha256, removal }) => sha256 !== null && removal === null).map((artifact) => artifact.id),
  );
  const findings: Finding[] = [];
  for await (const facts of readFindings(tx, orgId, itemId)) findings.push(describeFinding(facts, asOf));
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
    staleSources: await staleSources(tx, orgId, itemId),
    approvals,
    lastWords: lastWordsOf(approvals, await participantsIn(tx, orgId, itemId)),
    unlinked: await readUnlinked(tx, orgId, itemId),
    trail: await trailOf(readEvents(tx, orgId, itemId), titles),
    abandoned: (await leavesOf(tx, orgId, id)).filter(({ published_at }) => published_at === null),
    supersedes: await latestSealed(tx, orgId, itemId, sequence),
    fourEyes: (await readPolicy(tx, orgId)).four_eyes,
  };
}

const linked = (orgId: string, itemId: string): RawBuilder<unknown> =>
  sql`work_item_findings l where l.org_id = ${orgId} and l.work_item_id = ${itemId} and l.unlinked_at is null`;

function readFindings(tx: TenantTx, orgId: string, itemId: string): AsyncIterable<FindingFacts> {
  return rowsOf(
    tx,
    sql<FindingFacts>`
    select f.id, f.title, f.weakness, f.vulnerability_ids, f.cwes, f.severity, f.cvss_version, f.cvss_vector, f.cvss_score, f.epss, f.epss_date, f.kev, f.risk_score,
      jsonb_build_object('id', a.id, 'type', a.type, 'name', a.name) as asset, f.location, f.component, f.first_seen, f.last_seen, f.due_at, f.closed_at,
      f.status, f.status_reason, f.status_changed_at, coalesce(person.name, f.status_changed_by) as status_changed_by, f.assurance, f.justification,
      f.acceptance_owner, f.acceptance_expires_at, f.reopen_count,
      (select coalesce(jsonb_agg(jsonb_build_object('source', o.provider || case when o.tool = '' then '' else ' (' || o.tool || ')' end, 'kind', o.kind, 'state', s.state,
          'last_seen', s.last_seen, 'seen_import', s.seen_import_id, 'last_import', s.last_import_id) order by s.last_seen, s.source_id), '[]')
        from sightings s join sources o on o.org_id = ${orgId} and o.id = s.source_id where s.org_id = ${orgId} and s.finding_id = f.id) as sightings
    from findings f join assets a on a.org_id = ${orgId} and a.id = f.asset_id
    left join lateral (
      select h.actor_name as name from finding_history h where h.org_id = ${orgId} and h.finding_id = f.id and h.actor_id = f.status_changed_by order by h.id desc limit 1
    ) person on f.status_changed_by is not null
    where f.org_id = ${orgId} and f.id in (select l.finding_id from ${linked(orgId, itemId)})
    order by f.id`,
  );
}

async function readScans(tx: TenantTx, orgId: string, ids: string[]) {
  if (ids.length === 0) return [];
  return tx
    .selectFrom('imports')
    .innerJoin('sources', (join) => join.onRef('sources.org_id', '=', 'imports.org_id').onRef('sources.id', '=', 'imports.source_id'))
    .select([
      'imports.id',
      'imports.format',
      'imports.filename',
      'imports.sha256',
      'imports.bytes',
      'imports.scan_scope',
      'imports.received',
      'imports.rejected',
      'imports.actor',
      'imports.created_at',
      'imports.finished_at',
      'sources.tool',
    ])
    .where('imports.org_id', '=', orgId)
    .where(sql<boolean>`imports.id = any(${ids}::uuid[])`)
    .orderBy('imports.id')
    .execute();
}

const STALE = sql`interval '30 days'`;

/** Sources of its findings that looked at none of their assets for a while. */
async function staleSources(tx: TenantTx, orgId: string, itemId: string): Promise<{ source: string; last: Date }[]> {
  const { rows } = await sql<{ source: string; last: Date }>`
    select o.provider as source, max(c.seen_at) as last
    from source_coverage c join sources o on o.org_id = ${orgId} and o.id = c.source_id
    where c.org_id = ${orgId} and (c.source_id, c.asset_id) in (
      select s.source_id, f.asset_id from sightings s join findings f on f.org_id = ${orgId} and f.id = s.finding_id
      where s.org_id = ${orgId} and s.finding_id in (select l.finding_id from ${linked(orgId, itemId)}))
    group by o.id, o.provider having max(c.seen_at) < now() - ${STALE} order by o.provider, o.id`.execute(tx);
  return rows;
}

async function readApprovals(tx: TenantTx, orgId: string, itemId: string): Promise<ApprovalRow[]> {
  return tx.selectFrom('work_item_approvals').selectAll().where('org_id', '=', orgId).where('work_item_id', '=', itemId).orderBy('id').execute();
}

/** What was taken off the item, is not on it again, and is not closed. */
async function readUnlinked(tx: TenantTx, orgId: string, itemId: string): Promise<Unlinked[]> {
  const { rows } = await sql<Unlinked>`
    select distinct on (f.id) f.id, f.title, l.unlinked_at, l.unlinked_by, l.unlink_reason
    from work_item_findings l join findings f on f.org_id = ${orgId} and f.id = l.finding_id and f.closed_at is null
    where l.org_id = ${orgId} and l.work_item_id = ${itemId} and l.unlinked_at is not null and f.id not in (select l.finding_id from ${linked(orgId, itemId)})
    order by f.id, l.unlinked_at desc`.execute(tx);
  return rows;
}

async function latestSealed(tx: TenantTx, orgId: string, itemId: string, below: number) {
  const row = await tx
    .selectFrom('evidence_packages')
    .select(['id', 'sequence'])
    .where('org_id', '=', orgId)
    .where('work_item_id', '=', itemId)
    .where('archive_sha256', 'is not', null)
    .where('sequence', '<', below)
    .orderBy('sequence', 'desc')
    .limit(1)
    .executeTakeFirst();
  return row ?? null;
}

/** Every event of the item, of its artifacts and packages, and of its findings. */
function readEvents(tx: TenantTx, orgId: string, itemId: string): AsyncIterable<EventFacts> {
  return rowsOf(
    tx,
    sql<EventFacts>`
    select id, occurred_at, actor_type, actor_id, actor_name, action, object_type, object_id, before, after, null as reason, null::uuid as import_id
    from audit_events where org_id = ${orgId} and object_id in (
      select ${itemId}::uuid::text
      union all select id::text from artifacts where org_id = ${orgId} and work_item_id = ${itemId}
      union all select id::text from evidence_packages where org_id = ${orgId} and work_item_id = ${itemId})
    union all
    select h.id, h.occurred_at, h.actor_type, h.actor_id, h.actor_name, 'finding.' || h.action, 'finding', h.finding_id::text, h.before, h.after, h.reason, h.import_id
    from finding_history h where h.org_id = ${orgId} and h.finding_id in (select l.finding_id from ${linked(orgId, itemId)})
    order by occurred_at, id`,
  );
}
