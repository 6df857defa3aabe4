import { sql } from 'kysely';
import type { TenantTx } from '../../db/database.ts';
import { emitSql } from '../../events/emit.ts';
import type { Actor } from '../../shared/actor.ts';
import { voidRequestsOfClosed } from '../decisions/decisions.ts';
import { foldAgain } from '../endings/fold-again.ts';
import { idsSql, type SeparatedPair } from '../follower.ts';
import { historySql } from '../history.ts';
import { saidByFindingSql } from '../merge/merged-values.ts';
import { countPlaces } from '../merge/write-places.ts';
import { activeStatuses } from '../status.ts';
import { aliasQuery } from './adopt-aliases.ts';
import { type Pair, pairsSql } from './move-sightings.ts';
import { splitFindings } from './split-findings.ts';

interface Revoked {
  alias: string;
  weakness: string;
  reason: string;
}

/**
 * Separates the findings of two ids that turned out not to be aliases. Findings that were merged get back what they had. Then every sighting goes to the
 * finding of the id that its source names, which is created if necessary. Requires the import lock. Returns the findings that were one, and all that changed.
 */
export async function separateAlias(tx: TenantTx, actor: Actor, revoked: Revoked): Promise<{ pairs: SeparatedPair[]; ids: string[] }> {
  const { orgId } = actor;
  const { alias, weakness, reason } = revoked;
  // If the finding that stayed had been that of the alias, the other one has its id, but no source that names it.
  const rules = sql.join(
    (['a', 'b'] as const).map(
      (named) => sql`
    select r.id from tenant_findings f join identity_rules r on r.org_id = ${orgId} and ${sql.ref(`r.${named}`)} = f.id and r.kind = 'alias' and r.revoked_at is null
    join findings a on a.org_id = ${orgId} and a.id = r.a
    join findings b on b.org_id = ${orgId} and b.id = r.b
    where f.org_id = ${orgId} and f.facets @@ ${aliasQuery([alias])}::tsquery and a.merged_into is not null and a.weakness = ${alias} and b.weakness = ${weakness}`,
    ),
    sql` union `,
  );
  const pairs = await splitFindings(tx, actor, rules, { reason });
  await restoreNames(tx, orgId, revoked, pairs);
  const moves = await planMoves(tx, orgId, revoked);
  const ids = [...new Set([...pairs.flatMap(({ from_id, into_id }) => [from_id, into_id]), ...moves.flatMap(({ from_id, to_id }) => [from_id, to_id])])];
  if (moves.length === 0) return { pairs, ids };
  await renameWhole(tx, orgId, moves);
  await createMissing(tx, actor, moves, reason);
  await moveSightings(tx, orgId, moves);
  await foldAgain(tx, actor, ids);
  await countPlaces(tx, orgId, idsSql(ids));
  await closeEmpty(tx, actor, ids);
  await voidRequestsOfClosed(tx, orgId, idsSql(ids));
  const apart = moves.filter(({ from_id, to_id }) => from_id !== to_id).map(({ from_id, to_id }) => ({ from_id: to_id, into_id: from_id, merged_at: null }));
  return { pairs: [...pairs, ...apart], ids };
}

/** If the finding that stayed had been that of the alias, it took the vulnerability's id. Both take back their own. In steps, because ids are unique. */
async function restoreNames(tx: TenantTx, orgId: string, { alias, weakness }: Revoked, pairs: readonly Pair[]): Promise<void> {
  const { rows } = await sql<Pair>`
    select pair.from_id, pair.into_id from ${pairsSql(pairs)} join lateral (
      select r.undo->'b'->'finding'->>'weakness' as was from identity_rules r where r.org_id = ${orgId} and r.a = pair.from_id and r.b = pair.into_id order by r.created_at desc, r.id desc limit 1
    ) rule on rule.was = ${alias}`.execute(tx);
  if (rows.length === 0) return;
  const swapped = pairsSql(rows);
  await sql`update findings f set identity_key = uuid_send(f.id) from ${swapped} where f.org_id = ${orgId} and f.id = pair.from_id`.execute(tx);
  await sql`update findings f set weakness = ${alias} from ${swapped} where f.org_id = ${orgId} and f.id = pair.into_id`.execute(tx);
  await sql`
    update findings f set weakness = ${weakness}, identity_key = kept.identity_key from ${swapped} join findings kept on kept.org_id = ${orgId} and kept.id = pair.into_id
    where f.org_id = ${orgId} and f.id = pair.from_id`.execute(tx);
}

interface Move {
  from_id: string;
  to_id: string;
  to_weakness: string;
  /** Whether the other finding exists, all sightings move, and which do. */
  exists: boolean;
  all: boolean;
  sightings: { source_id: string; track: number }[];
}

/** Which sightings are at the finding of the other id. A source that names the vulnerability never needed the alias. */
async function planMoves(tx: TenantTx, orgId: string, { alias, weakness }: Revoked): Promise<Move[]> {
  const affected = sql`
    select f.id, f.asset_id, f.weakness, f.identity_key, f.vulnerability_ids from tenant_findings f
    where f.org_id = ${orgId} and f.facets @@ ${aliasQuery([alias])}::tsquery and f.merged_into is null and f.weakness in (${alias}, ${weakness})`;
  await sql`
    update sightings s set said = ${saidByFindingSql} from findings f
    where s.org_id = ${orgId} and s.said is null and f.org_id = ${orgId} and f.id = s.finding_id and f.id in (select affected.id from (${affected}) affected)`.execute(
    tx,
  );
  const { rows } = await sql<Move>`
    with affected as materialized (${affected}), named as materialized (
      select f.*, s.source_id, s.track, case when s.said->'vulnerability_ids' ? ${weakness} then ${weakness} when s.said->'vulnerability_ids' ? ${alias} then ${alias} else f.weakness end as own
      from affected f join sightings s on s.org_id = ${orgId} and s.finding_id = f.id
    )
    select named.id as from_id, coalesce(other.id, new_id()) as to_id, named.own as to_weakness, other.id is not null as exists,
      (select count(*) from named every where every.id = named.id) = count(*) as all,
      jsonb_agg(jsonb_build_object('source_id', named.source_id, 'track', named.track)) as sightings
    from named
    left join findings other on other.org_id = ${orgId} and other.asset_id = named.asset_id and other.weakness = named.own and other.identity_key = named.identity_key
      and other.merged_into is null
    where named.own <> named.weakness
    group by named.id, named.own, other.id`.execute(tx);
  return rows.map((move) => (move.all && !move.exists ? { ...move, to_id: move.from_id } : move));
}

/** A finding of which every sighting names the other id takes that id. */
async function renameWhole(tx: TenantTx, orgId: string, moves: readonly Move[]): Promise<void> {
  const renamed = moves.filter(({ from_id, to_id }) => from_id === to_id);
  await sql`
    update findings f set weakness = moved.to_weakness, version = f.version + 1, updated_at = now()
    from unnest(${renamed.map(({ from_id }) => from_id)}::uuid[], ${renamed.map(({ to_weakness }) => to_weakness)}::text[]) as moved (id, to_weakness)
    where f.org_id = ${orgId} and f.id = moved.id`.execute(tx);
}

/** The other finding begins with what both had in common. It is open if a source still sees it: no decision was made about it. */
async function createMissing(tx: TenantTx, actor: Actor, moves: readonly Move[], reason: string): Promise<void> {
  const { orgId } = actor;
  const missing = moves.filter(({ exists, from_id, to_id }) => !exists && from_id !== to_id);
  if (missing.length === 0) return;
  const entries = sql`
    select id as finding_id, 'split' as action, jsonb_build_object('merged_into', from_id) as before, jsonb_build_object('status', status, 'reason_code', 'split', 'status_reason', null) as after, ${reason}::text as reason from added
    union all select from_id, 'split', '{}'::jsonb, jsonb_build_object('split', id), ${reason}::text from added`;
  const events = sql`select id::text as subject, jsonb_build_object('from', from_id, 'status', status, 'reason', ${reason}::text) as data from added`;
  await sql`
    with moved as materialized (
      select * from jsonb_to_recordset(${JSON.stringify(missing)}::jsonb) as moved (from_id uuid, to_id uuid, to_weakness text, sightings jsonb)
    ), added as materialized (
      select copied.*, moved.from_id
      from moved join findings f on f.org_id = ${orgId} and f.id = moved.from_id
      cross join lateral (
        select coalesce(bool_or(s.state = 'present'), false) as present from jsonb_to_recordset(moved.sightings) as own (source_id uuid, track smallint)
        join sightings s on s.org_id = ${orgId} and s.finding_id = moved.from_id and s.source_id = own.source_id and s.track = own.track
      ) seen
      cross join jsonb_populate_record(f, jsonb_build_object('id', moved.to_id, 'weakness', moved.to_weakness, 'status', case when seen.present then 'open' else 'withdrawn' end,
          'status_reason', null, 'reason_code', 'split', 'status_changed_at', now(), 'status_changed_by', ${actor.person?.id ?? null}::text, 'assurance', null,
          'acceptance_owner', null, 'acceptance_expires_at', null, 'compensating_control', null, 'justification', null, 'closed_at', case when not seen.present then now() end,
          'severity', f.source_severity, 'severity_override', null, 'severity_override_by', null, 'severity_override_reason', null,
          'version', 1, 'created_at', now(), 'updated_at', now())) copied
    ), recorded as (${historySql(actor, entries)}), emitted as (${emitSql(orgId, 'finding.split', events)})
    insert into findings select copied.* from added cross join jsonb_populate_record(null::findings, to_jsonb(added)) copied`.execute(tx);
}

async function moveSightings(tx: TenantTx, orgId: string, moves: readonly Move[]): Promise<void> {
  const moving = moves.filter(({ from_id, to_id }) => from_id !== to_id);
  const moved = sql`(
    select move.from_id, move.to_id, own.source_id, own.track from jsonb_to_recordset(${JSON.stringify(moving)}::jsonb) as move (from_id uuid, to_id uuid, sightings jsonb)
    cross join lateral jsonb_to_recordset(move.sightings) as own (source_id uuid, track smallint))`;
  // A source that has a sighting of both says about the other one what it said last.
  const doubled = sql`
    ${moved} moved where exists (select from sightings known where known.org_id = ${orgId} and known.finding_id = moved.to_id and known.source_id = moved.source_id and known.track = moved.track)`;
  for (const table of ['occurrences', 'sightings']) {
    await sql`
      delete from ${sql.table(table)} own using ${doubled} and own.org_id = ${orgId} and own.finding_id = moved.from_id and own.source_id = moved.source_id and own.track = moved.track`.execute(
      tx,
    );
  }
  await sql`
    update sightings s set finding_id = moved.to_id from ${moved} moved
    where s.org_id = ${orgId} and s.finding_id = moved.from_id and s.source_id = moved.source_id and s.track = moved.track`.execute(tx);
  // Columns that are merged from sightings never lose a source by themselves.
  await sql`
    update findings f set source_ids = array(select distinct s.source_id from sightings s where s.org_id = ${orgId} and s.finding_id = f.id order by 1)
    where f.org_id = ${orgId} and f.id in (${idsSql(moving.flatMap(({ from_id, to_id }) => [from_id, to_id]))})`.execute(tx);
}

/** Findings that no source sees any more, because all that saw them meant another vulnerability. */
async function closeEmpty(tx: TenantTx, actor: Actor, ids: readonly string[]): Promise<void> {
  const { orgId } = actor;
  const entries = sql`
    select id as finding_id, 'status_changed' as action, jsonb_build_object('status', status, 'reason_code', reason_code) as before,
      jsonb_build_object('status', 'withdrawn', 'reason_code', 'split') as after, null as reason from empty`;
  const events = sql`select id::text as subject, jsonb_build_object('from', status, 'to', 'withdrawn', 'reason_code', 'split') as data from empty`;
  await sql`
    with empty as materialized (
      select f.id, f.status, f.reason_code from findings f
      where f.org_id = ${orgId} and f.id in (${idsSql(ids)}) and f.merged_into is null and f.status = any(${activeStatuses as readonly string[]})
        and not exists (select from sightings s where s.org_id = ${orgId} and s.finding_id = f.id and s.state = 'present')
    ), recorded as (${historySql(actor, entries)}), emitted as (${emitSql(orgId, 'finding.status_changed', events)})
    update findings f set status = 'withdrawn', reason_code = 'split', status_reason = null, status_changed_at = now(), status_changed_by = ${actor.person?.id ?? null}::text,
      assurance = null, closed_at = now(), version = f.version + 1, updated_at = now()
    from empty where f.org_id = ${orgId} and f.id = empty.id`.execute(tx);
}
