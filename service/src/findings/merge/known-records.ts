import { sql } from 'kysely';
import type { Database, TenantTx } from '../../db/database.ts';
import { reopenedByScan } from '../status.ts';
import type { Groups } from './group-records.ts';
import type { Resolution } from './resolution.ts';
import { isLessAble, runOfSql, runsSql } from './write-sightings.ts';

/**
 * Most records of a scan repeat the last scan. They are recognized by their content and take a fast path. This error means that a record
 * believed to be unchanged was changed meanwhile.
 */
export class FastPathMissed extends Error {}

/** Whether a scan that shows the finding `f` again changes no more than when it was seen. It may list one that only branches have that do not count. */
const untouched = sql`(f.listed and f.status <> all(${reopenedByScan as readonly string[]}))`;

/** What records say and when they saw it, one array for each. */
export interface SaidContents {
  /** Digests in hex. */
  contents: string[];
  firstSeen: (Date | null)[];
  lastSeen: (Date | null)[];
}

/**
 * Finds findings by the content of a present sighting, with one index probe per content, regardless of the size of the table. Records with such a content
 * are staged as seen. Returns their positions.
 */
export function stageKnown(db: Database, { orgId, importId }: { orgId: string; importId: string }): (said: SaidContents) => Promise<number[]> {
  return ({ contents, firstSeen, lastSeen }) =>
    db.withTenant({ orgId }, async (tx) => {
      // decode is not leakproof: in the condition on sightings, it would be computed after row-level security, for all sightings of the organization.
      // In steps, because the statistics know nothing of a new organization: the planner would go through all its findings for each content.
      // Combining the index of contents with that of organizations would read all sightings of this one for each content.
      await sql`set local enable_bitmapscan = off`.execute(tx);
      const { rows } = await sql<{ positions: number[] | null }>`
        with asked as materialized (
          select n, decode(content, 'hex') as content, first_seen, last_seen
          from unnest(${contents}::text[], ${firstSeen}::timestamptz[], ${lastSeen}::timestamptz[]) with ordinality as given (content, first_seen, last_seen, n)
        ), found as materialized (
          select asked.*, known.finding_id from asked
          cross join lateral (select s.finding_id from sightings s where s.content = asked.content and s.org_id = ${orgId} and s.state = 'present' offset 0) known
        ), chosen as materialized (
          select distinct on (n) n, finding_id, content, first_seen, last_seen from found
          where (select ${untouched} from findings f where f.org_id = ${orgId} and f.id = found.finding_id)
          order by n, finding_id
        ), staged as (
          insert into tenant_import_seen (org_id, import_id, finding_id, content, first_seen, last_seen)
          select ${orgId}, ${importId}, finding_id, content, first_seen, last_seen from chosen
        )
        select array_agg(n::int - 1) as positions from chosen`.execute(tx);
      return rows[0]?.positions ?? [];
    });
}

/**
 * Under the import lock, records that were recognized while staging must still match a finding on an asset of the run, and no other record of the report may be about the same
 * finding. Otherwise the report is staged again in full. Then the findings are marked as seen, at most once a day: writing on each scan would cost
 * more than everything else. Returns whether any of them has or had several places.
 */
export async function markSeen(tx: TenantTx, resolution: Resolution, groups: Groups): Promise<boolean> {
  const { orgId, importId, sourceId } = resolution;
  const { rows } = await sql<{ lost: boolean; earlier: boolean; stale: boolean; lower: boolean; several: boolean }>`
    with run as materialized (select * from ${runsSql(resolution)} runs)
    select coalesce(bool_or(f.id is null or run.asset_id is null), false) as lost,
      coalesce(bool_or(least(i.first_seen, ${seenAtSql}) < s.first_seen or s.unseen @> ${seenAtSql}), false) as earlier,
      coalesce(bool_or(least(s.last_seen, f.last_seen) < date_trunc('day', ${seenAtSql}, 'UTC')), false) as stale,
      coalesce(bool_or(${isLessAble}), false) as lower,
      coalesce(bool_or(s.place is null), false) as several
    from tenant_import_seen i
    left join lateral (
      select own.finding_id, own.track, own.first_seen, own.last_seen, own.unseen, own.bar_credentialed, own.bar_knowledge_at, own.place from sightings own
      where own.org_id = ${orgId} and own.finding_id = i.finding_id and own.source_id = ${sourceId} and own.content = i.content and own.state = 'present' offset 0) s on true
    left join lateral (select f.id, f.asset_id, f.last_seen from findings f where f.org_id = ${orgId} and f.id = s.finding_id and ${untouched} offset 0) f on true
    left join run on run.asset_id = f.asset_id and run.track = s.track
    where i.org_id = ${orgId} and i.import_id = ${importId}`.execute(tx);
  const { rows: twice } = groups.known
    ? await sql`
    select from tenant_import_groups g join tenant_import_seen i on i.org_id = ${orgId} and i.import_id = ${importId} and i.finding_id = g.finding_id
    where g.org_id = ${orgId} and g.import_id = ${importId} limit 1`.execute(tx)
    : { rows: [] };
  const { lost, earlier, stale, lower, several } = rows[0] ?? {};
  // A report that arrives late moves the time at which a finding was first seen, or shows that it was there in between.
  if (lost || earlier || twice.length > 0) throw new FastPathMissed();
  if (stale || lower) await refreshSeen(tx, resolution);
  return several === true;
}

const seenAtSql = sql`least(coalesce(i.last_seen, run.ended_at), now())`;

async function refreshSeen(tx: TenantTx, resolution: Resolution): Promise<void> {
  const { orgId, importId, sourceId } = resolution;
  const seen = sql`
    with run as materialized (
      select s.finding_id, s.track, max(${seenAtSql}) as seen_at, bool_and(run.credentialed) as credentialed, min(run.knowledge_at) as knowledge_at
      from tenant_import_seen i
      cross join lateral (
        select own.* from sightings own where own.org_id = ${orgId} and own.finding_id = i.finding_id and own.source_id = ${sourceId} and own.content = i.content offset 0) s
      cross join lateral (select own.asset_id from findings own where own.org_id = ${orgId} and own.id = s.finding_id offset 0) f
      cross join lateral ${runOfSql(resolution, { asset: sql`f.asset_id`, track: sql`s.track` })} run
      where i.org_id = ${orgId} and i.import_id = ${importId} group by 1, 2
    )`;
  await sql`${seen} update sightings s set last_seen = greatest(s.last_seen, run.seen_at), last_import_id = ${importId}, seen_import_id = ${importId},
      bar_credentialed = s.bar_credentialed and run.credentialed, bar_knowledge_at = least(s.bar_knowledge_at, run.knowledge_at) from run
    where s.org_id = ${orgId} and s.finding_id = run.finding_id and s.source_id = ${sourceId} and s.track = run.track
      and (s.last_seen < date_trunc('day', run.seen_at, 'UTC') or ${isLessAble})`.execute(tx);
  await sql`${seen} update occurrences o set last_seen = run.seen_at from run join sightings s on s.org_id = ${orgId} and s.finding_id = run.finding_id and s.source_id = ${sourceId} and s.track = run.track and s.place is null
      join findings f on f.org_id = ${orgId} and f.id = run.finding_id
    where o.org_id = ${orgId} and o.finding_id = run.finding_id and o.source_id = ${sourceId} and o.track = run.track and o.state = 'present'
      and o.last_seen < date_trunc('day', run.seen_at, 'UTC') and o.location = coalesce(s.said->'location', f.location)`.execute(tx);
  await sql`${seen} update findings f set last_seen = run.seen_at from run
    where f.org_id = ${orgId} and f.id = run.finding_id and f.last_seen < date_trunc('day', run.seen_at, 'UTC')`.execute(tx);
}
