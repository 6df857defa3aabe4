import { type RawBuilder, sql } from 'kysely';
import { assetTracks } from '../../assets/relations.ts';
import { trackName } from '../../assets/track-name.ts';
import type { TenantTx } from '../../db/database.ts';
import { showSource } from '../fields/names.ts';
import type { SourceKind } from '../fields/source-kinds.ts';

export interface OccurrenceRow {
  id: string;
  finding_id: string;
  source_id: string;
  kind: SourceKind;
  provider: string;
  tool: string;
  source_name: string;
  track_name: string | null;
  label: string;
  location: unknown;
  state: 'present' | 'absent' | 'unknown';
  first_seen: Date;
  last_seen: Date;
}

/**
 * The places of the findings that `ids` selects. The only place that a source names is kept with the sighting. Several are rows of their own, and no more
 * present than the sighting is. `offset 0` forces one index lookup per place: without statistics the planner would read all findings for each.
 */
export function occurrencesSql(orgId: string, ids: RawBuilder<unknown>): RawBuilder<OccurrenceRow> {
  return sql<OccurrenceRow>`(
    select md5(concat_ws(' ', place.source_id, place.track, place.key))::uuid as id, place.finding_id, place.source_id, o.kind, o.provider, o.tool, o.name as source_name,
      t.name as track_name, place.label, coalesce(place.location, f.location) as location, place.state, place.first_seen, place.last_seen
    from (
      select p.finding_id, p.source_id, p.track, encode(p.place, 'hex') as key, p.label, p.location, case s.state when 'present' then p.state else s.state end as state,
        p.first_seen, p.last_seen
      from occurrences p join sightings s on s.org_id = ${orgId} and s.finding_id = p.finding_id and s.source_id = p.source_id and s.track = p.track
      where p.org_id = ${orgId} and p.finding_id in (${ids})
      union all
      select s.finding_id, s.source_id, s.track, s.place, s.place, s.said->'location', s.state, s.first_seen, s.last_seen
      from sightings s where s.org_id = ${orgId} and s.finding_id in (${ids}) and s.place is not null
    ) place
    join sources o on o.org_id = ${orgId} and o.id = place.source_id
    cross join lateral (select f.asset_id, f.location from findings f where f.org_id = ${orgId} and f.id = place.finding_id offset 0) f
    left join ${assetTracks} t on t.org_id = ${orgId} and t.asset_id = f.asset_id and t.n = place.track)`;
}

/** The places of several findings, by finding. */
export async function occurrencesOf(tx: TenantTx, orgId: string, ids: readonly string[]): Promise<Map<string, OccurrenceRow[]>> {
  if (ids.length === 0) return new Map();
  const { rows } = await sql<OccurrenceRow>`
    select * from ${occurrencesSql(orgId, sql`select unnest(${ids as string[]}::uuid[])`)} occurrence order by finding_id, label, id`.execute(tx);
  return Map.groupBy(rows, ({ finding_id }) => finding_id);
}

/** What exports and evidence say about a place. The location is all that is known, so that an import recognizes the place. */
export function exportedOccurrence({ source_id, kind, provider, tool, source_name, ...row }: OccurrenceRow) {
  return {
    place: row.label,
    state: row.state,
    source: showSource({ id: source_id, kind, provider, tool, name: source_name }),
    track: trackName(row.track_name),
    first_seen: row.first_seen.toISOString(),
    last_seen: row.last_seen.toISOString(),
    location: row.location as Readonly<Record<string, string | number>>,
  };
}

export type ExportedOccurrence = ReturnType<typeof exportedOccurrence>;
