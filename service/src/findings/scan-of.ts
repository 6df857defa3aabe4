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
