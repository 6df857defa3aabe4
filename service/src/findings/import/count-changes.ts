import { type Severity, severities } from '@rrs/scan-reports';
import { sql } from 'kysely';
import { assetTracks, importedAssets } from '../../assets/relations.ts';
import type { TenantTx } from '../../db/database.ts';
import { isAmong } from '../../db/rows.ts';
import { changedOutcomes } from '../merge/group-records.ts';
import { severityName } from '../severity.ts';
import { closedStatuses } from '../status.ts';

/** What an import can do to a finding. Of several, the first one counts. */
const changeKinds = ['created', 'reopened', 'closed', 'updated'] as const;
type Kind = (typeof changeKinds)[number];
/** The kinds that are also counted by severity. */
export const countedChanges = ['created', 'reopened', 'closed'] as const satisfies readonly Kind[];
export type CountsBySeverity = Record<(typeof countedChanges)[number], Record<Severity, number>>;

export interface Changes {
  counts: Record<Kind, number>;
  by_severity: CountsBySeverity;
  /** How many findings of the report were created, reopened or updated. Others can change as well, for example when a source no longer shows them. */
  shown: number;
}

/**
 * Records and counts what an import did to findings. The list of changes and the filter `import_id` read the same record. Call it at the end of the
 * transaction of the import, while its staged groups exist, and again when it is confirmed.
 */
export async function recordChanges(tx: TenantTx, orgId: string, importId: string): Promise<Changes> {
  const rank = (kind: Kind) => sql.lit(changeKinds.indexOf(kind));
  const { rows } = await sql<{ kind: Kind; severity: number; count: number; shown: number }>`
    with known as (
      delete from import_changes where org_id = ${orgId} and import_id = ${importId} and kind <> 'unchanged' returning kind, finding_ids
    ), changed as materialized (
      select finding_id, (${[...changeKinds]}::text[])[min(rank) + 1] as kind, bool_or(is_shown) as is_shown from (
        select finding_id, case when outcome = 'created' then ${rank('created')} when outcome in ('reopened', 'reintroduced') then ${rank('reopened')}
          when outcome = any(${[...changedOutcomes]}::text[]) then ${rank('updated')} end as rank, true as is_shown
        from tenant_import_groups where org_id = ${orgId} and import_id = ${importId}
        union all
        select finding_id, case when after->>'status' in ('open', 'in_progress') then ${rank('reopened')}
          when after->>'status' = before->>'status' then ${rank('updated')} when after->>'status' = any(${closedStatuses as readonly string[]}) then ${rank('closed')} else ${rank('updated')} end, false
        from finding_history where org_id = ${orgId} and import_id = ${importId}
        union all
        select unnest(finding_ids), array_position(${[...changeKinds]}::text[], kind) - 1, false from known
      ) as change group by finding_id having min(rank) is not null
    ), recorded as (
      insert into import_changes (org_id, import_id, kind, finding_ids)
      select ${orgId}::uuid, ${importId}::uuid, kind, array_agg(finding_id order by finding_id) from changed group by kind
    )
    select changed.kind, f.severity, count(*)::int as count, (count(*) filter (where changed.is_shown and changed.kind <> 'closed'))::int as shown from changed join findings f on f.org_id = ${orgId} and f.id = changed.finding_id group by 1, 2`.execute(
    tx,
  );
  const changes: Changes = { counts: { created: 0, reopened: 0, closed: 0, updated: 0 }, by_severity: emptyCounts(), shown: 0 };
  for (const { kind, severity, count, shown } of rows) {
    changes.counts[kind] += count;
    changes.shown += shown;
    if (kind !== 'updated') changes.by_severity[kind][severityName(severity)] = count;
  }
  return changes;
}

/**
 * Keeps which findings an import saw and did not change, where sightings do not tell: its run is not complete, its track does not count and adds nothing
 * to what others have, or another import has a run of the same time or a later one, as when a pipeline sends the same file again. Only the newest run of a
 * source on a track keeps it: it grows with every import of a pull request. What a pull request has follows from it, so the newest complete run keeps it as well.
 */
export async function recordUnchanged(tx: TenantTx, orgId: string, importId: string): Promise<void> {
  const untold = sql`(
    select run.source_id, run.asset_id, run.track, run.started_at, run.complete, coalesce(track.counts, true) as counts
    from run_assets run left join ${assetTracks} track on track.org_id = ${orgId} and track.asset_id = run.asset_id and track.n = run.track
    where run.org_id = ${orgId} and run.import_id = ${importId} and (not run.complete or exists (
      select from ${importedAssets} a where a.org_id = ${orgId} and a.import_id = ${importId} and a.asset_id = run.asset_id and a.track = run.track and not a.track_counts)
      or not exists (select from source_coverage c where c.org_id = ${orgId} and c.source_id = run.source_id and c.asset_id = run.asset_id and c.track = run.track
        and c.complete_import_id = run.import_id)))`;
  await sql`
    with own as materialized (select * from ${untold} run), older as (
      delete from import_changes c where c.org_id = ${orgId} and c.kind = 'unchanged' and c.import_id <> ${importId} and c.import_id = any(array(
        select older.import_id from own cross join lateral (
          select run.import_id from run_assets run where run.org_id = ${orgId} and run.source_id = own.source_id and run.asset_id = own.asset_id and run.track = own.track
            and (own.counts or (run.started_at <= own.started_at and (own.complete or not run.complete))) offset 0) older))
    ), saw as (
      select g.finding_id from tenant_import_groups g
      where g.org_id = ${orgId} and g.import_id = ${importId} and g.present and ${isAmong(sql`(g.asset_id, g.track)`, sql`select asset_id, track from own`)}
      union
      select i.finding_id from tenant_import_seen i join findings f on f.org_id = ${orgId} and f.id = i.finding_id
      where i.org_id = ${orgId} and i.import_id = ${importId} and ${isAmong(sql`f.asset_id`, sql`select asset_id from own`)}
    ), unchanged as (
      select finding_id from saw except select unnest(finding_ids) from import_changes where org_id = ${orgId} and import_id = ${importId}
    )
    insert into import_changes (org_id, import_id, kind, finding_ids)
    select ${orgId}::uuid, ${importId}::uuid, 'unchanged', array_agg(finding_id order by finding_id) from unchanged having count(*) > 0`.execute(tx);
}

export function emptyCounts(): CountsBySeverity {
  const none = () => Object.fromEntries(severities.map((severity) => [severity, 0])) as Record<Severity, number>;
  return { created: none(), reopened: none(), closed: none() };
}
