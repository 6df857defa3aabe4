import { sql } from 'kysely';
import { assetTracks, assetVersions } from '../../assets/relations.ts';
import type { TenantTx } from '../../db/database.ts';
import type { FindingRow } from '../fields/field.ts';
import type { SourceKind } from '../fields/source-kinds.ts';
import { lastSeenSql, seenImportSql } from '../merge/group-records.ts';
import { STALE_DAYS } from '../stale.ts';

export interface SightingRow {
  source_id: string;
  kind: SourceKind;
  provider: string;
  tool: string;
  source_name: string;
  track: number;
  track_name: string | null;
  external_id: string | null;
  state: 'present' | 'absent' | 'unknown';
  absence: 'gone' | 'retracted' | 'declared' | 'check_retired' | 'asset_gone' | 'track_ended' | null;
  gaps: string[] | null;
  absent_at: Date | null;
  severity: number;
  tool_severity: string | null;
  suppressed: boolean;
  said: Partial<FindingRow> | null;
  first_seen: Date;
  last_seen: Date;
  /** Set only if no scan has seen the finding since. */
  missed_at: Date | null;
  missed_import_id: string | null;
  missed_because: string[] | null;
  last_import_id: string | null;
  seen_import_id: string | null;
  /** The last run of the source on this track. */
  run_import_id: string | null;
  run_at: Date | null;
  /** Whether the source has not scanned the track for so long that it may have been switched off. */
  is_stale: boolean;
  /** The run whose closures wait for confirmation, if it would make the sighting absent. */
  withheld_import_id: string | null;
  withheld_at: Date | null;
  /** The build on which the source last saw the finding. */
  build: { name: string; digest: string | null; commit: string | null } | null;
}

/** What each source says about a finding on each track, oldest first. */
export async function readSightings(tx: TenantTx, orgId: string, id: string): Promise<SightingRow[]> {
  const { rows } = await sql<SightingRow>`
    select s.source_id, o.kind, o.provider, o.tool, o.name as source_name, s.track, t.name as track_name, s.external_id, s.state, s.absence, s.absent_at, s.gaps, s.severity,
      s.tool_severity, s.suppressed, s.said, s.first_seen, seen.at as last_seen, missed.at as missed_at, missed.import_id as missed_import_id, missed.because as missed_because,
      s.last_import_id, seen.import_id as seen_import_id, c.import_id as run_import_id, c.seen_at as run_at,
      o.kind <> 'manual' and coalesce(c.seen_at, s.last_seen) < now() - make_interval(days => ${STALE_DAYS}) as is_stale, withheld.import_id as withheld_import_id, withheld.absent_at as withheld_at,
      case when build.n is not null then jsonb_build_object('name', build.name, 'digest', build.digest, 'commit', build.commit) end as build
    from sightings s
    join findings f on f.org_id = ${orgId} and f.id = s.finding_id
    join sources o on o.org_id = ${orgId} and o.id = s.source_id
    left join ${assetTracks} t on t.org_id = ${orgId} and t.asset_id = f.asset_id and t.n = s.track
    left join source_coverage c on c.org_id = ${orgId} and c.source_id = s.source_id and c.asset_id = f.asset_id and c.track = s.track
    cross join lateral (
      select ${lastSeenSql} as at, ${seenImportSql} as import_id
    ) seen
    left join lateral (select s.missed_at as at, s.missed_import_id as import_id, s.missed_because as because where s.state = 'present' and s.missed_at > seen.at) missed on true
    left join lateral (
      select closing.import_id, closing.absent_at from import_closures closing join imports i on i.org_id = ${orgId} and i.id = closing.import_id
      where closing.org_id = ${orgId} and closing.finding_id = s.finding_id and closing.track = s.track and i.source_id = s.source_id and i.status = 'needs_confirmation'
      order by closing.absent_at desc limit 1
    ) withheld on s.state = 'present'
    left join run_assets run on run.org_id = ${orgId} and run.source_id = s.source_id and run.asset_id = f.asset_id and run.track = s.track and run.import_id = seen.import_id
    left join ${assetVersions} build on build.org_id = ${orgId} and build.asset_id = f.asset_id and build.n = run.version_n
    where s.org_id = ${orgId} and s.finding_id = ${id}
    order by s.first_seen, s.source_id, s.track`.execute(tx);
  return rows;
}
