import { type RawBuilder, sql } from 'kysely';
import type { TenantTx } from '../../db/database.ts';
import type { MergedPair } from '../follower.ts';
import { saidByFindingSql } from '../merge/merged-values.ts';
import { placeKey } from '../merge/write-places.ts';

export type Pair = MergedPair;

export function pairsSql(pairs: readonly Pair[]) {
  return sql`unnest(${pairs.map(({ from_id }) => from_id)}::uuid[], ${pairs.map(({ into_id }) => into_id)}::uuid[]) as pair (from_id, into_id)`;
}

/** While a finding has one sighting, its columns are what that source says. Before it gets others, this is kept with the sighting. */
export async function keepSaid(tx: TenantTx, orgId: string, pairs: readonly Pair[]): Promise<void> {
  await sql`
    update sightings s set said = ${saidByFindingSql} from findings f
    where s.org_id = ${orgId} and s.said is null and f.org_id = ${orgId} and f.id = s.finding_id
      and f.id in (select unnest(array[pair.from_id, pair.into_id]) from ${pairsSql(pairs)})`.execute(tx);
}

/** The lists of ids that the records of a sighting name. */
export const namedSql = (x: string) => sql`coalesce(${sql.ref(`${x}.said`)}->'named', jsonb_build_array(${sql.ref(`${x}.said`)}->'vulnerability_ids'))`;

/** What one source says about both findings on one track: `a` of the merged finding and `b` of the one that stays. */
const both = (orgId: string, pairs: readonly Pair[]) => sql`
  ${pairsSql(pairs)} join sightings a on a.org_id = ${orgId} and a.finding_id = pair.from_id
  join sightings b on b.org_id = ${orgId} and b.finding_id = pair.into_id and b.source_id = a.source_id and b.track = a.track`;

/**
 * Before two sightings of one source become one, their places are kept as occurrences if they differ: the report that has both shows no new place, so that a
 * decision about both holds. Requires `keepSaid`.
 */
export async function keepBothPlaces(tx: TenantTx, orgId: string, pairs: readonly Pair[]): Promise<void> {
  const differing = sql`${both(orgId, pairs)} where a.place is distinct from b.place`;
  await sql`
    insert into occurrences (org_id, finding_id, source_id, track, place, label, location, state, first_seen, last_seen)
    select ${orgId}, one.finding_id, one.source_id, one.track, ${placeKey(sql`one.place`)}, one.place, one.said->'location', case one.state when 'present' then 'present' else 'absent' end,
      one.first_seen, one.last_seen
    from (select a.* from ${differing} union select b.* from ${differing}) one where one.place is not null and one.said ? 'location'
    on conflict do nothing`.execute(tx);
  await sql`
    update sightings own set place = null
    from (select a.finding_id, a.source_id, a.track from ${differing} union select b.finding_id, b.source_id, b.track from ${differing}) one
    where own.org_id = ${orgId} and own.finding_id = one.finding_id and own.source_id = one.source_id and own.track = one.track`.execute(tx);
}

/** What an import that waits for confirmation no longer showed of the finding that stays is still there if its source sees the merged one. */
async function dropClosures(tx: TenantTx, orgId: string, pairs: readonly Pair[]): Promise<void> {
  await sql`
    delete from import_closures c using ${both(orgId, pairs)}
    where c.org_id = ${orgId} and c.finding_id = b.finding_id and c.track = b.track and a.state = 'present'
      and exists (select from imports i where i.org_id = ${orgId} and i.id = c.import_id and i.source_id = b.source_id)
      and not exists (
        select from import_closures own where own.org_id = ${orgId} and own.import_id = c.import_id and own.finding_id = a.finding_id and own.track = a.track)`.execute(
    tx,
  );
}

/** The columns of a sighting that the source fills. */
const statement = [
  'external_id',
  'state',
  'absence',
  'absent_at',
  'gaps',
  'severity',
  'tool_severity',
  'suppressed',
  'content',
  'said',
  'last_seen',
  'unseen',
  'missed_at',
  'missed_import_id',
  'missed_because',
  'doubted',
  'bar_credentialed',
  'bar_knowledge_at',
  'place',
  'last_import_id',
  'seen_import_id',
];

export const copied = (from: string) => sql.join(statement.map((column) => sql`${sql.ref(column)} = ${sql.ref(`${from}.${column}`)}`));

const absence: readonly string[] = ['state', 'absence', 'absent_at', 'gaps', 'last_import_id'];
/** Takes over what the sighting `from` says. What `own` says about its absence stays on the condition. */
export const copiedButAbsence = (from: string, own: string, isKept: RawBuilder<unknown>) =>
  sql.join(
    statement.map((column) => {
      const value = sql.ref(`${from}.${column}`);
      return sql`${sql.ref(column)} = ${absence.includes(column) ? sql`case when ${isKept} then ${sql.ref(`${own}.${column}`)} else ${value} end` : value}`;
    }),
  );

/**
 * Moves all sightings and occurrences to the findings that stay. If a source has a sighting of both, the present or else the newer one is kept, as if one
 * report had both. It stands for the records of both, has the ids and CWEs of both, and is found by the words of both.
 */
export async function moveSightings(tx: TenantTx, orgId: string, pairs: readonly Pair[]): Promise<void> {
  await dropClosures(tx, orgId, pairs);
  const rank = (x: string) => sql`(${sql.ref(`${x}.state`)} = 'present', ${sql.ref(`${x}.last_seen`)}, ${sql.ref(`${x}.severity`)})`;
  const better = sql`(${rank('a')} > ${rank('b')} or (${rank('a')} = ${rank('b')} and a.content < b.content))`;
  const united = (name: 'words' | 'cwes' | 'vulnerability_ids') => sql`
    select jsonb_array_elements_text(a.said->${sql.lit(name)}) as one union select jsonb_array_elements_text(b.said->${sql.lit(name)})`;
  await sql`
    with doubled as materialized (
      select a.finding_id as a, b.finding_id as b, a.source_id, a.track, jsonb_strip_nulls(jsonb_build_object(
        'words', array(${united('words')}), 'vulnerability_ids', distinct_ids(array(${united('vulnerability_ids')})), 'cwes', array(select one::int from (${united('cwes')}) ids order by 1),
        'named', (select jsonb_agg(distinct list) from jsonb_array_elements(${namedSql('a')} || ${namedSql('b')}) as list having count(distinct list) > 1))) as said
      from ${both(orgId, pairs)} where a.state = 'present' and b.state = 'present' and a.said ? 'words' and b.said ? 'words'
    )
    update sightings own set said = own.said || one.said
    from (select a as id, source_id, track, said from doubled union all select b, source_id, track, said from doubled) one
    where own.org_id = ${orgId} and own.finding_id = one.id and own.source_id = one.source_id and own.track = one.track`.execute(tx);
  await sql`
    update sightings kept set first_seen = least(a.first_seen, b.first_seen), peak_severity = greatest(a.peak_severity, b.peak_severity),
      records = case when a.state = 'present' and b.state = 'present' then least(a.records + b.records, 32767) when ${better} then a.records else b.records end
    from ${both(orgId, pairs)} where kept.org_id = ${orgId} and kept.finding_id = b.finding_id and kept.source_id = b.source_id and kept.track = b.track`.execute(
    tx,
  );
  await sql`
    update sightings kept set ${copied('a')}
    from ${both(orgId, pairs)} where kept.org_id = ${orgId} and kept.finding_id = b.finding_id and kept.source_id = b.source_id and kept.track = b.track and ${better}`.execute(
    tx,
  );
  const doubled = sql`select pair.from_id, pair.into_id, a.source_id, a.track from ${both(orgId, pairs)}`;
  await sql`
    insert into occurrences as known (org_id, finding_id, source_id, track, place, label, location, state, first_seen, last_seen)
    select ${orgId}, doubled.into_id, o.source_id, o.track, o.place, o.label, o.location, o.state, o.first_seen, o.last_seen
    from (${doubled}) doubled join occurrences o on o.org_id = ${orgId} and o.finding_id = doubled.from_id and o.source_id = doubled.source_id and o.track = doubled.track
    on conflict (org_id, finding_id, source_id, track, place) do update set
      state = case when excluded.state = 'present' then 'present' else known.state end,
      first_seen = least(known.first_seen, excluded.first_seen), last_seen = greatest(known.last_seen, excluded.last_seen)`.execute(tx);
  await sql`
    delete from occurrences o using (${doubled}) doubled
    where o.org_id = ${orgId} and o.finding_id = doubled.from_id and o.source_id = doubled.source_id and o.track = doubled.track`.execute(tx);
  await sql`
    delete from sightings s using (${doubled}) doubled
    where s.org_id = ${orgId} and s.finding_id = doubled.from_id and s.source_id = doubled.source_id and s.track = doubled.track`.execute(tx);
  await sql`
    update sightings s set finding_id = pair.into_id from ${pairsSql(pairs)} where s.org_id = ${orgId} and s.finding_id = pair.from_id`.execute(tx);
}
