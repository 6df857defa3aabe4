import { type RawBuilder, sql } from 'kysely';
import type { TenantTx } from '../../../db/database.ts';
import { anyRows } from '../../../db/rows.ts';
import { type Claims, hasAliases, learnAliases } from '../../../vulnerabilities/aliases.ts';
import { aliasesFor, vulnerabilityAliases } from '../../../vulnerabilities/relations.ts';
import type { MergedPair } from '../../follower.ts';
import { type HistoryActor, historySql } from '../../history.ts';
import type { Resolution } from '../../merge/resolution.ts';
import { mergeFindings } from '../merge-findings.ts';
import { pairsSql } from '../move-sightings.ts';

/** Learns which ids of the staged records are aliases, and moves known findings to the vulnerability's own id. Returns the findings that became one. */
export async function adoptAliases(tx: TenantTx, { orgId, importId, provider, actor }: Resolution): Promise<MergedPair[]> {
  const reported = sql`
    select weakness, aliases from tenant_import_rows where org_id = ${orgId} and import_id = ${importId} and (aliases <> '{}' or weakness not like 'CVE-%')`;
  const merged = (await anyRows(tx, reported)) ? await learn(tx, { orgId, provider, reported }, actor) : [];
  if (await hasAliases(tx, orgId)) await useAliases(tx, { orgId, importId, provider });
  return merged;
}

async function learn(tx: TenantTx, claims: Claims, actor: HistoryActor): Promise<MergedPair[]> {
  const { confirmed, claimed } = await learnAliases(tx, claims);
  return adoptNames(tx, actor, claims.provider, [...new Set([...confirmed, ...claimed])]);
}

/** Records that name a vulnerability by an alias are about the vulnerability. */
async function useAliases(tx: TenantTx, { orgId, importId, provider }: Pick<Resolution, 'orgId' | 'importId' | 'provider'>): Promise<void> {
  await sql`
    with alias as materialized (select alias, weakness from ${aliasesFor(orgId, provider)} known)
    update tenant_import_rows r set weakness = alias.weakness from alias
    where r.org_id = ${orgId} and r.import_id = ${importId} and r.weakness = alias.alias`.execute(tx);
}

/** Moves known findings from aliases to the vulnerability's own id, as far as the aliases count for the tool. Returns the findings that became one. */
export async function adoptNames(tx: TenantTx, actor: HistoryActor, provider: string, aliases: readonly string[]): Promise<MergedPair[]> {
  const { orgId } = actor;
  const merged: MergedPair[] = [];
  for (let at = 0; at < aliases.length; at += 500) {
    const named = namedSql(orgId, provider, aliases.slice(at, at + 500));
    await rename(tx, actor, named);
    const pairs = await mergeFindings(tx, actor, twinsSql(named), { kind: 'alias', reason: 'They are ids of one vulnerability.' });
    await nameByVulnerability(tx, orgId, provider, pairs);
    merged.push(...pairs);
  }
  return merged;
}

/** Text of a tsquery for findings that name one of the ids. */
export function aliasQuery(ids: readonly string[]): string {
  return ids.map((id) => `'v:${id.toLowerCase().replaceAll('\\', '\\\\').replaceAll("'", "''")}'`).join(' | ');
}

/**
 * Findings `f` whose weakness is one of the aliases, with `a.weakness` as the vulnerability's own id. What only the tool claims counts for findings that only
 * it reports.
 */
function namedSql(orgId: string, provider: string, aliases: readonly string[]) {
  const own = sql`array(select o.id from sources o where o.org_id = ${orgId} and coalesce(nullif(o.tool, ''), o.provider) = ${provider})`;
  return sql`tenant_findings f join ${aliasesFor(orgId, provider)} a on a.alias = f.weakness and a.alias = any(${aliases as string[]})
    and f.org_id = ${orgId} and f.merged_into is null and f.facets @@ ${aliasQuery(aliases)}::tsquery
    and (f.source_ids <@ ${own} or exists (select from ${vulnerabilityAliases} known where known.org_id = ${orgId} and known.alias = a.alias))`;
}

const twin = sql`other.org_id = f.org_id and other.asset_id = f.asset_id and other.weakness = a.weakness and other.identity_key = f.identity_key`;

async function rename(tx: TenantTx, actor: HistoryActor, named: RawBuilder<unknown>): Promise<void> {
  const renamed = sql`
    select distinct on (f.asset_id, f.identity_key, a.weakness) f.id, a.weakness from ${named}
    where not exists (select from findings other where ${twin})
    order by f.asset_id, f.identity_key, a.weakness, f.created_at, f.id`;
  await renameFindings(tx, actor, { renamed, reason: null });
}

/** Keeps findings under other ids. `renamed` yields `id` and `weakness`, `reason` is why somebody revoked an alias. */
export async function renameFindings(
  tx: TenantTx,
  actor: HistoryActor,
  { renamed, reason }: { renamed: RawBuilder<unknown>; reason: string | null },
): Promise<void> {
  const { orgId } = actor;
  const entries = sql`
    select f.id as finding_id, 'updated' as action, jsonb_build_object('weakness', f.weakness) as before, jsonb_build_object('weakness', renamed.weakness) as after, ${reason}::text as reason
    from renamed join findings f on f.org_id = ${orgId} and f.id = renamed.id`;
  await sql`
    with renamed as materialized (${renamed}), recorded as (${historySql(actor, entries)})
    update findings f set weakness = renamed.weakness, version = f.version + 1, updated_at = now() from renamed where f.org_id = ${orgId} and f.id = renamed.id`.execute(
    tx,
  );
}

/** The id by which the finding `f` was known before it took that of the vulnerability, as far as no alias was revoked for it since. */
export const ownIdSql = (orgId: string) => sql`(
  select h.before->>'weakness' from finding_history h
  where h.org_id = ${orgId} and h.finding_id = f.id and h.action = 'updated' and h.before ? 'weakness' and h.reason is null and not exists (
    select from finding_history later
    where later.org_id = ${orgId} and later.finding_id = f.id and later.action = 'updated' and later.before ? 'weakness' and later.reason is not null and later.id > h.id)
  order by h.id limit 1)`;

/** Findings that are known under several ids of one vulnerability. The oldest one stays. */
function twinsSql(named: RawBuilder<unknown>) {
  return sql`
    with same as (
      select other.id as group_id, one.id, one.created_at from ${named} join findings other on ${twin} and other.merged_into is null
      cross join lateral (values (f.id, f.created_at), (other.id, other.created_at)) as one (id, created_at)
    ), ranked as (
      select distinct group_id, id, first_value(id) over (partition by group_id order by created_at, id) as into_id from same
    )
    select id as from_id, into_id from ranked where id <> into_id`;
}

/** The finding that stays takes the vulnerability's own id. In steps, because the merged finding may have it. */
async function nameByVulnerability(tx: TenantTx, orgId: string, provider: string, pairs: readonly MergedPair[]): Promise<void> {
  const { rows } = await sql<MergedPair>`
    select pair.from_id, pair.into_id from ${pairsSql(pairs)} join findings kept on kept.org_id = ${orgId} and kept.id = pair.into_id
    join findings merged on merged.org_id = ${orgId} and merged.id = pair.from_id
    join ${aliasesFor(orgId, provider)} a on a.alias = kept.weakness and a.weakness = merged.weakness`.execute(tx);
  if (rows.length === 0) return;
  const names = sql`
    select pair.from_id, pair.into_id, merged.weakness as own, kept.weakness as alias, kept.identity_key
    from ${pairsSql(rows)} join findings kept on kept.org_id = ${orgId} and kept.id = pair.into_id join findings merged on merged.org_id = ${orgId} and merged.id = pair.from_id`;
  const { rows: named } = await sql<{ from_id: string; into_id: string; own: string; alias: string; identity_key: Buffer }>`${names}`.execute(tx);
  for (const { from_id, into_id, own, alias, identity_key } of named) {
    await sql`update findings set identity_key = uuid_send(id) where org_id = ${orgId} and id = ${from_id}`.execute(tx);
    await sql`update findings set weakness = ${own} where org_id = ${orgId} and id = ${into_id}`.execute(tx);
    await sql`update findings set weakness = ${alias}, identity_key = ${identity_key} where org_id = ${orgId} and id = ${from_id}`.execute(tx);
  }
}
