import { type RawBuilder, sql } from 'kysely';
import type { Static } from 'typebox';
import { assetFacts } from '../../assets/relations.ts';
import { recordAudit } from '../../audit/record.ts';
import type { TenantTx } from '../../db/database.ts';
import { fetchPage, type PageRequest, type SortColumns } from '../../db/pages.ts';
import { emit } from '../../events/emit.ts';
import type { EventType } from '../../events/types.ts';
import type { MergedPair, SeparatedPair } from '../../findings/follower.ts';
import { filterFindings, ownFindings } from '../../findings/list/filter.ts';
import { prepareFilter } from '../../findings/list/prepare-filter.ts';
import { findingFacts } from '../../findings/relations.ts';
import { severityName } from '../../findings/severity.ts';
import type { Assurance, Status } from '../../findings/status.ts';
import type { Actor } from '../../shared/actor.ts';
import { AppError, invalidField, notFound } from '../../shared/errors.ts';
import type { LinkBody, LinkedFindingQuery, LinkResult } from '../schemas.ts';
import { MAX_FINDINGS } from './limits.ts';
import { lockLinks } from './locks.ts';
import { assertFindingsChangeable, readItem } from './read.ts';
import { rollUpItems } from './roll-up.ts';

/** Most ids in an audit event. The links themselves are complete. */
const MAX_AUDITED_IDS = 100;

export async function selectFindings(tx: TenantTx, orgId: string, { finding_ids, filter }: Static<LinkBody>): Promise<string[]> {
  if (finding_ids !== undefined) return assertKnown(tx, orgId, [...new Set(finding_ids.map((id) => id.toLowerCase()))]);
  if (filter === undefined) return [];
  const found = await filterFindings(ownFindings(tx).select('findings.id'), orgId, await prepareFilter(tx, orgId, filter))
    .limit(MAX_FINDINGS + 1)
    .execute();
  if (found.length <= MAX_FINDINGS) return found.map(({ id }) => id);
  const detail = `matches more than ${MAX_FINDINGS.toLocaleString('en')} findings, the limit of one work item. Narrow the filter`;
  throw invalidField({ in: 'body', path: '/filter', code: 'too_many', detail });
}

async function assertKnown(tx: TenantTx, orgId: string, ids: string[]): Promise<string[]> {
  const { rows: found } = await sql<{ id: string }>`select f.id from ${findingFacts} f where f.org_id = ${orgId} and f.id = any(${ids}::uuid[])`.execute(tx);
  const known = new Set(found.map(({ id }) => id));
  const unknown = ids.find((id) => !known.has(id));
  if (unknown !== undefined) throw notFound('finding', unknown);
  return ids;
}

/** `filter` is the filter that selected them. It is recorded, so that evidence can show how the findings were chosen. */
export async function linkFindings(
  tx: TenantTx,
  actor: Actor,
  id: string,
  { ids, filter = null }: { ids: readonly string[]; filter?: unknown },
): Promise<Omit<Static<typeof LinkResult>, 'work_item'>> {
  const { orgId } = actor;
  await lockLinks(tx, orgId);
  const item = await readItem(tx, orgId, id);
  assertFindingsChangeable(item);
  const { rows } = await sql<{ finding_id: string }>`
    insert into work_item_findings (org_id, id, work_item_id, finding_id, linked_at, linked_by)
    select ${orgId}, new_id(), ${id}, f.id, clock_timestamp(), ${actor.name} from ${findingFacts} f where f.org_id = ${orgId} and f.id = any(${ids as string[]}::uuid[])
    order by f.id
    on conflict (org_id, work_item_id, finding_id) where unlinked_at is null do nothing
    returning finding_id`.execute(tx);
  const result = { matched: ids.length, linked: rows.length, already_linked: ids.length - rows.length };
  if (rows.length === 0) return result;
  const { findings_open, findings_in_progress, findings_remediated, findings_verified, findings_excepted, findings_aside } = item;
  const before = findings_open + findings_in_progress + findings_remediated + findings_verified + findings_excepted + findings_aside;
  if (before + rows.length > MAX_FINDINGS) {
    const limit = MAX_FINDINGS.toLocaleString('en');
    throw new AppError(
      'conflict',
      `The work item has ${before} findings. Adding ${rows.length} more would exceed the limit of ${limit}. Use several work items.`,
    );
  }
  const auditedIds = rows.slice(0, MAX_AUDITED_IDS).map(({ finding_id }) => finding_id);
  await recordChange(tx, actor, id, { action: 'work_item.findings_linked', after: { linked: rows.length, finding_ids: auditedIds, filter } });
  return result;
}

/** Ends the link and keeps its row, which shows from when to when the finding was on the work item. */
export async function unlinkFinding(
  tx: TenantTx,
  actor: Actor,
  id: string,
  { findingId, reason }: { findingId: string; reason: string | null },
): Promise<void> {
  const { orgId } = actor;
  await lockLinks(tx, orgId);
  assertFindingsChangeable(await readItem(tx, orgId, id));
  const { rows } = await sql<{ severity: number }>`
    update work_item_findings l set unlinked_at = greatest(clock_timestamp(), l.linked_at), unlinked_by = ${actor.name}, unlink_reason = ${reason}
    from ${findingFacts} f
    where l.org_id = ${orgId} and l.work_item_id = ${id} and l.finding_id = ${findingId} and l.unlinked_at is null and f.org_id = ${orgId} and f.id = l.finding_id
    returning f.severity`.execute(tx);
  const [finding] = rows;
  if (finding === undefined)
    throw new AppError('not_found', `The finding "${findingId}" is not on the work item "${id}". List the findings of the work item to check.`);
  await recordChange(tx, actor, id, {
    action: 'work_item.finding_unlinked',
    after: { finding_id: findingId, severity: severityName(finding.severity), reason },
  });
}

async function recordChange(tx: TenantTx, actor: Actor, id: string, { action, after }: { action: EventType; after: Record<string, unknown> }): Promise<void> {
  await sql`update work_items set version = version + 1, updated_at = now() where org_id = ${actor.orgId} and id = ${id}`.execute(tx);
  await recordAudit(tx, actor, { action, objectType: 'work_item', objectId: id, after });
  await emit(tx, actor.orgId, { type: action, subject: id, data: after });
  await rollUpItems(tx, actor, [id]);
}

export interface LinkedRow {
  id: string;
  finding_id: string;
  title: string;
  status: Status;
  assurance: Assurance | null;
  severity: number;
  risk_score: number;
  asset_id: string;
  asset_name: string;
  linked_at: Date;
  linked_by: string;
  unlinked_at: Date | null;
  unlinked_by: string | null;
  unlink_reason: string | null;
}

export async function listLinked(
  tx: TenantTx,
  orgId: string,
  { id, state }: { id: string; state: Static<typeof LinkedFindingQuery>['state'] },
  page: PageRequest,
) {
  await readItem(tx, orgId, id);
  const which = { linked: sql`and l.unlinked_at is null`, unlinked: sql`and l.unlinked_at is not null`, all: sql`` }[state];
  const links = sql<LinkedRow>`(
    select l.id, l.finding_id, f.title, f.status, f.assurance, f.severity, f.risk_score, f.asset_id, a.name as asset_name,
      l.linked_at, l.linked_by, l.unlinked_at, l.unlinked_by, l.unlink_reason
    from work_item_findings l
    join ${findingFacts} f on f.org_id = ${orgId} and f.id = l.finding_id
    join ${assetFacts} a on a.org_id = ${orgId} and a.id = f.asset_id
    where l.org_id = ${orgId} and l.work_item_id = ${id} ${which})`.as('links');
  const query = tx.selectFrom(links).selectAll();
  const columns: SortColumns<LinkedRow> = { linked_at: { column: 'linked_at', type: 'timestamptz' } };
  return fetchPage(tx, query, columns, page);
}

const pairsSql = (pairs: readonly MergedPair[]) =>
  sql`unnest(${pairs.map(({ from_id }) => from_id)}::uuid[], ${pairs.map(({ into_id }) => into_id)}::uuid[]) as pair (from_id, into_id)`;
const mergeReason = sql`'merged into ' || pair.into_id`;

/** Replaces merged findings on open work items with the ones that stay. Closed work items do not change. */
export async function moveLinks(tx: TenantTx, actor: Actor, pairs: readonly MergedPair[]): Promise<void> {
  if (pairs.length === 0) return;
  const { orgId } = actor;
  await lockLinks(tx, orgId);
  await replaceLinks(
    tx,
    actor,
    'findings were merged',
    sql`
      update work_item_findings l set unlinked_at = greatest(clock_timestamp(), l.linked_at), unlinked_by = ${actor.name}, unlink_reason = ${mergeReason}
      from ${pairsSql(pairs)}, work_items w
      where l.org_id = ${orgId} and l.finding_id = pair.from_id and l.unlinked_at is null and w.org_id = ${orgId} and w.id = l.work_item_id and w.closed_at is null
      returning l.work_item_id, pair.into_id as finding_id`,
  );
}

/**
 * Puts findings back on the open work items that they were on until they were merged. Threat: a work item is given two findings as one, and the one that is
 * still open is separated from it. It stays on the work item, too.
 */
export async function restoreLinks(tx: TenantTx, actor: Actor, pairs: readonly SeparatedPair[]): Promise<void> {
  const { orgId } = actor;
  await lockLinks(tx, orgId);
  await replaceLinks(
    tx,
    actor,
    'findings were separated',
    sql`
      select l.work_item_id, l.finding_id from ${pairsSql(pairs)}
      join work_item_findings l on l.org_id = ${orgId} and l.finding_id = pair.from_id and l.unlinked_at is not null
        and l.unlink_reason = ${mergeReason}
      join work_items w on w.org_id = ${orgId} and w.id = l.work_item_id and w.closed_at is null
      union
      select l.work_item_id, pair.from_id from unnest(${pairs.map(({ from_id }) => from_id)}::uuid[], ${pairs.map(({ into_id }) => into_id)}::uuid[],
        ${pairs.map(({ merged_at }) => merged_at)}::timestamptz[]) as pair (from_id, into_id, merged_at)
      join work_item_findings l on l.org_id = ${orgId} and l.finding_id = pair.into_id and l.unlinked_at is null and (pair.merged_at is null or l.linked_at > pair.merged_at)
      join work_items w on w.org_id = ${orgId} and w.id = l.work_item_id and w.closed_at is null`,
  );
}

async function replaceLinks(tx: TenantTx, actor: Actor, why: string, links: RawBuilder<unknown>): Promise<void> {
  const { orgId } = actor;
  const { rows } = await sql<{ id: string; linked: number }>`
    with wanted as (${links}), linked as (
      insert into work_item_findings (org_id, id, work_item_id, finding_id, linked_at, linked_by)
      select ${orgId}, new_id(), wanted.work_item_id, wanted.finding_id, clock_timestamp(), ${actor.name} from (select distinct work_item_id, finding_id from wanted) wanted
      on conflict (org_id, work_item_id, finding_id) where unlinked_at is null do nothing
      returning work_item_id
    )
    select wanted.work_item_id as id, (select count(*)::int from linked where linked.work_item_id = wanted.work_item_id) as linked from wanted group by 1`.execute(
    tx,
  );
  for (const { id, linked } of rows) {
    const after = { linked, reason: why };
    await recordAudit(tx, actor, { action: 'work_item.findings_linked', objectType: 'work_item', objectId: id, after });
    await emit(tx, orgId, { type: 'work_item.findings_linked', subject: id, data: after });
  }
  await rollUpItems(
    tx,
    actor,
    rows.map(({ id }) => id),
  );
}
