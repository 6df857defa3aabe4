import { vulnerabilityIds } from '@rrs/scan-reports/normalize.ts';
import { sql } from 'kysely';
import { recordAudit } from '../audit/record.ts';
import type { TenantTx } from '../db/database.ts';
import { fetchPage, type PageRequest } from '../db/pages.ts';
import { emit } from '../events/emit.ts';
import type { Actor } from '../shared/actor.ts';
import { AppError } from '../shared/errors.ts';
import { hasAlias, isCve } from './aliases.ts';
import { countingClaims } from './relations.ts';

export interface AliasRow {
  id: string;
  alias: string;
  weakness: string;
  origin: 'knowledge' | 'sources' | 'person' | 'claim';
  counts_for: 'all' | 'claimants' | 'none';
  claims: { provider: string; weakness: string; claimed_at: string }[];
  created_at: Date;
  added_by: string | null;
  added_reason: string | null;
  revoked_at: Date | null;
  revoked_by: string | null;
  revoked_reason: string | null;
}

/** Applies a change of aliases to the findings, in the same transaction. Passed in, because findings depend on vulnerabilities. */
export interface AliasFollower {
  /** Keeps imports out. Called first. */
  prepare(tx: TenantTx, orgId: string): Promise<void>;
  /** The ids among the given ones that findings of the organization have. */
  reported(tx: TenantTx, orgId: string, ids: readonly string[]): Promise<string[]>;
  /** Called when aliases count, for all records or for those of the tools `providers` only. */
  adopt(tx: TenantTx, actor: Actor, aliases: readonly string[], providers: readonly string[]): Promise<void>;
  /** Called when an alias no longer counts. */
  separate(tx: TenantTx, actor: Actor, revoked: { alias: string; weakness: string; reason: string }): Promise<void>;
}

/** Aliases that were confirmed or revoked, and claims of tools that were not. */
function aliasesSql(orgId: string) {
  return sql<AliasRow>`(
    select md5(known.alias || ' ' || known.weakness)::uuid as id, known.alias, known.weakness, known.origin, case when known.revoked_at is null then 'all' else 'none' end as counts_for,
      (${claimsSql(orgId, sql`known.alias`)}) as claims, known.confirmed_at as created_at, known.confirmed_by as added_by, known.confirmed_reason as added_reason,
      known.revoked_at, known.revoked_by, known.revoked_reason
    from vulnerability_aliases known where known.org_id = ${orgId}
    union all
    select md5(claim.alias || ' ' || claim.weakness)::uuid, claim.alias, claim.weakness, 'claim',
      case when bool_or(counting.alias is not null) then 'claimants' else 'none' end,
      (${claimsSql(orgId, sql`claim.alias`)}), min(claim.claimed_at), null, null, null, null, null
    from alias_claims claim
    left join lateral (
      select one.alias from ${countingClaims} one
      where one.org_id = claim.org_id and one.alias = claim.alias and one.weakness = claim.weakness and one.provider = claim.provider offset 0) counting on true
    where not exists (select from vulnerability_aliases known where known.org_id = ${orgId} and known.alias = claim.alias and known.weakness = claim.weakness) and claim.org_id = ${orgId}
    group by claim.alias, claim.weakness)`;
}

const claimsSql = (orgId: string, alias: ReturnType<typeof sql>) => sql`
  select coalesce(jsonb_agg(jsonb_build_object('provider', c.provider, 'weakness', c.weakness, 'claimed_at', c.claimed_at) order by c.claimed_at, c.provider, c.weakness), '[]')
  from alias_claims c where c.org_id = ${orgId} and c.alias = ${alias}`;

interface AliasFilter {
  alias?: string | undefined;
  vulnerability?: string | undefined;
  counts_for?: readonly AliasRow['counts_for'][] | undefined;
}

export function listAliases(tx: TenantTx, orgId: string, { alias, vulnerability, counts_for }: AliasFilter, page: PageRequest) {
  let query = tx.selectFrom(aliasesSql(orgId).as('aliases')).selectAll();
  if (alias !== undefined) query = query.where('alias', '=', canonical(alias));
  if (vulnerability !== undefined) query = query.where('weakness', '=', canonical(vulnerability));
  if (counts_for) query = query.where('counts_for', 'in', counts_for);
  return fetchPage(tx, query, { created_at: { column: 'created_at', type: 'timestamptz' }, alias: { column: 'alias', type: 'text' } }, page);
}

/** Of several claims about one alias, the one that counts comes first. */
async function readAlias(tx: TenantTx, orgId: string, alias: string): Promise<AliasRow> {
  const row = await tx
    .selectFrom(aliasesSql(orgId).as('aliases'))
    .selectAll()
    .where('alias', '=', alias)
    .orderBy(sql`origin = 'claim' and revoked_at is null, weakness`)
    .executeTakeFirst();
  if (!row) throw new AppError('not_found', `No report and no person has named "${alias}" as an alias. \`GET /vulnerability-aliases\` lists the aliases.`);
  return row;
}

interface Addition {
  alias: string;
  vulnerability: string;
  reason: string;
}

/** Lets an id count as an alias because a person says so. */
export async function addAlias(tx: TenantTx, actor: Actor, follower: AliasFollower, given: Addition): Promise<AliasRow> {
  const { orgId } = actor;
  const [alias, vulnerability] = [canonical(given.alias), canonical(given.vulnerability)];
  if (alias === vulnerability) throw new AppError('unprocessable', `"${alias}" cannot be an alias of itself.`);
  if (isCve(alias)) throw new AppError('unprocessable', `"${alias}" is a CVE, which stands for a vulnerability of its own. Only other ids can be aliases.`);
  await follower.prepare(tx, orgId);
  await assertKnown(tx, orgId, follower, [alias, vulnerability]);
  const known = await tx.selectFrom('vulnerability_aliases').selectAll().where('org_id', '=', orgId).where('alias', '=', alias).executeTakeFirst();
  if (known && known.revoked_at === null) {
    throw new AppError('conflict', `"${alias}" is already an alias of "${known.weakness}". Revoke that alias first if it is wrong.`);
  }
  const weakness = await ownIdOf(tx, orgId, { alias, weakness: vulnerability });
  if (known?.weakness === weakness) throw new AppError('conflict', `"${alias}" was revoked as an alias of "${weakness}". Restore it instead.`);
  const added = {
    weakness,
    origin: 'person',
    confirmed_at: sql<Date>`now()`,
    confirmed_by: actor.person?.name ?? actor.name,
    confirmed_reason: given.reason,
    revoked_at: null,
    revoked_by: null,
    revoked_reason: null,
  } as const;
  await tx
    .insertInto('vulnerability_aliases')
    .values({ org_id: orgId, alias, ...added })
    .onConflict((conflict) => conflict.columns(['org_id', 'alias']).doUpdateSet(added))
    .execute();
  await follow(tx, actor, follower, { alias, weakness });
  await record(tx, actor, 'alias.added', alias, { vulnerability: weakness, reason: given.reason });
  return readAlias(tx, orgId, alias);
}

/** Ids that nobody has ever reported are probably misspelled. */
async function assertKnown(tx: TenantTx, orgId: string, follower: AliasFollower, ids: readonly string[]): Promise<void> {
  const { rows } = await sql<{ id: string }>`
    select asked.id from unnest(${ids as string[]}::text[]) as asked (id)
    where exists (select from alias_claims c where c.org_id = ${orgId} and (c.alias = asked.id or c.weakness = asked.id)) or exists (select from vulnerabilities v where v.id = asked.id or (${hasAlias(sql`asked.id`)}))`.execute(
    tx,
  );
  const known = new Set([...rows.map(({ id }) => id), ...(await follower.reported(tx, orgId, ids))]);
  const missing = ids.filter((id) => !known.has(id));
  if (missing.length === 0) return;
  const names = missing.map((id) => `"${id}"`).join(' and ');
  throw new AppError('not_found', `No finding, report or knowledge source names ${names}. Check the spelling.`);
}

/** The id under which findings of the vulnerability are kept. Throws if that is the alias itself. */
async function ownIdOf(tx: TenantTx, orgId: string, { alias, weakness }: { alias: string; weakness: string }): Promise<string> {
  const further = await tx
    .selectFrom('vulnerability_aliases')
    .select('weakness')
    .where('org_id', '=', orgId)
    .where('alias', '=', weakness)
    .where('revoked_at', 'is', null)
    .executeTakeFirst();
  if (further?.weakness === alias) {
    throw new AppError('unprocessable', `"${weakness}" is already an alias of "${alias}". The two cannot be aliases of each other.`);
  }
  return further?.weakness ?? weakness;
}

/** Aliases of the alias are aliases of the vulnerability as well. */
async function follow(tx: TenantTx, actor: Actor, follower: AliasFollower, { alias, weakness }: { alias: string; weakness: string }): Promise<void> {
  await tx
    .updateTable('vulnerability_aliases')
    .set({ weakness })
    .where('org_id', '=', actor.orgId)
    .where('weakness', '=', alias)
    .where('revoked_at', 'is', null)
    .execute();
  await follower.adopt(tx, actor, [alias], []);
}

interface Revocation {
  alias: string;
  reason: string;
}

/** Lets an alias no longer count, for nobody. What it made one comes apart again. */
export async function revokeAlias(tx: TenantTx, actor: Actor, follower: AliasFollower, { alias: given, reason }: Revocation): Promise<AliasRow> {
  const { orgId } = actor;
  const alias = canonical(given);
  await follower.prepare(tx, orgId);
  const { weakness, origin, revoked_at } = await readAlias(tx, orgId, alias);
  if (revoked_at !== null) throw new AppError('conflict', `The alias "${alias}" is already revoked.`);
  const revoked = { revoked_at: sql<Date>`now()`, revoked_by: actor.person?.name ?? actor.name, revoked_reason: reason };
  await tx
    .insertInto('vulnerability_aliases')
    .values({ org_id: orgId, alias, weakness, origin, ...revoked })
    .onConflict((conflict) => conflict.columns(['org_id', 'alias']).doUpdateSet(revoked))
    .execute();
  // What tools know only as another id of the alias belongs to the alias again.
  await sql`
    update vulnerability_aliases x set weakness = ${alias}
    where x.org_id = ${orgId} and x.weakness = ${weakness} and x.origin = 'sources' and x.revoked_at is null
      and exists (select from alias_claims c where c.org_id = ${orgId} and c.alias = x.alias and c.weakness = ${alias})
      and not exists (select from alias_claims c where c.org_id = ${orgId} and c.alias = x.alias and c.weakness = ${weakness})`.execute(tx);
  await follower.separate(tx, actor, { alias, weakness, reason });
  await record(tx, actor, 'alias.revoked', alias, { vulnerability: weakness, reason });
  return readAlias(tx, orgId, alias);
}

/** Lets a revoked alias count again, as far as it did before. */
export async function restoreAlias(tx: TenantTx, actor: Actor, follower: AliasFollower, { alias: given, reason }: Revocation): Promise<AliasRow> {
  const { orgId } = actor;
  const alias = canonical(given);
  await follower.prepare(tx, orgId);
  const { weakness: before, origin, revoked_at, claims } = await readAlias(tx, orgId, alias);
  if (revoked_at === null) throw new AppError('conflict', `The alias "${alias}" is not revoked.`);
  const weakness = await ownIdOf(tx, orgId, { alias, weakness: before });
  if (origin === 'claim') {
    await tx.deleteFrom('vulnerability_aliases').where('org_id', '=', orgId).where('alias', '=', alias).execute();
    await follower.adopt(tx, actor, [alias], [...new Set(claims.map(({ provider }) => provider))]);
  } else {
    const active = { weakness, revoked_at: null, revoked_by: null, revoked_reason: null };
    await tx.updateTable('vulnerability_aliases').set(active).where('org_id', '=', orgId).where('alias', '=', alias).execute();
    await follow(tx, actor, follower, { alias, weakness });
  }
  await record(tx, actor, 'alias.restored', alias, { vulnerability: weakness, reason });
  return readAlias(tx, orgId, alias);
}

function canonical(id: string): string {
  return vulnerabilityIds(id)[0] ?? id.trim();
}

type Action = 'alias.added' | 'alias.revoked' | 'alias.restored';

async function record(tx: TenantTx, actor: Actor, action: Action, alias: string, after: { vulnerability: string; reason: string }): Promise<void> {
  await recordAudit(tx, actor, { action, objectType: 'alias', objectId: alias, after });
  await emit(tx, actor.orgId, { type: action, subject: alias, data: after });
}
