import { type RawBuilder, sql } from 'kysely';
import type { TenantTx } from '../../db/database.ts';
import { lastSeenSql } from '../merge/group-records.ts';
import { activeStatuses } from '../status.ts';
import { sourceSql } from './finding-facts.ts';

export interface OtherOpenRow {
  asset_id: string;
  /** Numbers of open findings by severity, from unknown to critical. */
  counts: [number, number, number, number, number, number];
  alike: string[];
}

/** How many of the findings that are like those of a package it names. */
const NAMED = 20;

/**
 * Open findings on the assets of the selected findings that are not among them. Alike are those with a CVE of the selected findings, and those that a
 * scan showed together with a selected finding that is not more severe.
 */
export async function readOtherOpen(tx: TenantTx, orgId: string, ids: RawBuilder<unknown>): Promise<OtherOpenRow[]> {
  const { rows } = await sql<OtherOpenRow>`
    with own as materialized (
      select f.id, f.asset_id, f.severity, f.vulnerability_ids
      from (${ids}) own (id) cross join lateral (select * from findings f where f.org_id = ${orgId} and f.id = own.id offset 0) f
    ), cves as materialized (
      select coalesce(array_agg(distinct cve), '{}') as ids from own, unnest(own.vulnerability_ids) cve where cve like 'CVE-%'
    ), shown as materialized (
      select own.asset_id, s.source_id, s.track, own.severity, max(${lastSeenSql}) as last_seen
      from own join sightings s on s.org_id = ${orgId} and s.finding_id = own.id
      left join source_coverage c on c.org_id = ${orgId} and c.source_id = s.source_id and c.asset_id = own.asset_id and c.track = s.track
      group by 1, 2, 3, 4
    ), others as materialized (
      select f.id, f.asset_id, f.severity, greatest(f.severity, f.source_severity) as worst, f.vulnerability_ids from findings f
      where f.org_id = ${orgId} and f.asset_id in (select asset_id from own) and f.listed and f.status = any(${activeStatuses as readonly string[]})
        and f.id not in (select id from own)
    ), judged as (
      select o.*, o.vulnerability_ids && cves.ids or exists (
        select from sightings s join shown on shown.asset_id = o.asset_id and shown.source_id = s.source_id and shown.track = s.track
        where s.org_id = ${orgId} and s.finding_id = o.id and s.state = 'present' and shown.severity <= o.worst and s.first_seen <= shown.last_seen) as is_alike
      from others o cross join cves
    )
    select asset_id, array[count(*) filter (where severity = 0), count(*) filter (where severity = 1), count(*) filter (where severity = 2), count(*) filter (where severity = 3),
        count(*) filter (where severity = 4), count(*) filter (where severity = 5)]::int[] as counts,
      coalesce((array_agg(id order by worst desc, id) filter (where is_alike))[1:${sql.lit(NAMED)}], '{}') as alike
    from judged group by asset_id`.execute(tx);
  return rows;
}

export interface SourceOnAssetRow {
  asset_id: string;
  source_id: string;
  source: string;
  kind: 'import' | 'connection';
  /** Set for connections. */
  connection_id: string | null;
  last_scan_at: Date | null;
  last_complete_at: Date | null;
  retired_at: Date | null;
}

/** Every source that has scanned one of the assets. */
export async function readSourcesOnAssets(tx: TenantTx, orgId: string, assetIds: readonly string[]): Promise<SourceOnAssetRow[]> {
  const { rows } = await sql<SourceOnAssetRow>`
    select run.asset_id, o.id as source_id, ${sourceSql('o')} as source, o.kind, case o.kind when 'connection' then o.name end as connection_id, o.retired_at,
      max(run.ended_at) as last_scan_at, max(run.ended_at) filter (where run.complete and run.accepted) as last_complete_at
    from run_assets run join sources o on o.org_id = ${orgId} and o.id = run.source_id
    where run.org_id = ${orgId} and run.asset_id = any(${assetIds as string[]}::uuid[]) and o.kind <> 'manual'
    group by run.asset_id, o.id, o.provider, o.tool, o.kind, o.name, o.retired_at
    order by run.asset_id, source, o.id`.execute(tx);
  return rows;
}
