import { sql } from 'kysely';
import { importedAssets } from '../../assets/relations.ts';
import type { TenantTx } from '../../db/database.ts';
import { type Component, completeness, componentOfKey, sameComponent } from '../identity/component.ts';
import { FastPathMissed } from './known-records.ts';
import type { Resolution } from './resolution.ts';

interface Named {
  key: string;
  component: string | null;
  identity: string;
  /** The finding that has this identity. Null for a record of the report. */
  finding: string | null;
}

interface Ambiguous {
  asset_id: string;
  weakness: string;
  named: Named[];
}

/**
 * Tools name one component differently: without its ecosystem, without its Maven group, or by the package that was built from it. Where one weakness on one
 * asset has components that may be the same, the less complete name is taken for the most complete one if there is exactly one.
 */
export async function joinComponents(tx: TenantTx, resolution: Resolution): Promise<void> {
  const moves = (await readAmbiguous(tx, resolution)).flatMap(movesIn);
  if (moves.length === 0) return;
  await moveFindings(tx, resolution, moves);
  await moveRecords(tx, resolution, moves);
}

async function readAmbiguous(tx: TenantTx, { orgId, importId }: Resolution): Promise<Ambiguous[]> {
  const { rows } = await sql<Ambiguous>`
    with staged as materialized (
      select distinct a.asset_id, r.weakness, r.component_key as key, lower(r.component) as component, r.identity_key as identity
      from tenant_import_rows r
      join (select distinct asset_key, asset_id from ${importedAssets} named where org_id = ${orgId} and import_id = ${importId}) a using (asset_key)
      where r.org_id = ${orgId} and r.import_id = ${importId} and r.component_key is not null
    ), named as (
      select asset_id, weakness, key, component, identity, null::uuid as finding from staged
      union all
      select f.asset_id, f.weakness, f.component_key, lower(f.component), f.identity_key, f.id
      from (select distinct asset_id, weakness from staged) about join findings f on f.org_id = ${orgId} and f.asset_id = about.asset_id and f.weakness = about.weakness
      where f.component_key is not null
    )
    select asset_id, weakness, jsonb_agg(jsonb_build_object('key', key, 'component', component, 'identity', encode(identity, 'hex'), 'finding', finding) order by key, component, finding) as named
    from named group by 1, 2 having count(distinct key) > 1`.execute(tx);
  return rows;
}

interface Move {
  asset_id: string;
  weakness: string;
  from: string;
  to: string;
  toKey: string;
  /** The finding that has the incomplete name, unless another one has the complete name. */
  finding: string | null;
}

function movesIn({ asset_id, weakness, named }: Ambiguous): Move[] {
  const all = named.map((one) => ({ ...one, is: componentOfKey(one.key, one.component) }));
  const targetOf = (one: Component): (typeof all)[number] | null => {
    const better = all.filter(({ is }) => is.key !== one.key && completeness(is) > completeness(one) && sameComponent(is, one));
    const best = better.filter(({ is }) => completeness(is) === Math.max(...better.map((other) => completeness(other.is))));
    return new Set(best.map(({ key }) => key)).size === 1 ? (best[0] ?? null) : null;
  };
  const incomplete = new Map(all.filter(({ is }) => completeness(is) < 2).map((one) => [one.identity, one]));
  return [...incomplete.values()].flatMap(({ identity, is }) => {
    const target = targetOf(is);
    if (!target) return [];
    const holder = all.find((one) => one.identity === identity && one.finding !== null)?.finding ?? null;
    const isTaken = all.some((one) => one.identity === target.identity && one.finding !== null);
    return [{ asset_id, weakness, from: identity, to: target.identity, toKey: target.key, finding: isTaken ? null : holder }];
  });
}

async function moveFindings(tx: TenantTx, { orgId }: Resolution, moves: readonly Move[]): Promise<void> {
  // Only one finding can have an identity. Others keep theirs.
  const known = [...new Map(moves.filter(({ finding }) => finding !== null).map((move) => [`${move.asset_id} ${move.weakness} ${move.to}`, move])).values()];
  await sql`
    update findings f set identity_key = decode(moved."to", 'hex'), component_key = moved."toKey"
    from jsonb_to_recordset(${JSON.stringify(known)}::jsonb) as moved (finding uuid, "to" text, "toKey" text) where f.org_id = ${orgId} and f.id = moved.finding`.execute(
    tx,
  );
}

/** A record that was recognized by its content must be staged in full, together with those that it now belongs to. */
async function moveRecords(tx: TenantTx, { orgId, importId }: Resolution, moves: readonly Move[]): Promise<void> {
  const staged = sql`jsonb_to_recordset(${JSON.stringify(moves)}::jsonb) as moved (asset_id uuid, weakness text, "from" text, "to" text, "toKey" text, finding uuid)`;
  const { rows } = await sql`
    select from ${staged} join tenant_import_seen i on i.org_id = ${orgId} and i.import_id = ${importId} and i.finding_id = moved.finding limit 1`.execute(tx);
  if (rows.length > 0) throw new FastPathMissed();
  await sql`
    update tenant_import_rows r set identity_key = decode(moved."to", 'hex'), component_key = moved."toKey"
    from ${staged} join ${importedAssets} a on a.org_id = ${orgId} and a.import_id = ${importId} and a.asset_id = moved.asset_id
    where r.org_id = ${orgId} and r.import_id = ${importId} and r.asset_key = a.asset_key and r.identity_key = decode(moved."from", 'hex')
      and r.weakness = moved.weakness`.execute(tx);
}
