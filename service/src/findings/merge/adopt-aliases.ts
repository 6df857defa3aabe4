import { sql } from 'kysely';
import type { TenantTx } from '../../db/database.ts';
import { emitSql } from '../../events/emit.ts';
import { vulnerabilityAliases } from '../../vulnerabilities/relations.ts';
import { type HistoryActor, historySql } from '../history.ts';
import { withdrawnBySystem } from '../status.ts';

interface Adoption {
  orgId: string;
  importId: string;
  actor: HistoryActor;
}

/** Moves findings whose weakness turned out to be an alias to the vulnerability's own id. Returns the ids of findings that were withdrawn as duplicates. */
export async function adoptAliases(tx: TenantTx, adoption: Adoption, aliases: readonly string[]): Promise<string[]> {
  const withdrawn: string[] = [];
  for (let at = 0; at < aliases.length; at += 500) {
    const some = aliases.slice(at, at + 500);
    await rename(tx, adoption.orgId, some);
    withdrawn.push(...(await withdrawTwins(tx, adoption, some)));
  }
  return withdrawn;
}

/** Findings `f` whose weakness is one of the aliases, with `a.weakness` as the vulnerability's own id. */
function namedSql(orgId: string, aliases: readonly string[]) {
  const words = aliases.map((alias) => `'v:${alias.toLowerCase().replaceAll('\\', '\\\\').replaceAll("'", "''")}'`).join(' | ');
  return sql`tenant_findings f join ${vulnerabilityAliases} a on a.org_id = ${orgId} and a.alias = f.weakness and a.alias = any(${aliases as string[]})
    and f.org_id = ${orgId} and f.facets @@ ${words}::tsquery`;
}

const twin = sql`other.org_id = f.org_id and other.asset_id = f.asset_id and other.weakness = a.weakness and other.identity_key = f.identity_key`;

async function rename(tx: TenantTx, orgId: string, aliases: readonly string[]): Promise<void> {
  await sql`
    update findings set weakness = adopted.weakness
    from (
      select distinct on (f.asset_id, f.identity_key, a.weakness) f.id, a.weakness from ${namedSql(orgId, aliases)}
      where not exists (select from findings other where ${twin})
      order by f.asset_id, f.identity_key, a.weakness, f.created_at, f.id
    ) adopted
    where findings.org_id = ${orgId} and findings.id = adopted.id`.execute(tx);
}

/** If a finding exists under both ids, the one under the alias is withdrawn, unless the other one is verified or withdrawn. */
async function withdrawTwins(tx: TenantTx, { orgId, importId, actor }: Adoption, aliases: readonly string[]): Promise<string[]> {
  const events = sql`select id::text as subject, jsonb_build_object('from', before, 'to', 'withdrawn', 'import_id', ${importId}::text, 'reason', reason) as data from twins`;
  const entries = sql`
    select id as finding_id, 'status_changed' as action, jsonb_build_object('status', before) as before, jsonb_build_object('status', 'withdrawn', 'reason_code', 'merged') as after, reason
    from twins`;
  const { rows } = await sql<{ id: string }>`
    with twins as (
      select f.id, f.status as before, f.weakness || ' is an alias of ' || a.weakness || '. Tracked as finding ' || other.id || '.' as reason
      from ${namedSql(orgId, aliases)} join findings other on ${twin}
      where f.status = any(${withdrawnBySystem as readonly string[]}) and other.status not in ('verified', 'withdrawn')
    ), emitted as (
      ${emitSql(orgId, 'finding.status_changed', events)}
    ), recorded as (
      ${historySql(actor, entries, importId)}
    )
    update findings f set status = 'withdrawn', reason_code = 'merged', status_reason = twins.reason, status_changed_at = now(), status_changed_by = null, assurance = null,
      closed_at = now(), version = f.version + 1, updated_at = now()
    from twins where f.org_id = ${orgId} and f.id = twins.id
    returning f.id`.execute(tx);
  return rows.map(({ id }) => id);
}
