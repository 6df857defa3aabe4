import { type RawBuilder, sql } from 'kysely';
import { assetFacts } from '../../assets/relations.ts';
import type { TenantTx } from '../../db/database.ts';
import { columnsOf, selection } from '../../db/named-values.ts';
import { declaredColumns } from '../fields/derive.ts';
import type { FindingRow } from '../fields/field.ts';
import { occurrencesSql } from './occurrences.ts';

/** What evidence packages read of findings: every declared column, and what each source says. */
export interface EvidenceFinding extends FindingRow {
  asset: { id: string; type: string; name: string };
  location: Record<string, unknown>;
  sightings: EvidenceSighting[];
  occurrence_count: number;
  /** The first places. */
  occurrences: EvidenceOccurrence[];
}

interface EvidenceOccurrence {
  place: string;
  component_version: string | null;
  state: 'present' | 'absent' | 'unknown';
  source: string;
  track: string | null;
  first_seen: string;
  last_seen: string;
}

/** How many places of a finding a package lists. */
const LISTED = 100;

/** The name of a source in evidence. */
const sourceSql = (table: 'o' | 'p') => sql.raw(`${table}.provider || case when ${table}.tool = '' then '' else ' (' || ${table}.tool || ')' end`);

export interface EvidenceSighting {
  source: string;
  kind: 'manual' | 'import' | 'connection';
  state: 'present' | 'absent' | 'unknown';
  last_seen: string;
  seen_import: string | null;
  last_import: string | null;
}

/** Who changed the status is named as the history names them. `ids` selects the findings. */
export function evidenceFindings(orgId: string, ids: RawBuilder<unknown>): RawBuilder<EvidenceFinding> {
  return sql<EvidenceFinding>`
    select ${selection(columnsOf('f', declaredColumns))}, f.closed_at, coalesce(person.name, f.status_changed_by) as status_changed_by,
      jsonb_build_object('id', a.id, 'type', a.type, 'name', a.name) as asset,
      (select coalesce(jsonb_agg(jsonb_build_object('source', ${sourceSql('o')}, 'kind', o.kind, 'state', s.state,
          'last_seen', s.last_seen, 'seen_import', s.seen_import_id, 'last_import', s.last_import_id) order by s.last_seen, s.source_id), '[]')
        from sightings s join sources o on o.org_id = ${orgId} and o.id = s.source_id where s.org_id = ${orgId} and s.finding_id = f.id) as sightings,
      places.count as occurrence_count, places.first as occurrences
    from findings f join ${assetFacts} a on a.org_id = ${orgId} and a.id = f.asset_id
    left join lateral (
      select h.person_name as name from finding_history h where h.org_id = ${orgId} and h.finding_id = f.id and h.person = f.status_changed_by order by h.id desc limit 1
    ) person on f.status_changed_by is not null
    cross join lateral (
      select count(*)::int as count, coalesce(jsonb_agg(jsonb_build_object('place', p.label, 'component_version', p.location->>'version', 'state', p.state,
          'source', ${sourceSql('p')}, 'track', p.track_name, 'first_seen', p.first_seen, 'last_seen', p.last_seen) order by p.n) filter (where p.n <= ${LISTED}), '[]') as first
      from (select p.*, row_number() over (order by p.label, p.id) as n from ${occurrencesSql(orgId, sql`select f.id`)} p) p
    ) places
    where f.org_id = ${orgId} and f.id in (${ids})
    order by f.id`;
}

/** The imports that evidence refers to, with the tool that wrote the report. */
export async function readScans(tx: TenantTx, orgId: string, ids: readonly string[]) {
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
    .where(sql<boolean>`imports.id = any(${ids as string[]}::uuid[])`)
    .orderBy('imports.id')
    .execute();
}

const STALE = sql`interval '30 days'`;

/** Sources of the selected findings that have not scanned any of their assets for 30 days. */
export async function readStaleSources(tx: TenantTx, orgId: string, ids: RawBuilder<unknown>): Promise<{ source: string; last: Date }[]> {
  const { rows } = await sql<{ source: string; last: Date }>`
    select o.provider as source, max(c.seen_at) as last
    from source_coverage c join sources o on o.org_id = ${orgId} and o.id = c.source_id
    where c.org_id = ${orgId} and (c.source_id, c.asset_id) in (
      select s.source_id, f.asset_id from sightings s join findings f on f.org_id = ${orgId} and f.id = s.finding_id
      where s.org_id = ${orgId} and s.finding_id in (${ids}))
    group by o.id, o.provider having max(c.seen_at) < now() - ${STALE} order by o.provider, o.id`.execute(tx);
  return rows;
}
