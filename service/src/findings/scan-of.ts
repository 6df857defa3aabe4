import { type RawBuilder, sql } from 'kysely';
import { assetTracks, assetVersions } from '../assets/relations.ts';
import { trackName } from '../assets/track-name.ts';

/**
 * Which scan of the import `importId` showed the finding, for the history and events of a changed status: its track, build and time, as an object of JSON.
 * Empty if the import did not show it, or if a person made the change.
 */
export function scanOfSql(orgId: string, importId: string | null, finding: RawBuilder<unknown>): RawBuilder<unknown> {
  if (importId === null) return sql`'{}'::jsonb`;
  return sql`coalesce((
    select jsonb_strip_nulls(jsonb_build_object('scanned_at', g.seen_at, 'track', coalesce(track.name, ${trackName(null)}), 'version', build.name))
    from tenant_import_groups g
    left join ${assetTracks} track on track.org_id = ${orgId} and track.asset_id = g.asset_id and track.n = g.track
    left join ${assetVersions} build on build.org_id = ${orgId} and build.asset_id = g.asset_id and build.n = g.version_n
    where g.org_id = ${orgId} and g.import_id = ${importId} and g.finding_id = ${finding} and g.present order by g.was_gone desc, g.seen_at desc, g.track limit 1), '{}')`;
}

/**
 * What pull requests and branches in development have, whether tracks that count have it or not: `asset_id`, `track` and `finding_id`. Sightings say it only of
 * findings that no track that counts ever had. A later complete scan of the same source replaces what a scan has shown. `which` selects the tracks.
 */
export function shownApartSql(orgId: string, which: RawBuilder<boolean>): RawBuilder<unknown> {
  return sql`(
    select run.asset_id, run.track, unnest(shown.finding_ids) as finding_id
    from ${assetTracks} track
    join run_assets run on run.org_id = ${orgId} and run.asset_id = track.asset_id and run.track = track.n
    join import_changes shown on shown.org_id = ${orgId} and shown.import_id = run.import_id and shown.kind <> 'closed'
    where track.org_id = ${orgId} and not track.counts and track.ended_at is null and ${which} and not exists (
      select from run_assets later where later.org_id = ${orgId} and later.source_id = run.source_id and later.asset_id = run.asset_id and later.track = run.track
        and later.complete and later.accepted and later.started_at > run.started_at))`;
}

/** Whether a track that counts has the finding at present. */
export function isCountedSql(orgId: string, { id, asset }: Record<'id' | 'asset', RawBuilder<unknown>>): RawBuilder<boolean> {
  return sql`exists (
    select from sightings s left join ${assetTracks} track on track.org_id = ${orgId} and track.asset_id = ${asset} and track.n = s.track
    where s.org_id = ${orgId} and s.finding_id = ${id} and s.state = 'present' and coalesce(track.counts, true) offset 0)`;
}
