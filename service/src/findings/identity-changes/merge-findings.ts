import { type RawBuilder, sql } from 'kysely';
import type { TenantTx } from '../../db/database.ts';
import { emitSql } from '../../events/emit.ts';
import { foldAgain } from '../endings/fold-again.ts';
import { idsSql } from '../follower.ts';
import { type HistoryActor, historySql } from '../history.ts';
import { reasonSentences } from '../reason-codes.ts';
import { severityNameSql } from '../severity.ts';
import type { Status } from '../status.ts';
import { keepLastSeen } from './cover-by-runs.ts';
import { adoptDecisions, decisionsThatStay, endDecisionsOfMerged, joinDecisions } from './merge-decisions.ts';
import { keepBothPlaces, keepSaid, moveSightings, type Pair, pairsSql } from './move-sightings.ts';

export interface MergeCause {
  kind: 'by_person' | 'asset_merge' | 'alias' | 'source_package' | 'component';
  reason: string | null;
  assetMergeId?: string;
}

/** From the least closed status to the most closed one. The least closed one wins, so that a merge hides no work. */
const byOpenness: readonly Status[] = ['open', 'in_progress', 'remediated', 'risk_accepted', 'false_positive', 'withdrawn', 'verified'];
const opennessOf = (status: RawBuilder<unknown>) => sql`array_position(${byOpenness as readonly string[]}::text[], ${status})`;

/** The columns that make up a status. */
export const statusColumns = [
  'status',
  'status_reason',
  'reason_code',
  'status_changed_at',
  'status_changed_by',
  'assurance',
  'acceptance_owner',
  'acceptance_expires_at',
  'compensating_control',
  'justification',
  'closed_at',
] as const;

/**
 * Merges findings that are one. `pairs` yields `from_id` and `into_id`: each `from_id` once, neither of them merged, and no `into_id` that is also a
 * `from_id`. Both are on one asset, or on two whose tracks have the same numbers. The finding that stays gets all sightings and the least closed status of both. The other one keeps its row and refers to it. Requires the
 * import lock. The caller passes the returned pairs to `moveLinks` of the follower.
 */
export async function mergeFindings(tx: TenantTx, actor: HistoryActor, pairs: RawBuilder<unknown>, cause: MergeCause): Promise<Pair[]> {
  const { rows } = await sql<Pair>`select from_id, into_id from (${pairs}) pair order by into_id, from_id`.execute(tx);
  for (const round of roundsOf(rows)) await mergeRound(tx, actor, round, cause);
  return rows;
}

/** Splits the pairs so that each finding gets at most one other finding at a time. */
function roundsOf(pairs: readonly Pair[]): Pair[][] {
  const rounds: Pair[][] = [];
  for (const [, group] of Map.groupBy(pairs, ({ into_id }) => into_id)) {
    for (const [nth, pair] of group.entries()) rounds[nth] = [...(rounds[nth] ?? []), pair];
  }
  return rounds;
}

async function mergeRound(tx: TenantTx, actor: HistoryActor, rows: readonly Pair[], cause: MergeCause): Promise<void> {
  const { orgId } = actor;
  await sql`select from findings where org_id = ${orgId} and id in (select unnest(array[pair.from_id, pair.into_id]) from ${pairsSql(rows)}) order by id for update`.execute(
    tx,
  );
  await keepLastSeen(tx, orgId, sql`f.id in (${idsSql(rows.flatMap(({ from_id, into_id }) => [from_id, into_id]))})`);
  await keepSaid(tx, orgId, rows);
  await recordRules(tx, actor, rows, cause);
  const staying = await decisionsThatStay(tx, orgId, rows);
  await keepBothPlaces(tx, orgId, rows);
  await moveSightings(tx, orgId, rows);
  await adoptDecisions(tx, orgId, { pairs: rows, winners: winnersSql(orgId, rows), staying });
  await adoptStatus(tx, actor, rows);
  await joinDecisions(tx, orgId, rows);
  await endDecisionsOfMerged(tx, orgId, rows);
  await closeMerged(tx, actor, rows, cause);
  await foldAgain(
    tx,
    actor,
    rows.map(({ into_id }) => into_id),
  );
  await adoptTags(tx, orgId, rows);
}

/** Keeps the rule and everything that the merge changes. */
async function recordRules(tx: TenantTx, { orgId, person }: HistoryActor, pairs: readonly Pair[], { kind, reason, assetMergeId }: MergeCause): Promise<void> {
  const rowsOf = (table: 'sightings' | 'occurrences', id: RawBuilder<unknown>) =>
    sql`(select coalesce(jsonb_agg(to_jsonb(one)), '[]') from ${sql.table(table)} one where one.org_id = ${orgId} and one.finding_id = ${id})`;
  const snapshot = (finding: string, id: RawBuilder<unknown>) =>
    sql`jsonb_build_object('finding', to_jsonb(${sql.ref(finding)}) - 'search', 'sightings', ${rowsOf('sightings', id)}, 'occurrences', ${rowsOf('occurrences', id)})`;
  await sql`
    insert into identity_rules (org_id, id, kind, a, b, person, person_name, reason, asset_merge_id, undo)
    select ${orgId}, new_id(), ${kind}::text, pair.from_id, pair.into_id, ${person?.id ?? null}::text, ${person?.name ?? null}::text, ${reason}::text, ${assetMergeId ?? null}::uuid,
      jsonb_build_object('a', ${snapshot('a', sql`pair.from_id`)}, 'b', ${snapshot('b', sql`pair.into_id`)})
    from ${pairsSql(pairs)} join findings a on a.org_id = ${orgId} and a.id = pair.from_id join findings b on b.org_id = ${orgId} and b.id = pair.into_id`.execute(
    tx,
  );
}

/** The findings that are merged and whose status hides less than that of the finding that stays, `into_id`. */
function winnersSql(orgId: string, pairs: readonly Pair[]): RawBuilder<unknown> {
  return sql`(
    select distinct on (pair.into_id) pair.into_id, f.* from ${pairsSql(pairs)}
    join findings f on f.org_id = ${orgId} and f.id = pair.from_id join findings kept on kept.org_id = ${orgId} and kept.id = pair.into_id
    where ${opennessOf(sql`f.status`)} < ${opennessOf(sql`kept.status`)} order by pair.into_id, ${opennessOf(sql`f.status`)}, f.id)`;
}

/** Gives the findings that stay the status and severity that a person set of the others, if that hides less. */
async function adoptStatus(tx: TenantTx, actor: HistoryActor, pairs: readonly Pair[]): Promise<void> {
  const { orgId } = actor;
  const sentence = sql`${reasonSentences.merged}::text`;
  const entries = sql`
    select into_id as finding_id, 'status_changed' as action, jsonb_build_object('status', before, 'reason_code', before_code) as before,
      jsonb_build_object('status', status, 'reason_code', 'merged', 'status_reason', status_reason, 'compensating_control', compensating_control, 'closed_at', closed_at) as after, ${sentence} as reason from won`;
  const events = sql`select into_id::text as subject, jsonb_build_object('from', before, 'to', status, 'reason_code', 'merged') as data from won`;
  const taken = statusColumns.filter((column) => column !== 'status_changed_at' && column !== 'reason_code');
  await sql`
    with won as materialized (select won.*, kept.status as before, kept.reason_code as before_code from ${winnersSql(orgId, pairs)} won join findings kept on kept.org_id = ${orgId} and kept.id = won.into_id),
    recorded as (${historySql(actor, entries)}), emitted as (${emitSql(orgId, 'finding.status_changed', events)})
    update findings f set ${sql.join(taken.map((column) => sql`${sql.ref(column)} = ${sql.ref(`won.${column}`)}`))}, reason_code = 'merged', status_changed_at = now()
    from won where f.org_id = ${orgId} and f.id = won.into_id`.execute(tx);
  await sql`
    update findings f set severity_override = a.severity_override, severity_override_by = a.severity_override_by, severity_override_reason = a.severity_override_reason,
      severity = a.severity_override
    from ${pairsSql(pairs)} join findings a on a.org_id = ${orgId} and a.id = pair.from_id
    where f.org_id = ${orgId} and f.id = pair.into_id and f.severity_override is null and a.severity_override is not null`.execute(tx);
}

/** The other findings are no longer listed and refer to the ones that stay, also those that were merged into them before. */
async function closeMerged(tx: TenantTx, actor: HistoryActor, pairs: readonly Pair[], { kind, reason }: MergeCause): Promise<void> {
  const { orgId } = actor;
  const entries = sql`
    select from_id as finding_id, 'merged' as action, jsonb_build_object('status', status) as before,
      jsonb_build_object('status', 'withdrawn', 'reason_code', 'merged', 'merged_into', into_id) as after, ${reason}::text as reason from merged
    union all
    select into_id, 'merged', '{}'::jsonb, jsonb_build_object('merged_from', from_id, 'merged', jsonb_build_object('kind', ${kind}::text, 'state', status, 'title', title, 'severity', ${severityNameSql(sql`severity`)})),
      ${reason}::text from merged`;
  const events = sql`select from_id::text as subject, jsonb_build_object('into', into_id, 'reason', ${reason}::text) as data from merged`;
  await sql`
    with merged as materialized (select pair.from_id, pair.into_id, f.status, f.title, greatest(f.severity, f.source_severity) as severity from ${pairsSql(pairs)} join findings f on f.org_id = ${orgId} and f.id = pair.from_id),
    recorded as (${historySql(actor, entries)}), emitted as (${emitSql(orgId, 'finding.merged', events)})
    update findings f set status = 'withdrawn', reason_code = 'merged', status_reason = null, status_changed_at = now(), status_changed_by = ${actor.person?.id ?? null}::text,
      assurance = null, acceptance_owner = null, acceptance_expires_at = null, compensating_control = null, closed_at = now(), merged_into = merged.into_id, listed = false,
      version = f.version + 1, updated_at = now()
    from merged where f.org_id = ${orgId} and f.id = merged.from_id`.execute(tx);
  await sql`
    update findings f set merged_into = pair.into_id from ${pairsSql(pairs)} where f.org_id = ${orgId} and f.merged_into = pair.from_id`.execute(tx);
}

async function adoptTags(tx: TenantTx, orgId: string, pairs: readonly Pair[]): Promise<void> {
  await sql`
    update findings f set tags = distinct_sorted(f.tags || more.tags), search = f.search || array_to_tsvector(array(select distinct 't:' || lower(tag) from unnest(more.tags) tag))
    from (
      select pair.into_id, concat_arrays(a.tags) as tags from ${pairsSql(pairs)} join findings a on a.org_id = ${orgId} and a.id = pair.from_id where a.tags <> '{}' group by 1
    ) more
    where f.org_id = ${orgId} and f.id = more.into_id`.execute(tx);
}
