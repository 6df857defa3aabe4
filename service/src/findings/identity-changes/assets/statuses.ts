import { sql } from 'kysely';
import type { TenantTx } from '../../../db/database.ts';
import type { Actor } from '../../../shared/actor.ts';
import { historySql } from '../../history.ts';
import { type ReasonCode, reasonSentences } from '../../reason-codes.ts';
import type { Status } from '../../status.ts';
import { statusColumns } from '../merge-findings.ts';
import type { Unseen } from '../split-findings.ts';
import { type Sides, sidesSql } from './sides.ts';

/** What a merge and the reports after it can change of a finding about which something was decided. */
const columns = [...statusColumns, 'clock_from', 'due_at', 'reopen_count'] as const;

/** The status and the decisions of a finding before its asset was merged. Only of those that are not simply open. */
export interface StatusBefore {
  id: string;
  finding: Record<string, unknown>;
  decisions: { id: string; state: string }[];
  /** The places that each source reported. */
  places: { source_id: string; track: number; place: string | null; occurrences: { place: string; state: string }[] }[];
}

export async function readStatusesBefore(tx: TenantTx, orgId: string, assets: readonly string[]): Promise<StatusBefore[]> {
  const { rows } = await sql<StatusBefore>`
    select f.id, jsonb_build_object(${sql.join(columns.flatMap((column) => [sql.lit(column), sql.ref(`f.${column}`)]))}) as finding, coalesce(made.decisions, '[]') as decisions,
      (select coalesce(jsonb_agg(jsonb_build_object('source_id', s.source_id, 'track', s.track, 'place', s.place, 'occurrences', (
          select coalesce(jsonb_agg(jsonb_build_object('place', o.place, 'state', o.state)), '[]') from occurrences o
          where o.org_id = ${orgId} and o.finding_id = f.id and o.source_id = s.source_id and o.track = s.track))), '[]')
        from sightings s where s.org_id = ${orgId} and s.finding_id = f.id) as places
    from findings f
    cross join lateral (
      select jsonb_agg(jsonb_build_object('id', d.id, 'state', d.state)) as decisions from decisions d where d.org_id = ${orgId} and d.finding_id = f.id and d.state in ('active', 'requested')
    ) made
    where f.org_id = ${orgId} and f.asset_id = any(${assets as string[]}::uuid[]) and f.merged_into is null and (f.status <> 'open' or made.decisions is not null)`.execute(
    tx,
  );
  return rows;
}

const DECIDED: readonly unknown[] = ['risk_accepted', 'false_positive'] satisfies Status[];
/** Why merges and separations change a status. */
const moving = ['merged', 'split', 'asset_unmerged', 'track_unmerged'] satisfies ReasonCode[];

/**
 * Findings of the asset `into` whose status was changed since the merge, and only by reports about the asset that they do not belong to. If a person had decided
 * about them before, also by reports about their own asset: whether the decision still holds follows from what these show. Call it before anything is separated.
 */
export async function changedByOthers(
  tx: TenantTx,
  orgId: string,
  { into, mergedAt }: { into: string; mergedAt: Date },
  { own, sides, statuses }: { own: readonly string[]; sides: Sides; statuses: readonly StatusBefore[] },
): Promise<string[]> {
  const decided = statuses.flatMap(({ id, finding }) => (DECIDED.includes(finding.status) ? [id] : []));
  const { rows } = await sql<{ id: string }>`
    with named as materialized (select import_id, case when count(distinct side) = 1 then min(side) end as side from ${sidesSql(sides)} group by 1)
    select f.id from findings f
    join finding_history h on h.org_id = ${orgId} and h.finding_id = f.id and h.occurred_at > ${mergedAt} and h.after ? 'status'
    left join named on named.import_id = h.import_id
    where f.org_id = ${orgId} and f.asset_id = ${into} and f.merged_into is null
    group by f.id having bool_and(coalesce(named.side = case when f.id = any(${own as string[]}::uuid[]) then 'into' else 'from' end, false))
      or (f.id = any(${decided}::uuid[]) and bool_and(h.import_id is not null or coalesce(h.after->>'reason_code' = any(${moving}::text[]), false)))`.execute(
    tx,
  );
  return rows.map(({ id }) => id);
}

/** Takes the places away that only reports about the other asset have shown. Call it while tracks have the numbers of the asset that stayed. */
export async function restorePlaces(tx: TenantTx, orgId: string, statuses: readonly StatusBefore[], unseen: readonly Unseen[]): Promise<void> {
  const known = new Set(unseen.map(({ finding_id, source_id, track }) => `${finding_id} ${source_id} ${track}`));
  const stale = statuses.flatMap(({ id, places }) =>
    places.flatMap((one) => (known.has(`${id} ${one.source_id} ${one.track}`) ? [{ finding_id: id, ...one }] : [])),
  );
  if (stale.length === 0) return;
  const was = sql`jsonb_to_recordset(${JSON.stringify(stale)}) as was (finding_id uuid, source_id uuid, track smallint, place text, occurrences jsonb)`;
  const same = (x: string) =>
    sql`${sql.ref(`${x}.org_id`)} = ${orgId} and ${sql.ref(`${x}.finding_id`)} = was.finding_id and ${sql.ref(`${x}.source_id`)} = was.source_id and ${sql.ref(`${x}.track`)} = was.track`;
  await sql`
    delete from occurrences o using ${was}
    where ${same('o')} and o.place <> all(array(select (one->>'place')::bytea from jsonb_array_elements(was.occurrences) as one))`.execute(tx);
  await sql`
    update occurrences o set state = one->>'state' from ${was} cross join lateral jsonb_array_elements(was.occurrences) as one
    where ${same('o')} and o.place = (one->>'place')::bytea`.execute(tx);
  await sql`update sightings s set place = was.place from ${was} where ${same('s')}`.execute(tx);
}

/** Gives findings the status and the decisions back that they had before the merge. */
export async function restoreStatuses(tx: TenantTx, actor: Actor, statuses: readonly StatusBefore[], mergedAt: Date): Promise<void> {
  if (statuses.length === 0) return;
  const { orgId } = actor;
  const given = sql`was as materialized (select * from jsonb_to_recordset(${JSON.stringify(statuses)}) as was (id uuid, finding jsonb, decisions jsonb))`;
  const made = sql`(select (one->>'id')::uuid as id, one->>'state' as state from jsonb_array_elements(was.decisions) as one)`;
  await sql`
    with ${given}
    update decisions d set state = 'ended', ended_at = now(), ended_reason = 'split' from was
    where d.org_id = ${orgId} and d.finding_id = was.id and d.state = 'active' and d.decided_at <= ${mergedAt} and d.id not in (select id from ${made} made)`.execute(
    tx,
  );
  await sql`
    with ${given}
    update decisions d set state = made.state, ended_at = null, ended_reason = null from was cross join lateral ${made} made
    where d.org_id = ${orgId} and d.finding_id = was.id and d.id = made.id and d.state in ('ended', 'void')`.execute(tx);
  const sentence = sql`${reasonSentences.asset_unmerged}::text`;
  const entries = sql`
    select f.id as finding_id, 'status_changed' as action, jsonb_build_object('status', f.status, 'reason_code', f.reason_code) as before,
      jsonb_build_object('status', was.finding->>'status', 'reason_code', 'asset_unmerged') as after, ${sentence} as reason
    from was join findings f on f.org_id = ${orgId} and f.id = was.id where f.status <> was.finding->>'status'`;
  await sql`
    with ${given}, recorded as (${historySql(actor, entries)})
    update findings f set ${sql.join(columns.map((column) => sql`${sql.ref(column)} = ${sql.ref(`own.${column}`)}`))}, version = f.version + 1, updated_at = now()
    from was cross join lateral jsonb_populate_record(null::findings, was.finding) own
    where f.org_id = ${orgId} and f.id = was.id`.execute(tx);
}
