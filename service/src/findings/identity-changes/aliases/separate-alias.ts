import { sql } from 'kysely';
import type { TenantTx } from '../../../db/database.ts';
import { emitSql } from '../../../events/emit.ts';
import type { Actor } from '../../../shared/actor.ts';
import { voidRequestsOfClosed } from '../../decisions/decisions.ts';
import { foldAgain } from '../../endings/fold-again.ts';
import { idsSql, type SeparatedPair } from '../../follower.ts';
import { historySql } from '../../history.ts';
import { countPlaces } from '../../merge/write-places.ts';
import { activeStatuses } from '../../status.ts';
import { type Pair, pairsSql } from '../move-sightings.ts';
import { keepOwnIds } from '../named-ids.ts';
import { reopenUnproven } from '../reopen-unproven.ts';
import { followDecisions, setTimes, splitFindings } from '../split-findings.ts';
import { ownIdSql, renameFindings } from './adopt-aliases.ts';
import { giveSightings, type Move, names, ofIds, planMoves } from './give-sightings.ts';

interface Revoked {
  alias: string;
  weakness: string;
  reason: string;
}

/**
 * Separates the findings of two ids that turned out not to be aliases. Findings that were merged get back what they had. Then every sighting goes to the
 * finding of the id that its source names, which is created if necessary, or to both if the source names both. Requires the import lock. Returns the findings that were one, and all that changed.
 */
export async function separateAlias(tx: TenantTx, actor: Actor, revoked: Revoked): Promise<{ pairs: SeparatedPair[]; ids: string[] }> {
  const { orgId } = actor;
  const { reason } = revoked;
  const rules = await findRules(tx, orgId, revoked);
  const split = await splitFindings(tx, actor, idsSql(rules.map(({ id }) => id)), { reason });
  const only = new Set(rules.filter(({ is_only }) => is_only).map(({ a }) => a));
  await restoreNames(
    tx,
    orgId,
    revoked,
    split.filter(({ from_id }) => only.has(from_id)),
  );
  const pairIds = split.flatMap(({ from_id, into_id }) => [from_id, into_id]);
  const returned = await returnOwnIds(tx, actor, revoked);
  const moves = await planMoves(tx, orgId, revoked, [...pairIds, ...returned]);
  const apart = moves.filter(({ from_id, to_id }) => from_id !== to_id);
  const ids = [...new Set([...pairIds, ...returned, ...moves.flatMap(({ from_id, to_id }) => [from_id, to_id])])];
  if (ids.length === 0) return { pairs: [], ids };
  await renameWhole(tx, actor, moves, reason);
  await createMissing(tx, actor, apart, reason);
  if (apart.length > 0) await giveSightings(tx, orgId, apart);
  await keepOwnIds(tx, orgId, revoked, ids);
  await setTimes(tx, orgId, ids);
  await foldAgain(tx, actor, ids);
  await countPlaces(tx, orgId, idsSql(ids));
  await closeEmpty(tx, actor, ids);
  await reopenUnproven(tx, actor, ids, 'split');
  await followDecisions(tx, actor, ids);
  await voidRequestsOfClosed(tx, orgId, idsSql(ids));
  const created = apart.filter(({ exists }) => !exists).map(({ from_id, to_id }) => ({ from_id: to_id, into_id: from_id, merged_at: null }));
  return { pairs: [...split, ...created], ids };
}

interface AliasRule {
  id: string;
  /** The finding that has the id of the alias. */
  a: string;
  /** Whether no other alias has been merged into the same finding. */
  is_only: boolean;
}

/**
 * The rules by which findings of the alias were merged. If the finding that stayed then was merged itself because of another alias, the finding of the alias is
 * separated from the one that stands for all. If the finding that stayed had been that of the alias, the other one has its id, but no source that names it.
 */
async function findRules(tx: TenantTx, orgId: string, { alias, weakness }: Revoked): Promise<AliasRule[]> {
  const { rows } = await sql<AliasRule & { root: string; moved: boolean }>`
    select r.id, r.a, root.id as root, r.b <> root.id and root.weakness = ${weakness} as moved,
      not exists (select from identity_rules other where other.org_id = ${orgId} and other.b in (root.id, r.b) and other.id <> r.id and other.kind = 'alias' and other.revoked_at is null) as is_only
    from ${ofIds(orgId, [alias])} and f.merged_into is not null
    join findings root on root.org_id = ${orgId} and root.id = f.merged_into
    join identity_rules r on r.org_id = ${orgId} and r.a = f.id and r.kind = 'alias' and r.revoked_at is null
    join findings b on b.org_id = ${orgId} and b.id = r.b
    where ${weakness} in (b.weakness, root.weakness)`.execute(tx);
  const moved = rows.filter((row) => row.moved);
  await sql`
    update identity_rules r set b = moved.root from unnest(${moved.map(({ id }) => id)}::uuid[], ${moved.map(({ root }) => root)}::uuid[]) as moved (id, root)
    where r.org_id = ${orgId} and r.id = moved.id`.execute(tx);
  return rows;
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

/** Findings that were known by the alias until it counted are known by it again, with what people have decided about them. Returns them. */
async function returnOwnIds(tx: TenantTx, actor: Actor, { alias, weakness, reason }: Revoked): Promise<string[]> {
  const { orgId } = actor;
  const { rows } = await sql<{ id: string }>`
    select f.id from ${ofIds(orgId, [weakness])} and f.merged_into is null and ${names(orgId, alias)}
    where ${ownIdSql(orgId)} = ${alias} and not exists (
      select from findings other where other.org_id = ${orgId} and other.asset_id = f.asset_id and other.weakness = ${alias} and other.identity_key = f.identity_key)`.execute(
    tx,
  );
  const ids = rows.map(({ id }) => id);
  if (ids.length > 0) await renameFindings(tx, actor, { renamed: sql`select id, ${alias}::text as weakness from unnest(${ids}::uuid[]) as one (id)`, reason });
  return ids;
}

/** A finding of which every sighting names the other id takes that id. */
async function renameWhole(tx: TenantTx, actor: Actor, moves: readonly Move[], reason: string): Promise<void> {
  const whole = moves.filter(({ from_id, to_id }) => from_id === to_id);
  if (whole.length === 0) return;
  const renamed = sql`select * from unnest(${whole.map(({ from_id }) => from_id)}::uuid[], ${whole.map(({ to_weakness }) => to_weakness)}::text[]) as moved (id, weakness)`;
  await renameFindings(tx, actor, { renamed, reason });
}

/** The other finding begins with what both had in common. It is open if a source still sees it: no decision was made about it. */
async function createMissing(tx: TenantTx, actor: Actor, moves: readonly Move[], reason: string): Promise<void> {
  const { orgId } = actor;
  const missing = moves.filter(({ exists }) => !exists);
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
