import { sql } from 'kysely';
import { assetFacts } from '../../../assets/relations.ts';
import type { TenantTx } from '../../../db/database.ts';
import { idsSql } from '../../follower.ts';
import { saidByFindingSql } from '../../merge/merged-values.ts';
import { copied } from '../move-sightings.ts';
import { namedListsSql, type SeparatedIds } from '../named-ids.ts';

export interface Move {
  from_id: string;
  to_id: string;
  to_weakness: string;
  /** Whether the other finding exists, and whether all sightings move. */
  exists: boolean;
  all: boolean;
  /** `stays`: whether the source also reports the finding that has the sighting. `shared`: whether it reports several findings. */
  sightings: { source_id: string; track: number; stays: boolean; shared: boolean }[];
}

/** Findings `f` that are kept under the ids. They are found by their assets: what no source sees any more cannot be found by the ids that records name. */
export const ofIds = (orgId: string, ids: readonly string[]) => sql`
  ${assetFacts} asset join findings f on f.org_id = ${orgId} and f.asset_id = asset.id and f.weakness = any(${ids as string[]}::text[]) and asset.org_id = ${orgId}`;

/** Whether a source has named the id for the finding `f`. */
export const names = (orgId: string, id: string) => sql`(f.vulnerability_ids @> array[${id}::text]
  or exists (select from sightings s where s.org_id = ${orgId} and s.finding_id = f.id and s.said->'vulnerability_ids' ? ${id}))`;

/**
 * Which sightings are of records that name the id of the other finding. A record that names the vulnerability never needed the alias. `split` are findings
 * that were merged.
 */
export async function planMoves(tx: TenantTx, orgId: string, separated: SeparatedIds, split: readonly string[]): Promise<Move[]> {
  const { alias, weakness } = separated;
  const affected = sql`
    select f.id from ${ofIds(orgId, [alias, weakness])} and f.merged_into is null and ${names(orgId, alias)}
    union select f.id from findings f where f.org_id = ${orgId} and f.id in (${idsSql(split)}) and f.merged_into is null and f.weakness in (${alias}, ${weakness})`;
  await sql`
    update sightings s set said = ${saidByFindingSql} from findings f
    where s.org_id = ${orgId} and s.said is null and f.org_id = ${orgId} and f.id = s.finding_id and f.id in (${affected})`.execute(tx);
  const { rows } = await sql<Move>`
    with lists as materialized (${namedListsSql(orgId, separated, sql`f.id in (${affected})`)}), owned as materialized (
      select distinct id, weakness, source_id, track, own, other_id from lists
    ), named as materialized (
      select owned.*, bool_or(own = weakness) over sighting as stays, count(*) over sighting > 1 as shared from owned window sighting as (partition by id, source_id, track)
    )
    select named.id as from_id, coalesce(named.other_id, new_id()) as to_id, named.own as to_weakness, named.other_id is not null as exists,
      not bool_or(named.shared) and count(*) = (select count(*) from sightings every where every.org_id = ${orgId} and every.finding_id = named.id) as all,
      jsonb_agg(jsonb_build_object('source_id', named.source_id, 'track', named.track, 'stays', named.stays, 'shared', named.shared)) as sightings
    from named
    where named.own <> named.weakness
    group by named.id, named.own, named.other_id`.execute(tx);
  return rows.map((move) => (move.all && !move.exists ? { ...move, to_id: move.from_id } : move));
}

/**
 * Gives the other findings the sightings that are theirs. If a source reports both findings, what it says about either of them is not known: it says the same
 * about both, and no report can repeat it, so the next one counts.
 */
export async function giveSightings(tx: TenantTx, orgId: string, moves: readonly Move[]): Promise<void> {
  const moved = sql`(
    select move.from_id, move.to_id, own.source_id, own.track, own.stays, own.shared from jsonb_to_recordset(${JSON.stringify(moves)}::jsonb) as move (from_id uuid, to_id uuid, sightings jsonb)
    cross join lateral jsonb_to_recordset(move.sightings) as own (source_id uuid, track smallint, stays boolean, shared boolean)) moved`;
  const of = (x: string, id: 'from_id' | 'to_id') =>
    sql`${sql.ref(`${x}.org_id`)} = ${orgId} and ${sql.ref(`${x}.finding_id`)} = ${sql.ref(`moved.${id}`)} and ${sql.ref(`${x}.source_id`)} = moved.source_id and ${sql.ref(`${x}.track`)} = moved.track`;
  await sql`
    update sightings s set content = sha256(s.content), external_id = null, records = greatest(s.records - 1, 1) from ${moved} where moved.shared and ${of('s', 'from_id')}`.execute(
    tx,
  );
  const rank = (x: string) => sql`(${sql.ref(`${x}.state`)} = 'present', ${sql.ref(`${x}.last_seen`)}, ${sql.ref(`${x}.severity`)})`;
  const isLeaving = sql`exists (select from ${moved} where not moved.stays and ${of('known', 'from_id')})`;
  await sql`
    insert into sightings as known select distinct on (moved.to_id, s.source_id, s.track) copy.* from ${moved} join sightings s on ${of('s', 'from_id')}
    cross join lateral jsonb_populate_record(s, jsonb_build_object('finding_id', moved.to_id)) copy
    order by moved.to_id, s.source_id, s.track, ${rank('s')} desc
    on conflict (org_id, finding_id, source_id, track) do update set ${copied('excluded')}, records = excluded.records,
      first_seen = least(known.first_seen, excluded.first_seen), peak_severity = greatest(known.peak_severity, excluded.peak_severity)
    where ${rank('excluded')} > ${rank('known')} or ${isLeaving}`.execute(tx);
  await sql`
    insert into occurrences as known select distinct on (moved.to_id, s.source_id, s.track, s.place) copy.* from ${moved} join occurrences s on ${of('s', 'from_id')}
    cross join lateral jsonb_populate_record(s, jsonb_build_object('finding_id', moved.to_id)) copy
    order by moved.to_id, s.source_id, s.track, s.place, s.state = 'present' desc, s.last_seen desc
    on conflict (org_id, finding_id, source_id, track, place) do update set
      state = case when excluded.state = 'present' then 'present' else known.state end,
      first_seen = least(known.first_seen, excluded.first_seen), last_seen = greatest(known.last_seen, excluded.last_seen)`.execute(tx);
  // A sighting that another one has replaced stays.
  const replaced = sql`exists (select from ${moved} where ${of('own', 'to_id')})`;
  for (const table of ['occurrences', 'sightings']) {
    await sql`delete from ${sql.table(table)} own using ${moved} where not moved.stays and ${of('own', 'from_id')} and not ${replaced}`.execute(tx);
  }
  // Columns that are merged from sightings never lose a source by themselves.
  const ids = [...new Set(moves.flatMap(({ from_id, to_id }) => [from_id, to_id]))];
  await sql`
    update findings f set source_ids = array(select distinct s.source_id from sightings s where s.org_id = ${orgId} and s.finding_id = f.id order by 1)
    where f.org_id = ${orgId} and f.id = any(${ids}::uuid[])`.execute(tx);
}
