import { sql } from 'kysely';
import { importedAssets } from '../../assets/relations.ts';
import type { TenantTx } from '../../db/database.ts';
import { emitSql } from '../../events/emit.ts';
import { type Actor, systemActor } from '../../shared/actor.ts';
import { type FindingFollower, idsSql } from '../follower.ts';
import { verifiedByScan } from '../status.ts';
import { type Absence, isPartiallyCovered, isUnread } from './absence.ts';
import type { Resolution } from './resolution.ts';

export interface Closures {
  closed: number;
  /** Set if the closures wait for confirmation: how many of the open findings of the source they are. */
  withheld: { count: number; open: number } | null;
}

const CLOSED = 'A complete scan no longer reports the finding.';

const active = sql`${verifiedByScan as readonly string[]}`;

/** Findings that the source no longer reports although the run covered them, and findings that the report itself calls gone. */
function absentSql(resolution: Resolution, absence: Absence) {
  const { orgId, importId, sourceId, seenAt } = resolution;
  const unseen = sql`
    select s.finding_id from ${importedAssets} covered
    join findings f on f.org_id = ${orgId} and f.asset_id = covered.asset_id
    join sightings s on s.org_id = ${orgId} and s.finding_id = f.id and s.source_id = ${sourceId} and s.state = 'present'
    where covered.org_id = ${orgId} and covered.import_id = ${importId} and not ${isPartiallyCovered(resolution, absence)} and not ${isUnread(sql`f.location`, absence)}
      and not exists (select from tenant_import_groups g where g.org_id = ${orgId} and g.import_id = ${importId} and g.finding_id = f.id and g.present)
      and not exists (select from tenant_import_seen i where i.org_id = ${orgId} and i.import_id = ${importId} and i.finding_id = f.id)
      and not exists (select from source_coverage newer where newer.org_id = ${orgId} and newer.source_id = ${sourceId} and newer.asset_id = f.asset_id and newer.seen_at > ${seenAt})`;
  const gone = sql`select g.finding_id from tenant_import_groups g where g.org_id = ${orgId} and g.import_id = ${importId} and g.outcome = 'gone'`;
  return absence.complete ? sql`${unseen} union ${gone}` : gone;
}

export async function closeAbsent(tx: TenantTx, resolution: Resolution, absence: Absence): Promise<Closures> {
  const { orgId, importId, sourceId } = resolution;
  await keepSeenAgain(tx, resolution);
  await sql`insert into import_closures (org_id, import_id, finding_id) select ${orgId}, ${importId}, absent.finding_id from (${absentSql(resolution, absence)}) absent`.execute(
    tx,
  );
  await recordCoverage(tx, resolution, absence);
  const { rows } = await sql<{ closing: number; open: number }>`
    select (select count(*)::int from import_closures c join findings f on f.org_id = ${orgId} and f.id = c.finding_id
            where c.org_id = ${orgId} and c.import_id = ${importId} and f.status = any(${active}) and ${noOtherSees(resolution)}) as closing,
      (select count(*)::int from sightings s join findings f on f.org_id = ${orgId} and f.id = s.finding_id
            where s.org_id = ${orgId} and s.source_id = ${sourceId} and s.state = 'present' and f.status = any(${active})) as open`.execute(tx);
  const { closing, open } = rows[0] ?? { closing: 0, open: 0 };
  if (closing > absence.brake.count && closing > open * absence.brake.share) return { closed: 0, withheld: { count: closing, open } };
  return { closed: await applyClosures(tx, resolution), withheld: null };
}

/** Records for each covered asset when and how completely the source last looked at it. */
async function recordCoverage(tx: TenantTx, resolution: Resolution, absence: Absence): Promise<void> {
  const { orgId, importId, sourceId, seenAt } = resolution;
  await sql`
    insert into source_coverage as known (org_id, source_id, asset_id, import_id, seen_at, complete)
    select distinct ${orgId}::uuid, ${sourceId}::uuid, covered.asset_id, ${importId}::uuid, ${seenAt}::timestamptz, ${absence.complete}::boolean and not ${isPartiallyCovered(resolution, absence)}
    from ${importedAssets} covered where covered.org_id = ${orgId} and covered.import_id = ${importId}
    on conflict (org_id, source_id, asset_id) do update set import_id = excluded.import_id, seen_at = excluded.seen_at, complete = excluded.complete
    where known.seen_at < excluded.seen_at`.execute(tx);
}

function noOtherSees({ orgId, sourceId }: Resolution) {
  return sql`not exists (select from sightings other where other.org_id = ${orgId} and other.finding_id = f.id and other.source_id <> ${sourceId} and other.state = 'present')`;
}

/** Removes findings that this run sees from the withheld closures of earlier runs of the same source. */
async function keepSeenAgain(tx: TenantTx, { orgId, importId, sourceId, seenAt }: Resolution): Promise<void> {
  await sql`
    delete from import_closures c using imports earlier, (
      select finding_id, seen_at from tenant_import_groups where org_id = ${orgId} and import_id = ${importId} and present
      union all select finding_id, least(coalesce(last_seen, ${seenAt}::timestamptz), now()) from tenant_import_seen where org_id = ${orgId} and import_id = ${importId}
    ) g
    where earlier.org_id = ${orgId} and earlier.source_id = ${sourceId} and earlier.status = 'needs_confirmation' and c.org_id = ${orgId} and c.import_id = earlier.id
      and g.finding_id = c.finding_id
      and g.seen_at >= least(coalesce((earlier.scan_scope->>'started_at')::timestamptz, earlier.created_at), earlier.created_at)`.execute(tx);
}

/**
 * Marks the findings as absent for this source. A finding becomes verified if no other source still sees it and, if it was claimed to be remediated,
 * the scan took place after the claim. Other findings keep their status.
 */
export async function applyClosures(tx: TenantTx, { orgId, importId, sourceId, seenAt, actor }: Resolution): Promise<number> {
  await sql`
    update sightings s set state = 'absent', last_import_id = ${importId} from import_closures c
    where c.org_id = ${orgId} and c.import_id = ${importId} and s.org_id = ${orgId} and s.finding_id = c.finding_id and s.source_id = ${sourceId}
      and s.state = 'present' and s.last_seen <= ${seenAt}`.execute(tx);
  const events = sql`select id::text as subject, jsonb_build_object('from', before, 'to', 'verified', 'import_id', ${importId}::text) as data from proven`;
  const { rows } = await sql<{ closed: number }>`
    with proven as (
      select f.id, f.status as before from import_closures c
      join findings f on f.org_id = ${orgId} and f.id = c.finding_id
      where c.org_id = ${orgId} and c.import_id = ${importId} and f.status = any(${active}) and (f.status <> 'remediated' or f.status_changed_at < ${seenAt})
        and not exists (select from sightings s where s.org_id = ${orgId} and s.finding_id = f.id and s.state = 'present')
    ), emitted as (
      ${emitSql(orgId, 'finding.status_changed', events)}
    ), recorded as (
      insert into finding_history (org_id, finding_id, id, actor_type, actor_id, actor_name, import_id, action, before, after, reason)
      select ${orgId}, id, new_id(), ${actor.type}, ${actor.id}, ${actor.name}, ${importId}, 'status_changed', jsonb_build_object('status', before),
        jsonb_build_object('status', 'verified', 'assurance', case when before = 'remediated' then 'scan_after_claim' else 'scan_only' end), ${CLOSED}::text
      from proven
    ), closed as (
      update findings f set status = 'verified', assurance = case when proven.before = 'remediated' then 'scan_after_claim' else 'scan_only' end,
        status_reason = ${CLOSED}::text, status_changed_at = least(${seenAt}::timestamptz, now()), status_changed_by = null, closed_at = now(),
        version = f.version + 1, updated_at = now()
      from proven where f.org_id = ${orgId} and f.id = proven.id
      returning f.id
    )
    select count(*)::int as closed from closed`.execute(tx);
  return rows[0]?.closed ?? 0;
}

/** Passes the changed findings to the follower. Deletes the closures afterwards, unless they are withheld. */
export async function notifyFollower(tx: TenantTx, follower: FindingFollower, { orgId, importId, actor }: Resolution, changes: Changes): Promise<void> {
  if (changes.reopened + changes.closed + changes.withdrawn.length > 0) {
    await follower.follow(
      tx,
      { ...systemActor(orgId, actor.name), ...(actor as Pick<Actor, 'type' | 'id' | 'name'>) },
      sql`select finding_id from tenant_import_groups where org_id = ${orgId} and import_id = ${importId} and outcome = 'reopened'
        union all select finding_id from import_closures where org_id = ${orgId} and import_id = ${importId}
        union all ${idsSql(changes.withdrawn)}`,
    );
  }
  if (!changes.isWithheld) await sql`delete from import_closures where org_id = ${orgId} and import_id = ${importId}`.execute(tx);
}

interface Changes {
  reopened: number;
  closed: number;
  withdrawn: readonly string[];
  isWithheld: boolean;
}
