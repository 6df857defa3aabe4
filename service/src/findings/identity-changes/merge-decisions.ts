import { type RawBuilder, sql } from 'kysely';
import type { TenantTx } from '../../db/database.ts';
import { isUncovered, placesSql } from '../decisions/places.ts';
import { activeStatuses } from '../status.ts';
import { type Pair, pairsSql } from './move-sightings.ts';

const active = sql`any(${activeStatuses as readonly string[]}::text[])`;

/**
 * The active decisions that stay when their finding becomes one with an open one, because that one is reported only at places that they do not cover. Where both
 * are at one place, the open one wins. Call it while each finding has its own sightings.
 */
export async function decisionsThatStay(tx: TenantTx, orgId: string, pairs: readonly Pair[]): Promise<string[]> {
  const isCovered = sql`exists (select from ${placesSql(orgId)} p where p.finding_id = f.id and p.present and p.label = any(d.places))`;
  const { rows } = await sql<{ id: string }>`
    select d.id from ${pairsSql(pairs)} cross join lateral (values (from_id, into_id), (into_id, from_id)) as side (decided, other)
    join decisions d on d.org_id = ${orgId} and d.finding_id = side.decided and d.state = 'active'
    join findings f on f.org_id = ${orgId} and f.id = side.other and f.status = ${active}
    where ${isUncovered(orgId)} and not ${isCovered}`.execute(tx);
  return rows.map(({ id }) => id);
}

interface Merging {
  pairs: readonly Pair[];
  /** The merged findings whose status the ones that stay get. */
  winners: RawBuilder<unknown>;
  /** What `decisionsThatStay` found. */
  staying: readonly string[];
}

/** The columns that make up a decision. */
const terms = sql`kind, scope, person, person_name, approver, approver_name, approver_reason, reason, owner, expires_at, compensating_control, justification, severity, kev, places,
  requested_at, decided_at`;

/**
 * The findings that stay lose the decisions that would hide an open one, and get the decisions of the merged ones that hold for both or stay on their places. Call it
 * when sightings have moved and statuses have not.
 */
export async function adoptDecisions(tx: TenantTx, orgId: string, { pairs, winners, staying }: Merging): Promise<void> {
  const stays = sql`d.id = any(${staying as string[]}::uuid[])`;
  const other = sql`${pairsSql(pairs)} join findings f on f.org_id = ${orgId} and f.id = pair.from_id
    where not exists (select from decisions own where own.org_id = ${orgId} and own.finding_id = f.id and own.state = 'active')`;
  await sql`
    update decisions d set state = case d.state when 'active' then 'ended' else 'void' end, ended_at = now(), ended_reason = 'merged'
    where d.org_id = ${orgId} and not ${stays} and ((d.state in ('active', 'requested') and d.finding_id in (select into_id from ${winners} won))
      or (d.state = 'active' and d.finding_id in (select pair.into_id from ${other} and f.status = ${active})))`.execute(tx);
  await sql`
    with adopted as (
      insert into decisions (org_id, finding_id, id, copy_of, state, ${terms})
      select d.org_id, pair.into_id, new_id(), d.id, d.state, ${terms} from ${pairsSql(pairs)} join decisions d on d.org_id = ${orgId} and d.finding_id = pair.from_id and d.state = 'active'
      where (${stays} or pair.from_id in (select id from ${winners} won))
        and not exists (select from decisions own where own.org_id = ${orgId} and own.finding_id = pair.into_id and own.state = 'active')
      returning finding_id
    )
    update findings f set reason_code = 'merged' from adopted where f.org_id = ${orgId} and f.id = adopted.finding_id and f.status = 'open'`.execute(tx);
}

/**
 * If the same was decided about both, one decision covers the places of both: the stricter one, of the lower severity and the earlier end. It begins with the
 * merge, so that a split can tell it from those that it replaces.
 */
export async function joinDecisions(tx: TenantTx, orgId: string, pairs: readonly Pair[]): Promise<void> {
  await sql`
    with same as materialized (
      select own.*, theirs.places as their_places, theirs.scope as their_scope, theirs.severity as their_severity, theirs.kev as their_kev, theirs.expires_at as their_end
      from ${pairsSql(pairs)} join decisions own on own.org_id = ${orgId} and own.finding_id = pair.into_id and own.state = 'active'
      join decisions theirs on theirs.org_id = ${orgId} and theirs.finding_id = pair.from_id and theirs.state = 'active' and theirs.kind = own.kind
      where own.places is distinct from theirs.places
    ), kept as (
      insert into decisions (org_id, finding_id, id, copy_of, state, ${terms}, ended_at, ended_reason)
      select org_id, finding_id, new_id(), copy_of, 'ended', ${terms}, now(), 'merged' from same
    )
    update decisions d set places = distinct_sorted(same.places || same.their_places), scope = case when same.their_scope = 'finding' then same.scope else same.their_scope end,
      expires_at = least(same.expires_at, same.their_end), severity = least(same.severity, same.their_severity), kev = same.kev and same.their_kev, decided_at = now()
    from same where d.org_id = ${orgId} and d.finding_id = same.finding_id and d.id = same.id`.execute(tx);
  await sql`
    update findings f set acceptance_expires_at = d.expires_at from ${pairsSql(pairs)} join decisions d on d.org_id = ${orgId} and d.finding_id = pair.into_id and d.state = 'active'
    where f.org_id = ${orgId} and f.id = pair.into_id and f.status = 'risk_accepted' and f.acceptance_expires_at > d.expires_at`.execute(tx);
}

/** Nothing is decided about findings that are no longer listed. */
export async function endDecisionsOfMerged(tx: TenantTx, orgId: string, pairs: readonly Pair[]): Promise<void> {
  await sql`
    update decisions d set state = case d.state when 'active' then 'ended' else 'void' end, ended_at = now(), ended_reason = 'merged' from ${pairsSql(pairs)}
    where d.org_id = ${orgId} and d.finding_id = pair.from_id and d.state in ('active', 'requested')`.execute(tx);
}
