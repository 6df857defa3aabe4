import type { LookedFor } from '@rrs/scan-reports';
import { type RawBuilder, sql } from 'kysely';
import type { TenantTx } from '../../db/database.ts';
import type { Resolution } from '../merge/resolution.ts';
import type { Absence } from './absence.ts';

/** The findings that the run reports, by track. */
function reportedSql({ orgId, importId, sourceId }: Resolution): RawBuilder<unknown> {
  return sql`
    select g.finding_id, g.track from tenant_import_groups g where g.org_id = ${orgId} and g.import_id = ${importId} and g.present
    union all
    select s.finding_id, s.track from tenant_import_seen i join sightings s on s.org_id = ${orgId} and s.finding_id = i.finding_id and s.source_id = ${sourceId} and s.content = i.content
    where i.org_id = ${orgId} and i.import_id = ${importId}`;
}

/** A finding that disappears while the run still reports its component in the same version was not fixed: the source no longer holds it to be one. */
export async function findRetracted(tx: TenantTx, resolution: Resolution): Promise<void> {
  const { orgId, importId } = resolution;
  await sql`
    with reported as materialized (
      select distinct f.asset_id, reported.track, lower(f.component) as component, f.location->>'version' as version
      from (${reportedSql(resolution)}) reported join findings f on f.org_id = ${orgId} and f.id = reported.finding_id
      where f.component is not null and f.location ? 'version'
    )
    update import_closures c set absence = 'retracted' from findings f join reported
      on reported.asset_id = f.asset_id and reported.component = lower(f.component) and reported.version = f.location->>'version'
    where c.org_id = ${orgId} and c.import_id = ${importId} and c.absence = 'gone' and f.org_id = ${orgId} and f.id = c.finding_id and reported.track = c.track`.execute(
    tx,
  );
}

/** A group of at least this size that is empty in a run with other findings was probably left out by an option of the tool. */
const NARROW = 10;

/** Kinds of findings that tools have options to leave out. Findings of no kind are `other`. */
const kinds: readonly RawBuilder<unknown>[] = [
  sql`case when f.source_severity between 1 and 3 then ${kindLit('up_to_medium')} else 'other' end`,
  sql`case when f.fix_state is distinct from 'available' then ${kindLit('without_fix')} else 'other' end`,
  sql`case when f.location->>'purl' ~ '^pkg:(deb|rpm|apk|alpm)/' or f.location->>'ecosystem' in ('deb', 'rpm', 'apk', 'alpm') then ${kindLit('system_packages')}
    when f.component is not null then ${kindLit('libraries')} when f.location ? 'path' then ${kindLit('files')} else 'other' end`,
];

function kindLit(kind: LookedFor): RawBuilder<unknown> {
  return sql.lit(kind);
}

/**
 * Blocks the closure of all findings of one kind, for example all up to medium, if the run reports only others and does not say that it looked for them.
 * A tool that looked for a kind may still have left out lower severities, so it must report something that is as low.
 */
export async function findNarrower(tx: TenantTx, resolution: Resolution, { lookedFor }: Absence): Promise<void> {
  const { orgId, importId } = resolution;
  const looked = lookedFor as string[];
  for (const kind of kinds) {
    await sql`
      with missing as materialized (
        select c.finding_id, c.track, f.asset_id, f.source_severity as severity, ${kind} as kind from import_closures c join findings f on f.org_id = ${orgId} and f.id = c.finding_id
        where c.org_id = ${orgId} and c.import_id = ${importId} and c.absence in ('gone', 'retracted')
      ), reported as materialized (
        select f.asset_id, reported.track, array_agg(distinct ${kind}) as kinds, min(nullif(f.source_severity, 0)) as lowest
        from (${reportedSql(resolution)}) reported join findings f on f.org_id = ${orgId} and f.id = reported.finding_id
        group by 1, 2
      ), empty as (
        select missing.asset_id, missing.track, missing.kind, min(reported.lowest) as lowest from missing join reported using (asset_id, track)
        where missing.kind <> 'other' and missing.kind <> all(reported.kinds) group by 1, 2, 3 having count(*) >= ${NARROW}
      )
      update import_closures c set blockers = array_append(c.blockers, 'scan_narrower') from missing join empty using (asset_id, track, kind)
      where c.org_id = ${orgId} and c.import_id = ${importId} and c.finding_id = missing.finding_id and c.track = missing.track and 'scan_narrower' <> all(c.blockers)
        and (missing.kind <> all(${looked}::text[]) or ('up_to_medium' <> all(${looked}::text[]) and missing.severity < empty.lowest))`.execute(tx);
  }
}
