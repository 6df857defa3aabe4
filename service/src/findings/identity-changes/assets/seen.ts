import { sql } from 'kysely';
import type { TenantTx } from '../../../db/database.ts';
import { saidByFindingSql } from '../../merge/merged-values.ts';
import { copied } from '../move-sightings.ts';
import { type Side, type Sides, sidesSql } from './sides.ts';

type One = Extract<Side, 'from' | 'into'>;

/** What sources said about the findings of two assets before they were merged: the sightings of each asset that have the same values. */
export interface SeenBefore {
  side: One;
  source_id: string;
  track: number;
  first_seen: string;
  last_seen: string;
  import_id: string | null;
  gone: Gone | null;
  ids: string[];
}

/** The values of an absent sighting. */
interface Gone {
  absence: string;
  absent_at: string;
  gaps: string[] | null;
  import_id: string | null;
}

/** When reports about one of two merged assets have shown a finding. */
export interface Seen extends Omit<SeenBefore, 'ids'> {
  /** The finding, or the one that stands for it. */
  finding_id: string;
  /** Whether a report since the merge has shown it. */
  since: boolean;
}

/** Call it when the sightings of both assets have the same numbers for their tracks. */
export async function readSeenBefore(tx: TenantTx, orgId: string, { from, into }: Record<One, string>): Promise<SeenBefore[]> {
  const { rows } = await sql<SeenBefore>`
    select case f.asset_id when ${from} then 'from' else 'into' end as side, s.source_id, s.track, s.first_seen::text, s.last_seen::text, s.seen_import_id as import_id,
      case when s.state = 'absent' then jsonb_build_object('absence', s.absence, 'absent_at', s.absent_at, 'gaps', s.gaps, 'import_id', s.last_import_id) end as gone,
      array_agg(s.finding_id) as ids
    from findings f join sightings s on s.org_id = ${orgId} and s.finding_id = f.id
    where f.org_id = ${orgId} and f.asset_id in (${from}, ${into}) and f.merged_into is null group by 1, 2, 3, 4, 5, 6, 7`.execute(tx);
  return rows;
}

/**
 * What reports about each of two merged assets have shown, before the merge and since then. A report that named both, or neither, shows a finding again
 * that an asset had, but does not tell which of them has a new one.
 */
export async function readSeen(tx: TenantTx, orgId: string, into: string, { before, sides }: { before: readonly SeenBefore[]; sides: Sides }): Promise<Seen[]> {
  const { rows } = await sql<Seen>`
    with before as materialized (
      select coalesce(f.merged_into, f.id) as finding_id, one.side, one.source_id, one.track, one.first_seen, one.last_seen, one.import_id, one.gone
      from jsonb_to_recordset(${JSON.stringify(before)}) as one (side text, source_id uuid, track smallint, first_seen timestamptz, last_seen timestamptz, import_id uuid, gone jsonb, ids jsonb)
      cross join lateral jsonb_array_elements_text(one.ids) as own (id) join findings f on f.org_id = ${orgId} and f.id = own.id::uuid
    ), since as materialized (
      select distinct coalesce(f.merged_into, f.id) as finding_id, each.side, run.source_id, run.track, run.ended_at as at, run.import_id, named.side = each.side as is_certain
      from ${sidesSql(sides, 'named')} join run_assets run on run.org_id = ${orgId} and run.asset_id = ${into} and run.import_id = named.import_id and run.track = named.track
      join (values ('from'), ('into')) as each (side) on named.side not in ('from', 'into') or named.side = each.side
      cross join lateral unnest(run.shown) as own (id) join findings f on f.org_id = ${orgId} and f.id = own.id
    ), seen as (
      select finding_id, side, source_id, track, first_seen, last_seen, import_id, true as is_certain, false as since, gone from before
      union all
      select finding_id, side, source_id, track, at, at, import_id, is_certain, true, null from since
    )
    select finding_id, side, source_id, track, min(first_seen)::text as first_seen, max(last_seen)::text as last_seen,
      (array_agg(import_id order by last_seen desc, import_id desc))[1] as import_id, bool_or(since) as since,
      case when count(*) = count(gone) then jsonb_agg(gone order by last_seen desc)->0 end as gone
    from seen group by 1, 2, 3, 4 having bool_or(is_certain)`.execute(tx);
  return rows;
}

/** The findings on one of two assets, with the one that stood for them while the assets were merged. */
export interface Member {
  id: string;
  joint_id: string;
  side: One;
}

const givenSql = (members: readonly Member[], seen: readonly Seen[]) => sql`
  member as materialized (
    select * from unnest(${members.map(({ id }) => id)}::uuid[], ${members.map(({ joint_id }) => joint_id)}::uuid[], ${members.map(({ side }) => side)}::text[]) as member (id, joint_id, side)
  ), seen as materialized (
    select member.id, seen.* from jsonb_to_recordset(${JSON.stringify(seen)}) as seen
      (finding_id uuid, side text, source_id uuid, track smallint, first_seen timestamptz, last_seen timestamptz, import_id uuid, since boolean, gone jsonb)
    join member on member.joint_id = seen.finding_id and member.side = seen.side
  )`;

/**
 * Gives every finding what sources said while the assets were one, if reports about its own asset have shown it since the merge or it says nothing yet. Call
 * it when each finding says what it said before, and the one that stayed what was said last.
 */
export async function shareSightings(tx: TenantTx, orgId: string, members: readonly Member[], seen: readonly Seen[]): Promise<void> {
  await sql`
    update sightings s set said = ${saidByFindingSql} from findings f
    where s.org_id = ${orgId} and s.said is null and f.org_id = ${orgId} and f.id = s.finding_id and f.id = any(${members.map(({ id }) => id)}::uuid[])`.execute(
    tx,
  );
  const shared = (table: 'sightings' | 'occurrences') => sql`
    select copy.* from lacking
    join ${sql.table(table)} known on known.org_id = ${orgId} and known.finding_id = lacking.holder_id and known.source_id = lacking.source_id and known.track = lacking.track
    cross join jsonb_populate_record(known, jsonb_build_object('finding_id', lacking.id)) copy`;
  // Undoing the merge of findings has already moved what was said last to the other one if the one that stayed said nothing before.
  await sql`
    with ${givenSql(members, seen)}, last as materialized (
      select distinct on (seen.id, seen.source_id, seen.track) seen.id, seen.source_id, seen.track, seen.since, holder.id as holder_id from seen
      join member holder on holder.joint_id = seen.finding_id
      join sightings known on known.org_id = ${orgId} and known.finding_id = holder.id and known.source_id = seen.source_id and known.track = seen.track
      order by seen.id, seen.source_id, seen.track, holder.id = holder.joint_id desc, known.last_seen desc, holder.id
    ), lacking as materialized (
      select last.* from last where last.holder_id <> last.id and (last.since or not exists (
        select from sightings own where own.org_id = ${orgId} and own.finding_id = last.id and own.source_id = last.source_id and own.track = last.track))
    ), said as (
      insert into sightings as own ${shared('sightings')}
      on conflict (org_id, finding_id, source_id, track) do update set ${copied('excluded')}, peak_severity = excluded.peak_severity, records = excluded.records
    )
    insert into occurrences as own ${shared('occurrences')}
    on conflict (org_id, finding_id, source_id, track, place) do update set state = excluded.state, last_seen = excluded.last_seen`.execute(tx);
}

/**
 * Lets every finding say only what reports about its own asset have shown. Call it while tracks have the numbers of the asset that stayed, and before
 * what reports no longer showed is returned.
 */
export async function giveSightings(
  tx: TenantTx,
  orgId: string,
  members: readonly Member[],
  { seen, sides }: { seen: readonly Seen[]; sides: Sides },
): Promise<void> {
  const given = givenSql(members, seen);
  const isOther = sql`
    exists (select from jsonb_to_recordset(${JSON.stringify(seen)}) as other (finding_id uuid, source_id uuid, track smallint)
      where other.finding_id = member.joint_id and other.source_id = said.source_id and other.track = said.track)
    and not exists (select from seen where seen.id = member.id and seen.source_id = said.source_id and seen.track = said.track)`;
  for (const table of ['occurrences', 'sightings']) {
    await sql`
      with ${given}
      delete from ${sql.table(table)} said using member where said.org_id = ${orgId} and said.finding_id = member.id and ${isOther}`.execute(tx);
  }
  const own = sql`s.org_id = ${orgId} and s.finding_id = seen.id and s.source_id = seen.source_id and s.track = seen.track`;
  // What the source last said of this asset is not known if it said something about the other one later. It may have been as bad as it ever was. No report can
  // repeat these words, so the next one counts.
  await sql`
    with ${given}
    update sightings s set severity = s.peak_severity, said = jsonb_set(s.said, '{severity}', to_jsonb(s.peak_severity)), content = sha256(s.content)
    from seen where ${own} and s.seen_import_id is distinct from seen.import_id and s.peak_severity > s.severity`.execute(tx);
  await sql`
    with ${given}
    update sightings s set first_seen = seen.first_seen, last_seen = seen.last_seen, seen_import_id = seen.import_id from seen where ${own}`.execute(tx);
  await sql`
    with ${given}
    update sightings s set state = 'absent', absence = seen.gone->>'absence', absent_at = (seen.gone->>'absent_at')::timestamptz,
      gaps = case when seen.gone->'gaps' <> 'null' then array(select jsonb_array_elements_text(seen.gone->'gaps')) end, last_import_id = (seen.gone->>'import_id')::uuid
    from seen where ${own} and seen.gone is not null`.execute(tx);
  // A run before the merge proved that the finding was gone from one of the assets. A report about the other one has shown it since.
  await sql`
    with ${given}
    update sightings s set state = 'present', absence = null, absent_at = null, gaps = null
    from seen where ${own} and seen.since and s.state = 'absent' and s.last_import_id not in (select side.import_id from ${sidesSql(sides)})`.execute(tx);
}
