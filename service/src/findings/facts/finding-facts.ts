import type { Severity } from '@rrs/scan-reports';
import { type RawBuilder, sql } from 'kysely';
import { assetFacts } from '../../assets/relations.ts';
import { type RecordedActor, recordedActor } from '../../audit/relations.ts';
import { columnsOf, selection } from '../../db/named-values.ts';
import { vulnerabilityFacts } from '../../vulnerabilities/relations.ts';
import { declaredColumns } from '../fields/derive.ts';
import type { FindingRow } from '../fields/field.ts';
import { occurrencesSql } from '../list/occurrences.ts';
import { lastSeenSql, seenImportSql } from '../merge/group-records.ts';
import { severityNameSql } from '../severity.ts';
import type { Status } from '../status.ts';

/** What evidence packages read of findings: every declared column, what each source says, and what people did. */
export interface EvidenceFinding extends FindingRow {
  asset: { id: string; type: string; name: string };
  location: Record<string, unknown>;
  /** The date of the newest EPSS file, if it has this score. */
  epss_confirmed: string | null;
  sightings: EvidenceSighting[];
  /** Changes of the status and severities that people set, oldest first. */
  changes: EvidenceChange[];
  decision: { requested_by: RecordedPerson; approved_by: RecordedPerson | null } | null;
  /** Findings that were merged into this one. */
  merged: { id: string; kind: string; state: Status; title: string; severity: Severity; first_seen: string }[];
  /** Whether builds of the asset are known. */
  has_builds: boolean;
  occurrence_count: number;
  /** The first places. */
  occurrences: EvidenceOccurrence[];
}

interface RecordedPerson {
  person: string | null;
  name: string;
}

export interface EvidenceChange {
  at: string;
  status: Status | null;
  code: string | null;
  /** Absent if the change does not set a severity. */
  override?: string | null;
  actor: RecordedActor;
  reason: string | null;
  import_id: string | null;
  before: object;
  after: object;
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
export const sourceSql = (table: 'o' | 'p') => sql.raw(`${table}.provider || case when ${table}.tool = '' then '' else ' (' || ${table}.tool || ')' end`);

export interface EvidenceSighting {
  source: string;
  kind: 'manual' | 'import' | 'connection';
  state: 'present' | 'absent' | 'unknown';
  absence: 'gone' | 'retracted' | 'declared' | 'check_retired' | 'asset_gone' | 'track_ended' | null;
  gaps: string[] | null;
  /** The highest severity that the source ever stated. */
  peak_severity: number;
  first_seen: string;
  last_seen: string;
  seen_import: string | null;
  last_import: string | null;
  suppressed: boolean;
  /** False if the track ended, or if another build of the track was scanned later than the scan that no longer showed the finding. */
  rescanned: boolean;
}

/**
 * `ids` selects the findings. They come sorted by id. `offset 0` forces one index lookup per finding: without statistics the planner would read all findings
 * for each.
 */
export function evidenceFindings(orgId: string, ids: RawBuilder<unknown>): RawBuilder<EvidenceFinding> {
  return sql<EvidenceFinding>`
    with latest as materialized (
      select distinct on (run.asset_id, run.track) run.asset_id, run.track, run.version_n, run.started_at from run_assets run
      where run.org_id = ${orgId} and run.version_n is not null
        and run.asset_id in (
          select f.asset_id from (${ids}) own (id) cross join lateral (select f.asset_id from findings f where f.org_id = ${orgId} and f.id = own.id offset 0) f)
      order by run.asset_id, run.track, run.started_at desc
    )
    select ${selection(columnsOf('f', declaredColumns))}, f.closed_at, f.clock_from, f.severity_override_by, f.severity_override_reason,
      jsonb_build_object('id', a.id, 'type', a.type, 'name', a.name) as asset, seen.sightings, history.changes, merged.merged,
      exists (select from latest where latest.asset_id = f.asset_id) as has_builds,
      (select jsonb_build_object('requested_by', jsonb_build_object('person', d.person, 'name', d.person_name),
          'approved_by', case when d.approver_name is not null then jsonb_build_object('person', d.approver, 'name', d.approver_name) end)
        from decisions d where d.org_id = ${orgId} and d.finding_id = f.id and d.state = 'active') as decision,
      (select max(v.epss_date) from ${vulnerabilityFacts} v where v.id = any(f.weakness || f.vulnerability_ids) and v.epss = f.epss) as epss_confirmed,
      places.count as occurrence_count, places.first as occurrences
    from (select own.id from (${ids}) own (id) order by own.id offset 0) own
    cross join lateral (select * from findings f where f.org_id = ${orgId} and f.id = own.id offset 0) f
    join ${assetFacts} a on a.org_id = ${orgId} and a.id = f.asset_id
    cross join lateral (
      select coalesce(jsonb_agg(jsonb_build_object('source', ${sourceSql('o')}, 'kind', o.kind, 'state', s.state, 'absence', s.absence, 'gaps', s.gaps,
          'peak_severity', greatest(s.peak_severity, s.severity), 'first_seen', s.first_seen, 'last_seen', ${lastSeenSql}, 'seen_import', ${seenImportSql}, 'last_import', s.last_import_id,
          'suppressed', s.suppressed, 'rescanned', case s.state when 'unknown' then o.retired_at is not null when 'absent'
            then latest.version_n is null or c.version_n is not distinct from latest.version_n or latest.started_at <= c.complete_at else true end)
        order by ${lastSeenSql}, s.source_id, s.track), '[]') as sightings
      from sightings s join sources o on o.org_id = ${orgId} and o.id = s.source_id
      left join source_coverage c on c.org_id = ${orgId} and c.source_id = s.source_id and c.asset_id = f.asset_id and c.track = s.track
      left join latest on latest.asset_id = f.asset_id and latest.track = s.track
      where s.org_id = ${orgId} and s.finding_id = f.id
    ) seen
    cross join lateral (
      select coalesce(jsonb_agg(jsonb_build_object('at', h.occurred_at, 'status', h.after->>'status', 'code', h.after->>'reason_code', 'reason', h.reason, 'import_id', h.import_id,
          'before', jsonb_build_object('status', h.before->'status'), 'after', h.after - 'tags',
          'actor', ${recordedActor('h')})
          || case when h.after ? 'severity_override' then jsonb_build_object('override', h.after->'severity_override') else '{}' end order by h.occurred_at, h.id), '[]') as changes
      from finding_history h where h.org_id = ${orgId} and h.finding_id = f.id and h.after ?| array['status', 'severity_override']
    ) history
    cross join lateral (
      select coalesce(jsonb_agg(jsonb_build_object('id', m.id, 'kind', r.kind, 'state', coalesce(r.undo->'a'->'finding'->>'status', m.status),
          'title', coalesce(r.undo->'a'->'finding'->>'title', m.title), 'severity', ${severityNameSql(sql`greatest(coalesce((r.undo->'a'->'finding'->>'severity')::int, m.severity), coalesce((r.undo->'a'->'finding'->>'source_severity')::int, m.source_severity))`)},
          'first_seen', least(m.first_seen, m.created_at)) order by m.id), '[]') as merged
      from findings m left join identity_rules r on r.org_id = ${orgId} and r.a = m.id and r.revoked_at is null
      where m.org_id = ${orgId} and m.merged_into = f.id
    ) merged
    cross join lateral (
      select count(*)::int as count, coalesce(jsonb_agg(jsonb_build_object('place', p.label, 'component_version', p.location->>'version', 'state', p.state,
          'source', ${sourceSql('p')}, 'track', p.track_name, 'first_seen', p.first_seen, 'last_seen', p.last_seen) order by p.n) filter (where p.n <= ${LISTED}), '[]') as first
      from (select p.*, row_number() over (order by p.label, p.id) as n from ${occurrencesSql(orgId, sql`select f.id`)} p) p
    ) places
    order by own.id`;
}
