import { type RawBuilder, sql } from 'kysely';
import type { TenantTx } from '../../db/database.ts';
import { emitSql } from '../../events/emit.ts';
import { readPolicy } from '../../organizations/read-policy.ts';
import { followPlaces } from '../decisions/follow-places.ts';
import { reopenRiskIncreased } from '../decisions/risk-increased.ts';
import { foldAgain } from '../endings/fold-again.ts';
import { idsSql, type SeparatedPair } from '../follower.ts';
import { type HistoryActor, historySql } from '../history.ts';
import { closeUnseen } from '../merge/change-status.ts';
import { activeStatuses, closedStatuses } from '../status.ts';
import { keepLastSeen } from './cover-by-runs.ts';
import { statusColumns } from './merge-findings.ts';
import { moveBack, type Renaming, renameFindings } from './move-back.ts';
import { copied, keepSaid, type Pair } from './move-sightings.ts';
import { reopenUnproven } from './reopen-unproven.ts';
import { rulesSql, stored, type Which } from './stored-sightings.ts';

interface Rule {
  id: string;
  a: string;
  b: string;
  created_at: Date;
}

/**
 * Separates findings that were merged. `rules` selects the ids of their rules. Both get back what they had. What scans and people did to the finding that
 * stayed is kept. `settle` can correct what sources say before the status follows from it; the caller then merges what they say. Without it, what scans no
 * longer showed of the finding that stayed is gone from both. Requires the import lock. The caller passes the returned pairs to `restoreLinks` of the follower.
 */
export async function splitFindings(
  tx: TenantTx,
  actor: HistoryActor,
  rules: RawBuilder<unknown>,
  { reason, settle }: { reason: string | null; settle?: (pairs: readonly Pair[]) => Promise<void> },
): Promise<SeparatedPair[]> {
  const { orgId } = actor;
  const { rows } = await sql<Rule>`
    select r.id, r.a, r.b, r.created_at from identity_rules r where r.org_id = ${orgId} and r.revoked_at is null and r.id in (${rules}) order by r.created_at desc, r.id desc`.execute(
    tx,
  );
  if (rows.length === 0) {
    await settle?.([]);
    return [];
  }
  const ids = rows.map(({ id }) => id);
  await sql`select from findings where org_id = ${orgId} and id = any(${rows.flatMap(({ a, b }) => [a, b])}::uuid[]) order by id for update`.execute(tx);
  if (!settle) await keepLastSeen(tx, orgId, sql`f.id = any(${rows.flatMap(({ a, b }) => [a, b])}::uuid[])`);
  const pairs = rows.map(({ a, b, created_at }) => ({ from_id: a, into_id: b, merged_at: created_at }));
  if (!settle) await keepSaid(tx, orgId, pairs);
  for (const round of roundsOf(rows)) await moveBack(tx, orgId, { ids: round, all: ids, attributes: settle === undefined });
  if (settle) await settle(pairs);
  else {
    await shareAbsences(tx, orgId, ids);
    await shareShown(tx, orgId, ids);
    await returnPlaces(tx, orgId, ids);
  }
  await restoreStatus(tx, actor, ids, reason);
  await returnNames(tx, orgId, ids);
  await returnOwn(tx, orgId, ids);
  await sql`
    update identity_rules set revoked_at = now(), revoked_by = ${actor.person?.name ?? actor.name} where org_id = ${orgId} and id = any(${ids}::uuid[])`.execute(
    tx,
  );
  if (settle) return pairs;
  const apart = rows.flatMap(({ a, b }) => [a, b]);
  await setTimes(tx, orgId, apart);
  await foldAgain(tx, actor, apart);
  await closeUnseen(tx, { orgId, importId: null, actor }, idsSql(apart));
  await reopenUnproven(tx, actor, apart, 'split');
  await followDecisions(tx, actor, apart);
  return pairs;
}

/** A decision may not hold for what findings say once they are separate, or reports have shown of them meanwhile. Returns the findings whose status changed. */
export async function followDecisions(tx: TenantTx, actor: HistoryActor, ids: readonly string[]): Promise<string[]> {
  const { sla } = await readPolicy(tx, actor.orgId);
  const risen = await reopenRiskIncreased(tx, actor, { ids: idsSql(ids), sla });
  return [...risen, ...(await followPlaces(tx, actor, { ids: idsSql(ids), importId: null }))];
}

/** Rules that share a finding are undone one after another, the latest one first. */
function roundsOf(rules: readonly Rule[]): string[][] {
  const rounds = new Map<string, number>();
  const roundOf = ({ a, b }: Rule): number => {
    const round = Math.max(...[a, b].map((id) => (rounds.get(id) ?? -1) + 1));
    for (const id of [a, b]) rounds.set(id, round);
    return round;
  };
  return [...Map.groupBy(rules, roundOf)].toSorted(([one], [other]) => one - other).map(([, round]) => round.map(({ id }) => id));
}

/** Findings say again what they said before the merge if only reports about the other one have shown them since. `unseen` has their sightings of which that is so. */
export async function returnStatements(tx: TenantTx, orgId: string, ids: RawBuilder<unknown>, unseen: readonly Unseen[]): Promise<void> {
  await sql`
    with ${rulesSql(orgId, ids)}
    update sightings s set ${copied('was')}, peak_severity = was.peak_severity, records = was.records
    from jsonb_to_recordset(${JSON.stringify(unseen)}) as unseen (finding_id uuid, source_id uuid, track smallint)
    join r on unseen.finding_id in (r.a, r.b)
    cross join lateral jsonb_populate_recordset(null::sightings, r.undo->case unseen.finding_id when r.a then 'a' else 'b' end->'sightings') was
    where s.org_id = ${orgId} and s.finding_id = unseen.finding_id and s.source_id = unseen.source_id and s.track = unseen.track
      and was.source_id = unseen.source_id and was.track = unseen.track`.execute(tx);
}

/** A sighting that no report about the asset of its finding has shown since the merge. */
export interface Unseen {
  finding_id: string;
  source_id: string;
  track: number;
}

/** A scan that showed neither of two findings while they were one has shown both to be gone. One before the merge has shown that only of its own finding. */
async function shareAbsences(tx: TenantTx, orgId: string, ids: readonly string[]): Promise<void> {
  await sql`
    with ${rulesSql(orgId, idsSql(ids))}
    update sightings s set state = 'absent', absence = joint.absence, absent_at = joint.absent_at, gaps = joint.gaps, last_import_id = joint.last_import_id
    from r join sightings joint on joint.org_id = ${orgId} and joint.finding_id = r.b and joint.state = 'absent'
    where s.org_id = ${orgId} and s.finding_id = r.a and s.source_id = joint.source_id and s.track = joint.track and s.state = 'present' and s.last_seen < joint.absent_at
      and not exists (
        select from ${stored('b', 'sightings')} own
        where own.source_id = joint.source_id and own.track = joint.track and own.state = 'absent' and own.last_import_id is not distinct from joint.last_import_id)`.execute(
    tx,
  );
}

/** Runs since the merge that have shown the one that stayed can have shown either. What they showed counts once tracks or assets are separate again. */
async function shareShown(tx: TenantTx, orgId: string, ids: readonly string[]): Promise<void> {
  await sql`
    with ${rulesSql(orgId, idsSql(ids))}
    update run_assets run set shown = run.shown || since.shown
    from (
      select own.source_id, own.asset_id, own.track, own.import_id, array_agg(distinct r.a) as shown
      from r join findings f on f.org_id = ${orgId} and f.id = r.b
      join run_assets own on own.org_id = ${orgId} and own.asset_id = f.asset_id and r.b = any(own.shown) and r.a <> all(own.shown)
      join imports i on i.org_id = ${orgId} and i.id = own.import_id and i.created_at > r.created_at
      group by 1, 2, 3, 4
    ) since
    where run.org_id = ${orgId} and run.source_id = since.source_id and run.asset_id = since.asset_id and run.track = since.track and run.import_id = since.import_id`.execute(
    tx,
  );
}

/** A sighting with one place has no occurrence. If a report has shown the places of both since, the one that stayed has an occurrence of the other one's. */
async function returnPlaces(tx: TenantTx, orgId: string, ids: readonly string[]): Promise<void> {
  const places = (which: Which) => sql`(
    select source_id, track, label from ${stored(which, 'occurrences')} union all select source_id, track, place from ${stored(which, 'sightings')})`;
  await sql`
    with ${rulesSql(orgId, idsSql(ids))}
    delete from occurrences o using r cross join lateral ${places('a')} own
    where o.org_id = ${orgId} and o.finding_id = r.b and (o.source_id, o.track, o.label) = (own.source_id, own.track, own.label)
      and not exists (select from ${places('b')} theirs where (theirs.source_id, theirs.track, theirs.label) = (own.source_id, own.track, own.label))`.execute(
    tx,
  );
}

/** The status before the merge, unless the finding was closed meanwhile because nobody sees it any more. */
async function restoreStatus(tx: TenantTx, actor: HistoryActor, ids: readonly string[], reason: string | null): Promise<void> {
  const { orgId } = actor;
  const rules = rulesSql(orgId, idsSql(ids));
  const active = sql`any(${activeStatuses as readonly string[]}::text[])`;
  const restoredSql = sql`jsonb_build_object('status', status, 'reason_code', 'split', 'status_reason', status_reason, 'compensating_control', compensating_control, 'status_changed_at', status_changed_at, 'closed_at', closed_at)`;
  const entries = sql`
    select a as finding_id, 'split' as action, jsonb_build_object('merged_into', b) as before, ${restoredSql} as after, ${reason}::text as reason from apart
    union all
    select b, 'split', '{}'::jsonb, jsonb_build_object('split', a), ${reason}::text from apart`;
  const events = sql`select a::text as subject, jsonb_build_object('from', b, 'status', status, 'reason', ${reason}::text) as data from apart`;
  const set = (from: string, columns: readonly string[]) => sql.join(columns.map((column) => sql`${sql.ref(column)} = ${sql.ref(`${from}.${column}`)}`));
  await sql`
    with ${rules}, apart as materialized (
      select r.a, r.b, ${sql.join(statusColumns.map((column) => sql`(${sql.ref('was')}).${sql.ref(column)}`))}, (own).listed
      from r
      join findings kept on kept.org_id = ${orgId} and kept.id = r.b
      cross join lateral jsonb_populate_record(null::findings, r.undo->'a'->'finding') own
      cross join lateral (
        select bool_or(s.state = 'present') as present, count(*) > 0 as some from sightings s where s.org_id = ${orgId} and s.finding_id = r.a
      ) seen
      cross join lateral (select case when seen.some and not seen.present and own.status = ${active} and kept.status in ('verified', 'withdrawn') then kept else own end as was) chosen
    ), recorded as (${historySql(actor, entries)}), emitted as (${emitSql(orgId, 'finding.split', events)})
    update findings f set ${set('apart', statusColumns)}, merged_into = null, listed = apart.listed, version = f.version + 1, updated_at = now()
    from apart where f.org_id = ${orgId} and f.id = apart.a`.execute(tx);
  const restored = sql`${rules}, restored as materialized (
    select r.*, f.reason_code = 'merged' and f.status_changed_at in (r.created_at, (r.undo->'b'->'finding'->>'status_changed_at')::timestamptz) as unchanged, f.status as was from r join findings f on f.org_id = ${orgId} and f.id = r.b)`;
  await sql`
    with ${restored}
    update decisions d set state = 'ended', ended_at = now(), ended_reason = 'split' from restored r
    where d.org_id = ${orgId} and d.finding_id = r.b and d.state = 'active' and (d.decided_at = r.created_at
      or ((r.unchanged or r.was not in ('risk_accepted', 'false_positive')) and d.copy_of in (select id from decisions own where own.org_id = ${orgId} and own.finding_id = r.a)))`.execute(
    tx,
  );
  await sql`
    with ${restored}
    update decisions d set state = case d.state when 'ended' then 'active' else 'requested' end, ended_at = null, ended_reason = null from restored r
    where d.org_id = ${orgId} and d.finding_id in (r.a, r.b) and (d.finding_id = r.a or r.unchanged
      or exists (select from decisions joint where joint.org_id = ${orgId} and joint.finding_id = r.b and joint.decided_at = r.created_at and joint.ended_at = now()::timestamptz(3)))
      and d.ended_reason = 'merged' and d.ended_at = r.created_at`.execute(tx);
  await returnDecisions(tx, orgId, restored);
  const returned = sql`select b as finding_id, 'status_changed' as action, jsonb_build_object('status', was) as before, ${restoredSql} as after, ${reason}::text as reason from back where was <> status`;
  await sql`
    with ${restored}, back as materialized (
      select distinct on (r.b) r.b, r.was, ${sql.join(statusColumns.map((column) => sql`own.${sql.ref(column)}`))}
      from restored r cross join lateral jsonb_populate_record(null::findings, r.undo->'b'->'finding') own
      where r.unchanged
    ), recorded as (${historySql(actor, returned)})
    update findings f set ${set('back', statusColumns)}, version = f.version + 1, updated_at = now()
    from back where f.org_id = ${orgId} and f.id = back.b`.execute(tx);
}

/**
 * What a person had decided about the finding that stayed holds again if only scans have changed it since. An acceptance of a finding that is gone holds again
 * if it comes back.
 */
async function returnDecisions(tx: TenantTx, orgId: string, restored: RawBuilder<unknown>): Promise<void> {
  const isOver = sql`d.kind = 'acceptance' and r.was = any(${closedStatuses as readonly string[]}::text[])`;
  await sql`
    with ${restored}
    update decisions d set state = case when ${isOver} then 'ended' else 'active' end, ended_at = case when ${isOver} then d.ended_at end, ended_reason = case when ${isOver} then 'scan_absent' end
    from restored r join findings f on f.org_id = ${orgId} and f.id = r.b
    where d.org_id = ${orgId} and d.finding_id = r.b and d.state = 'ended' and d.ended_reason = 'merged' and d.ended_at = r.created_at and f.status_changed_by is null
      and not exists (select from decisions own where own.org_id = ${orgId} and own.finding_id = r.b and own.state = 'active')`.execute(tx);
}

/** Findings that exchanged their components when one got that of the source package have their own again. */
async function returnNames(tx: TenantTx, orgId: string, ids: readonly string[]): Promise<void> {
  const before = (which: Which) => sql`jsonb_populate_record(null::findings, r.undo->${sql.lit(which)}->'finding')`;
  const { rows } = await sql<Renaming>`
    select named.id, named.key, encode(named.identity, 'hex') as identity
    from identity_rules r cross join lateral ${before('a')} own cross join lateral ${before('b')} theirs
    join findings a on a.org_id = ${orgId} and a.id = r.a and a.identity_key = theirs.identity_key
    join findings b on b.org_id = ${orgId} and b.id = r.b and b.identity_key = own.identity_key
    cross join lateral (values (a.id, own.component_key, own.identity_key), (b.id, theirs.component_key, theirs.identity_key)) as named (id, key, identity)
    where r.org_id = ${orgId} and r.id = any(${ids as string[]}::uuid[]) and r.kind = 'source_package'`.execute(tx);
  await renameFindings(tx, orgId, rows);
}

/** Takes the severity and tags from the finding that stayed that people had given only to the other one. */
async function returnOwn(tx: TenantTx, orgId: string, ids: readonly string[]): Promise<void> {
  const given = sql`${rulesSql(orgId, idsSql(ids))}, given as materialized (select r.b, r.undo->'a'->'finding' as own, r.undo->'b'->'finding' as kept from r)`;
  await sql`
    with ${given}
    update findings f set severity_override = null, severity_override_by = null, severity_override_reason = null, severity = f.source_severity
    from given
    where f.org_id = ${orgId} and f.id = given.b and given.kept->>'severity_override' is null
      and f.severity_override = (given.own->>'severity_override')::smallint and f.severity_override_by is not distinct from given.own->>'severity_override_by'`.execute(
    tx,
  );
  await sql`
    with ${given}, foreign_tags as materialized (
      select given.b, array(select jsonb_array_elements_text(given.own->'tags') except select jsonb_array_elements_text(given.kept->'tags')) as tags from given
    )
    update findings f set tags = array(select tag from unnest(f.tags) as tag where tag <> all(foreign_tags.tags) order by tag),
      search = ts_delete(f.search, array(select 't:' || lower(tag) from unnest(foreign_tags.tags) as tag))
    from foreign_tags where f.org_id = ${orgId} and f.id = foreign_tags.b and foreign_tags.tags <> '{}'`.execute(tx);
}

/** When a finding was seen follows from its sightings. */
export async function setTimes(tx: TenantTx, orgId: string, ids: readonly string[]): Promise<void> {
  await sql`
    update findings f set first_seen = seen.first_seen, last_seen = seen.last_seen
    from (select s.finding_id, min(s.first_seen) as first_seen, max(s.last_seen) as last_seen from sightings s where s.org_id = ${orgId} and s.finding_id in (${idsSql(ids)}) group by 1) seen
    where f.org_id = ${orgId} and f.id = seen.finding_id and (f.first_seen, f.last_seen) <> (seen.first_seen, seen.last_seen)`.execute(tx);
}
