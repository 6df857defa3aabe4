import { type RawBuilder, sql } from 'kysely';
import { assetTracks } from '../../assets/relations.ts';
import type { TenantTx } from '../../db/database.ts';
import { fetchPage, type PageRequest } from '../../db/pages.ts';
import { readFinding } from '../list/list.ts';

export interface OccurrenceRow {
  id: string;
  source_id: string;
  kind: 'manual' | 'import' | 'connection';
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

/** How many occurrences the finding itself shows. */
const SHOWN = 100;

/** The only place that a source names is kept with the sighting. Several are rows of their own. */
function occurrencesSql(orgId: string, id: string): RawBuilder<OccurrenceRow> {
  return sql<OccurrenceRow>`(
    select md5(concat_ws(' ', place.source_id, place.track, place.key))::uuid as id, place.source_id, o.kind, o.provider, o.tool, o.name as source_name, t.name as track_name,
      place.label, place.location, place.state, place.first_seen, place.last_seen
    from (
      select source_id, track, encode(place, 'hex') as key, label, location, state, first_seen, last_seen from occurrences where org_id = ${orgId} and finding_id = ${id}
      union all
      select s.source_id, s.track, s.place, s.place, coalesce(s.said->'location', f.location), s.state, s.first_seen, s.last_seen
      from sightings s join findings f on f.org_id = ${orgId} and f.id = s.finding_id where s.org_id = ${orgId} and s.finding_id = ${id} and s.place is not null
    ) place
    join sources o on o.org_id = ${orgId} and o.id = place.source_id
    join findings f on f.org_id = ${orgId} and f.id = ${id}
    left join ${assetTracks} t on t.org_id = ${orgId} and t.asset_id = f.asset_id and t.n = place.track)`;
}

export async function readOccurrences(tx: TenantTx, orgId: string, id: string): Promise<{ count: number; first: OccurrenceRow[] }> {
  const { rows } = await sql<OccurrenceRow & { count: number }>`
    select *, (count(*) over ())::int as count from ${occurrencesSql(orgId, id)} occurrence order by label, id limit ${SHOWN}`.execute(tx);
  return { count: rows[0]?.count ?? 0, first: rows };
}

export async function listOccurrences(tx: TenantTx, orgId: string, id: string, page: PageRequest) {
  await readFinding(tx, orgId, id);
  const query = tx.selectFrom(occurrencesSql(orgId, id).as('occurrences')).selectAll();
  return fetchPage(tx, query, { place: { column: 'label', type: 'text' }, first_seen: { column: 'first_seen', type: 'timestamptz' } }, page);
}
