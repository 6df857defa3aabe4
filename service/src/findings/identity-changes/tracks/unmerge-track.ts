import { type RawBuilder, sql } from 'kysely';
import type { TrackSeparation } from '../../../assets/assets.ts';
import type { TenantTx } from '../../../db/database.ts';
import type { Actor } from '../../../shared/actor.ts';
import { endAgain } from '../../endings/end-again.ts';
import { foldAgain } from '../../endings/fold-again.ts';
import { type FindingFollower, idsSql } from '../../follower.ts';
import { saidByFindingSql } from '../../merge/merged-values.ts';
import { countPlaces } from '../../merge/write-places.ts';
import { keepLastSeen, returnUncovered, setMissed } from '../cover-by-runs.ts';
import { copied } from '../move-sightings.ts';
import { reopenUnproven } from '../reopen-unproven.ts';
import { followDecisions } from '../split-findings.ts';
import { moveStored, stored } from '../stored-sightings.ts';
import type { MovedSightings } from './merge-track.ts';
import { separateClosures } from './move-closures.ts';
import { returnTrackCoverage } from './move-coverage.ts';

/**
 * Separates what sources say about two tracks that were merged. Scans since the merge count for the track that they named: a scan of one of them closes
 * nothing on the other. Returns the builds that only such scans of the separated track have covered.
 */
export async function unmergeTrackSightings(tx: TenantTx, actor: Actor, follower: FindingFollower, merge: TrackSeparation): Promise<number[]> {
  const { orgId } = actor;
  const { assetId, from, into } = merge;
  const moved = await withSplit(tx, orgId, merge, merge.findings as MovedSightings);
  await keepLastSeen(tx, orgId, sql`f.asset_id = ${assetId}`);
  await returnTrackCoverage(tx, orgId, merge, moved.runs);
  await separateClosures(tx, orgId, { assetId, from: into, to: from });
  await returnStored(tx, orgId, merge, moved);
  const tracks: Tracks = { orgId, from, into, plan: planSql(orgId, merge, moved), moved };
  await keepSaid(tx, tracks);
  await copySightings(tx, tracks);
  await restoreDoubled(tx, tracks);
  await removeMoved(tx, tracks);
  await returnPresent(tx, tracks, merge);
  await returnUncovered(tx, orgId, [assetId]);
  await setLastSeen(tx, tracks, merge);
  const { rows } = await sql<{ id: string }>`
    select distinct s.finding_id as id from sightings s join findings f on f.org_id = ${orgId} and f.id = s.finding_id
    where s.org_id = ${orgId} and f.asset_id = ${assetId} and s.track in (${from}, ${into})`.execute(tx);
  const ids = rows.map(({ id }) => id);
  await foldAgain(tx, actor, ids);
  await countPlaces(tx, orgId, idsSql(ids));
  const reopened = await reopenUnproven(tx, actor, ids, 'track_unmerged');
  const changed = await followDecisions(tx, actor, ids);
  await endAgain(tx, actor, follower, ids);
  await follower.follow(tx, actor, idsSql([...reopened, ...changed]));
  return buildsOf(tx, orgId, merge, moved.runs.imports);
}

interface StoredRow {
  finding_id: string;
  source_id: string;
  track: number;
  state: string;
  last_seen: string;
  seen_import_id: string | null;
}

/** Adds findings that were merged with others when the tracks were, and that have been split since. They say what they said before. */
async function withSplit(tx: TenantTx, orgId: string, { assetId, from, into, mergedAt }: TrackSeparation, moved: MovedSightings): Promise<MovedSightings> {
  const rowsOf = async (table: 'sightings' | 'occurrences'): Promise<StoredRow[]> => {
    const { rows } = await sql<{ row: StoredRow }>`
      select to_jsonb(s) as row from identity_rules r join findings f on f.org_id = ${orgId} and f.id = r.a and f.asset_id = ${assetId} and f.merged_into is null
      cross join lateral ${stored('a', table)} s
      where r.org_id = ${orgId} and r.created_at < ${mergedAt} and r.revoked_at >= ${mergedAt} and s.track in (${from}, ${into})`.execute(tx);
    return rows.map(({ row }) => row);
  };
  const sightings = await rowsOf('sightings');
  const ofBoth = Map.groupBy(sightings, ({ finding_id, source_id }) => `${finding_id} ${source_id}`);
  const isDoubled = ({ finding_id, source_id }: StoredRow): boolean => ofBoth.get(`${finding_id} ${source_id}`)?.length === 2;
  const { seen, doubled } = moved;
  return {
    ...moved,
    seen: [...seen, ...sightings.map(({ finding_id, seen_import_id, ...one }) => ({ ...one, import_id: seen_import_id, ids: [finding_id] }))],
    doubled: {
      sightings: [...doubled.sightings, ...sightings.filter(isDoubled)],
      occurrences: [...doubled.occurrences, ...(await rowsOf('occurrences')).filter(isDoubled)],
    },
  };
}

/** Findings that have been merged since the tracks were say on both tracks what they said before, unless only one of the two can have said it. */
async function returnStored(tx: TenantTx, orgId: string, merge: TrackSeparation, { seen, runs }: MovedSightings): Promise<void> {
  const { assetId, from, into, mergedAt } = merge;
  const ofAsset = sql`r.created_at >= ${mergedAt} and exists (select from findings f where f.org_id = ${orgId} and f.id = r.a and f.asset_id = ${assetId})`;
  await moveStored(tx, orgId, ofAsset, (which) => {
    const had = (track: number) => sql`exists (
      select from jsonb_to_recordset(${JSON.stringify(seen)}) as one (source_id uuid, track smallint, ids jsonb)
      where one.source_id = s.source_id and one.track = ${track} and one.ids ? r.${sql.ref(which)}::text)`;
    const said = (track: number) => sql`exists (
      select from ${stored(which, 'sightings')} own
      where own.source_id = s.source_id and own.track = s.track and own.last_import_id in (${importsOf(orgId, merge, track, runs.imports)}))`;
    const isOnly = (track: number, other: number) => sql`(${had(track)} and not ${had(other)} and not ${said(other)})`;
    return sql`
      select s.track where s.track <> ${into} or not ${isOnly(from, into)}
      union all
      select ${from}::smallint where s.track = ${into} and not ${isOnly(into, from)}`;
  });
}

interface Tracks {
  orgId: string;
  from: number;
  into: number;
  plan: RawBuilder<unknown>;
  moved: MovedSightings;
}

/** Imports since the merge that covered the track. */
const importsOf = (orgId: string, { assetId }: TrackSeparation, track: number, known: readonly string[]) => sql`
  select run.import_id from run_assets run where run.org_id = ${orgId} and run.asset_id = ${assetId} and run.track = ${track} and run.import_id <> all(${known as string[]}::uuid[])`;

/** The findings of which each source had a sighting before the merge. Findings can have been merged since. */
const seenSql = (orgId: string, seen: MovedSightings['seen']) => sql`(
  select distinct coalesce(f.merged_into, f.id) as finding_id, one.source_id, one.track, one.state, one.last_seen, one.import_id
  from jsonb_to_recordset(${JSON.stringify(seen)}) as one (source_id uuid, track smallint, state text, last_seen timestamptz, import_id uuid, ids jsonb)
  cross join lateral jsonb_array_elements_text(one.ids) as own (id) join findings f on f.org_id = ${orgId} and f.id = own.id::uuid)`;

/** The findings that runs of each track have shown since the merge. */
const shownSql = (orgId: string, { assetId, from, into }: TrackSeparation, known: readonly string[]) => sql`(
  select coalesce(f.merged_into, f.id) as finding_id, run.source_id, run.track, run.ended_at as last_seen, run.import_id
  from run_assets run cross join lateral unnest(run.shown) as own (id) join findings f on f.org_id = ${orgId} and f.id = own.id
  where run.org_id = ${orgId} and run.asset_id = ${assetId} and run.track in (${from}, ${into}) and run.import_id <> all(${known as string[]}::uuid[]))`;

/**
 * The sightings of the track that stayed, with which of the two tracks had them before the merge, which have shown them since, and whether the last import
 * meant the other track. An import that said something about a sighting before the merge, or that named both tracks, means neither.
 */
function planSql(orgId: string, merge: TrackSeparation, { seen, runs }: MovedSightings): RawBuilder<unknown> {
  const { assetId, from, into } = merge;
  const isOn = (table: 'had' | 'shown', track: number) => sql`exists (
    select from ${sql.table(table)} own where own.finding_id = s.finding_id and own.source_id = s.source_id and own.track = ${track})`;
  const isLast = (track: number) => sql`coalesce(s.last_import_id in (${importsOf(orgId, merge, track, runs.imports)}), false)`;
  return sql`
    had as materialized (select * from ${seenSql(orgId, seen)} seen),
    shown as materialized (select distinct finding_id, source_id, track from ${shownSql(orgId, merge, runs.imports)} shown),
    plan as materialized (
      select s.finding_id, s.source_id, s.state, ${isOn('had', from)} as had_from, ${isOn('had', into)} as had_into,
        ${isOn('shown', from)} as by_from, ${isOn('shown', into)} as by_into, ${isLast(from)} as last_by_from, ${isLast(into)} as last_by_into
      from sightings s join findings f on f.org_id = ${orgId} and f.id = s.finding_id
      where s.org_id = ${orgId} and s.track = ${into} and f.asset_id = ${assetId})`;
}

/** Sightings that the separated track gets as they are now: its own, and those that its scans have reported since. */
const copies = sql`(plan.by_from or (plan.had_from and (not plan.had_into or plan.last_by_from)))`;
/** Sightings that the other track does not keep. */
const leaves = sql`(not plan.had_into and not plan.by_into and (plan.had_from or plan.by_from))`;

/** What a finding with one sighting says is in its columns, until it gets a second one. */
async function keepSaid(tx: TenantTx, { orgId, plan }: Tracks): Promise<void> {
  await sql`
    with ${plan}
    update sightings s set said = ${saidByFindingSql} from findings f
    where s.org_id = ${orgId} and s.said is null and f.org_id = ${orgId} and f.id = s.finding_id
      and f.id in (select finding_id from plan where ${copies} and not ${leaves})`.execute(tx);
}

async function copySightings(tx: TenantTx, { orgId, from, into, plan }: Tracks): Promise<void> {
  for (const table of ['sightings', 'occurrences']) {
    await sql`
      with ${plan}
      insert into ${sql.table(table)}
      select copied.* from plan
      join ${sql.table(table)} own on own.org_id = ${orgId} and own.finding_id = plan.finding_id and own.source_id = plan.source_id and own.track = ${into}
      cross join jsonb_populate_record(own, jsonb_build_object('track', ${from}::smallint)) copied
      where ${copies}
      on conflict do nothing`.execute(tx);
  }
}

/** Both tracks say again what they said before the merge, unless their own scans have said something else since. */
async function restoreDoubled(tx: TenantTx, { orgId, from, into, plan, moved }: Tracks): Promise<void> {
  const stored = (table: 'sightings' | 'occurrences', track: number) => sql`(
    select copied.*
    from jsonb_populate_recordset(null::${sql.table(table)}, ${JSON.stringify(moved.doubled[table])}) own join findings f on f.org_id = ${orgId} and f.id = own.finding_id
    cross join jsonb_populate_record(own, jsonb_build_object('finding_id', coalesce(f.merged_into, f.id))) copied
    where own.track = ${track})`;
  for (const table of ['sightings', 'occurrences'] as const) {
    await sql`insert into ${sql.table(table)} select * from ${stored(table, from)} own on conflict do nothing`.execute(tx);
  }
  const isOld = sql`plan.had_from and plan.had_into and not plan.by_into and not plan.last_by_into`;
  const kept = sql`own.org_id = ${orgId} and own.finding_id = plan.finding_id and own.source_id = plan.source_id and own.track = ${into}`;
  const same = sql`was.finding_id = own.finding_id and was.source_id = own.source_id and was.place = own.place`;
  await sql`
    with ${plan}
    delete from occurrences own using plan where ${isOld} and ${kept} and not exists (select from ${stored('occurrences', into)} was where ${same})`.execute(
    tx,
  );
  await sql`
    with ${plan}
    update occurrences own set state = was.state, first_seen = was.first_seen, last_seen = was.last_seen from plan, ${stored('occurrences', into)} was
    where ${isOld} and ${kept} and ${same}`.execute(tx);
  await sql`
    with ${plan}
    update sightings own set ${copied('was')}, first_seen = was.first_seen, peak_severity = was.peak_severity, records = was.records
    from plan, ${stored('sightings', into)} was
    where ${isOld} and ${kept} and was.finding_id = own.finding_id and was.source_id = own.source_id`.execute(tx);
}

async function removeMoved(tx: TenantTx, { orgId, into, plan }: Tracks): Promise<void> {
  const { rows } = await sql<{ finding_id: string; source_id: string }>`with ${plan} select finding_id, source_id from plan where ${leaves}`.execute(tx);
  const leaving = sql`unnest(${rows.map(({ finding_id }) => finding_id)}::uuid[], ${rows.map(({ source_id }) => source_id)}::uuid[]) as leaving (finding_id, source_id)`;
  for (const table of ['occurrences', 'sightings']) {
    await sql`
      delete from ${sql.table(table)} own using ${leaving}
      where own.org_id = ${orgId} and own.finding_id = leaving.finding_id and own.source_id = leaving.source_id and own.track = ${into}`.execute(tx);
  }
}

/** A scan of one track proves nothing about the other. */
async function returnPresent(tx: TenantTx, { orgId, from, into, moved }: Tracks, merge: TrackSeparation): Promise<void> {
  const runs = (track: number) => sql`(
    select run.import_id from run_assets run where run.org_id = ${orgId} and run.asset_id = ${merge.assetId} and run.track = ${track})`;
  for (const [track, other] of [
    [from, into],
    [into, from],
  ] as const) {
    await sql`
      update sightings s set state = 'present', absence = null, absent_at = null, gaps = null
      from (
        select finding_id, source_id, track from ${seenSql(orgId, moved.seen)} had where had.state = 'present'
        union select finding_id, source_id, track from ${shownSql(orgId, merge, moved.runs.imports)} shown
      ) had
      where s.org_id = ${orgId} and s.finding_id = had.finding_id and s.source_id = had.source_id and s.track = ${track} and had.track = ${track}
        and s.state = 'absent' and s.last_import_id in ${runs(other)} and s.last_import_id not in ${runs(track)}`.execute(tx);
  }
}

/** Scans of one track say nothing about when the other one had a finding. Complete ones that did not show it, while the tracks were one, have missed it. */
async function setLastSeen(tx: TenantTx, { orgId, from, into, moved }: Tracks, merge: TrackSeparation): Promise<void> {
  await sql`
    with shown as materialized (
      select had.finding_id, had.source_id, had.track, had.last_seen, had.import_id from ${seenSql(orgId, moved.seen)} had
      union all
      select finding_id, source_id, track, last_seen, import_id from ${shownSql(orgId, merge, moved.runs.imports)} shown
    ), last as materialized (
      select distinct on (finding_id, source_id, track) * from shown order by finding_id, source_id, track, last_seen desc, import_id desc
    )
    update sightings s set last_seen = last.last_seen, seen_import_id = last.import_id from last
    where s.org_id = ${orgId} and s.finding_id = last.finding_id and s.source_id = last.source_id and s.track = last.track and s.last_seen > last.last_seen`.execute(
    tx,
  );
  await setMissed(tx, orgId, sql`c.asset_id = ${merge.assetId} and c.track in (${from}, ${into})`);
}

async function buildsOf(tx: TenantTx, orgId: string, merge: TrackSeparation, known: readonly string[]): Promise<number[]> {
  const runs = (track: number) => sql`
    select run.version_n as n from run_assets run where run.org_id = ${orgId} and run.asset_id = ${merge.assetId} and run.track = ${track} and run.version_n is not null`;
  const { rows } = await sql<{ n: number }>`
    ${runs(merge.from)} and run.import_id <> all(${known as string[]}::uuid[]) except (${runs(merge.into)})`.execute(tx);
  return rows.map(({ n }) => n);
}
