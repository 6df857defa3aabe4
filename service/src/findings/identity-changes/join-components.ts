import { type RawBuilder, sql } from 'kysely';
import { importedAssets } from '../../assets/relations.ts';
import type { TenantTx } from '../../db/database.ts';
import type { MergedPair } from '../follower.ts';
import { type Component, completeness, componentOfKey, sameComponent } from '../identity/component.ts';
import { installedSql } from '../identity/installed.ts';
import { FastPathMissed } from '../merge/known-records.ts';
import type { Resolution } from '../merge/resolution.ts';
import { mergeFindings } from './merge-findings.ts';
import { type Renaming, renameFindings } from './move-back.ts';

interface Named {
  key: string;
  component: string | null;
  identity: string;
  /** The finding that has this identity, or into which it was merged. Null for records of the report. */
  finding: string | null;
  created: string | null;
  /** Whether it was merged into that finding. */
  merged: boolean;
  /** The numbers of the records. */
  records: number[];
}

interface Ambiguous {
  asset_id: string;
  weakness: string;
  named: Named[];
}

/** What has an incomplete name, and the complete one that it is taken for. */
interface Move {
  /** The asset, the weakness and the complete name. */
  group: string;
  from: Named;
  to: Named;
}

/**
 * Tools name one component differently: without its ecosystem, without its Maven group, or by the package that was built from it. Where one weakness on one
 * asset has components that may be the same, the less complete name is taken for the most complete one if there is exactly one. Applies this to the staged
 * records and to known findings. Returns the findings that became one.
 */
export async function joinComponents(tx: TenantTx, resolution: Resolution): Promise<MergedPair[]> {
  const moves = (await readAmbiguous(tx, resolution)).flatMap(movesIn);
  const kept = await withoutSplit(tx, resolution, moves);
  if (kept.length === 0) return [];
  await assertStagedInFull(tx, resolution, kept);
  await moveRecords(tx, resolution, kept);
  return moveFindings(tx, resolution, kept);
}

/** Almost no weakness has several components on one asset, so these are found before anything else is read about them. */
async function readAmbiguous(tx: TenantTx, { orgId, importId }: Resolution): Promise<Ambiguous[]> {
  const { rows } = await sql<Ambiguous>`
    with imported as materialized (
      select distinct asset_key, asset_id from ${importedAssets} named where org_id = ${orgId} and import_id = ${importId}
    ), about as materialized (
      select a.asset_id, r.weakness, min(r.component_key) as first_key, max(r.component_key) as last_key
      from tenant_import_rows r join imported a using (asset_key)
      where r.org_id = ${orgId} and r.import_id = ${importId} and r.component_key is not null group by 1, 2
    ), ambiguous as materialized (
      select asset_id, weakness from about where first_key <> last_key or exists (
        select from findings f where f.org_id = ${orgId} and f.asset_id = about.asset_id and f.weakness = about.weakness and f.component_key <> about.first_key)
    ), named as (
      select a.asset_id, r.weakness, r.component_key as key, coalesce(${installedSql(sql`r.location`)}, lower(r.component)) as component, r.identity_key as identity, null::uuid as finding, null::timestamptz as created,
        false as merged, jsonb_agg(r.n) as records
      from tenant_import_rows r join imported a using (asset_key) join ambiguous on ambiguous.asset_id = a.asset_id and ambiguous.weakness = r.weakness
      where r.org_id = ${orgId} and r.import_id = ${importId} and r.component_key is not null group by 1, 2, 3, 4, 5
      union all
      select f.asset_id, f.weakness, f.component_key, coalesce(${installedSql(sql`f.location`)}, lower(f.component)), f.identity_key, coalesce(f.merged_into, f.id), f.created_at, f.merged_into is not null, '[]'
      from ambiguous join findings f on f.org_id = ${orgId} and f.asset_id = ambiguous.asset_id and f.weakness = ambiguous.weakness
      where f.component_key is not null
    )
    select asset_id, weakness, jsonb_agg(jsonb_build_object('key', key, 'component', component, 'identity', encode(identity, 'hex'), 'finding', finding, 'created', created, 'merged', merged, 'records', records)
      order by key, component, finding) as named
    from named group by asset_id, weakness`.execute(tx);
  return rows;
}

function movesIn({ asset_id, weakness, named }: Ambiguous): Move[] {
  const all = named.map((one) => ({ one, is: componentOfKey(one.key, one.component) }));
  // Components can only be the same if they share the last part of their names or a package.
  const byPart = new Map<string, typeof all>();
  for (const entry of all) for (const part of partsOf(entry.is)) byPart.set(part, [...(byPart.get(part) ?? []), entry]);
  // A record can spell the name of a component like no finding does. If a finding has the same component, it is the one to move to.
  const owners = new Map(named.flatMap((one) => (one.finding === null ? [] : [[one.identity, one] as const])));
  const targetOf = (one: Component): Named | null => {
    const candidates = [...new Set(partsOf(one).flatMap((part) => byPart.get(part) ?? []))];
    const better = candidates.filter(({ is }) => is.key !== one.key && completeness(is) > completeness(one) && sameComponent(is, one));
    const most = Math.max(...better.map(({ is }) => completeness(is)));
    const best = better.filter(({ is }) => completeness(is) === most);
    const target = best.find(({ one: { finding, merged } }) => finding !== null && !merged) ?? best.find(({ one: { finding } }) => finding !== null) ?? best[0];
    // Packages whose findings were merged are one component.
    return target && new Set(best.map(({ one: { key, identity } }) => owners.get(identity)?.finding ?? key)).size === 1 ? target.one : null;
  };
  const moves = all.flatMap(({ one, is }) => {
    const to = completeness(is) < 2 ? targetOf(is) : null;
    return to ? [{ group: `${asset_id} ${weakness} ${to.identity}`, from: one, to: owners.get(to.identity) ?? to }] : [];
  });
  const leaving = new Set(moves.map(({ from }) => from.identity));
  // What was merged for another reason stays with the finding that it was merged into.
  const mergedInto = new Map(named.filter(({ merged }) => merged).map(({ identity, finding }) => [identity, finding]));
  return moves.filter(({ from, to }) => !leaving.has(to.identity) && (mergedInto.get(from.identity) ?? to.finding) === to.finding);
}

function partsOf({ name, short, binary }: Component): string[] {
  return [...new Set([`short ${short}`, `package ${name}`, ...(binary === null ? [] : [`package ${binary}`])])];
}

/** What a person has separated stays apart. */
async function withoutSplit(tx: TenantTx, { orgId }: Resolution, moves: readonly Move[]): Promise<readonly Move[]> {
  const ids = moves.flatMap(({ from, to }) => [from.finding, to.finding]).filter((id) => id !== null);
  if (ids.length === 0) return moves;
  const { rows } = await sql<{ a: string; b: string }>`
    select a, b from identity_rules where org_id = ${orgId} and kind in ('component', 'source_package') and revoked_at is not null and a = any(${ids}::uuid[])`.execute(
    tx,
  );
  const split = new Set(rows.flatMap(({ a, b }) => [`${a} ${b}`, `${b} ${a}`]));
  const separated = new Set(moves.filter(({ from, to }) => split.has(`${from.finding} ${to.finding}`)).map(({ group, from }) => `${group} ${from.identity}`));
  return moves.filter(({ group, from }) => !separated.has(`${group} ${from.identity}`));
}

/** A record that was recognized by its content must be staged in full, together with those that it now belongs to. */
async function assertStagedInFull(tx: TenantTx, { orgId, importId }: Resolution, moves: readonly Move[]): Promise<void> {
  const changing = moves.filter(({ from, to }) => from.finding !== to.finding);
  const ids = changing.flatMap(({ from, to }) => [from.finding, to.finding]).filter((id) => id !== null);
  const { rows } = await sql`
    select from tenant_import_seen where org_id = ${orgId} and import_id = ${importId} and finding_id = any(${ids}::uuid[]) limit 1`.execute(tx);
  if (rows.length > 0) throw new FastPathMissed();
}

async function moveRecords(tx: TenantTx, { orgId, importId }: Resolution, moves: readonly Move[]): Promise<void> {
  const records = moves.flatMap(({ from, to }) => from.records.map((n) => ({ n, identity: to.identity, key: to.key })));
  if (records.length === 0) return;
  await sql`
    update tenant_import_rows r set identity_key = decode(moved.identity, 'hex'), component_key = moved.key
    from jsonb_to_recordset(${JSON.stringify(records)}::jsonb) as moved (n integer, identity text, key text) where r.org_id = ${orgId} and r.import_id = ${importId} and r.n = moved.n`.execute(
    tx,
  );
}

/** The findings of one component become one with the complete name. The oldest one stays. */
async function moveFindings(tx: TenantTx, { orgId, actor }: Resolution, moves: readonly Move[]): Promise<MergedPair[]> {
  const known = moves.filter(({ from, to }) => from.finding !== null && from.finding !== to.finding);
  const pairs: MergedPair[] = [];
  const renamed: Renaming[] = [];
  for (const [, group] of Map.groupBy(known, (move) => move.group)) {
    const to = group[0]?.to;
    const members = new Map(group.map(({ from }) => [from.finding ?? '', from]));
    if (to?.finding) members.set(to.finding, to);
    const [oldest, ...others] = [...members].sort(([a, one], [b, other]) => (ageOf(one, a) < ageOf(other, b) ? -1 : 1));
    if (!oldest || !to) continue;
    pairs.push(...others.map(([from_id]) => ({ from_id, into_id: oldest[0] })));
    if (oldest[0] === to.finding) continue;
    renamed.push({ id: oldest[0], identity: to.identity, key: to.key });
    // The finding that had the complete name leaves it to the one that stays.
    if (to.finding) renamed.push({ id: to.finding, identity: oldest[1].identity, key: oldest[1].key });
  }
  await mergeFindings(tx, actor, pairsOf(pairs), { kind: 'component', reason: 'They are names of one component.' });
  await renameFindings(tx, orgId, renamed);
  return pairs;
}

/** Sorts by age. A finding into which others were merged stays. */
function ageOf({ created, merged }: Named, id: string): string {
  return merged ? '' : `${created} ${id}`;
}

function pairsOf(pairs: readonly MergedPair[]): RawBuilder<unknown> {
  return sql`select from_id, into_id from jsonb_to_recordset(${JSON.stringify(pairs)}::jsonb) as pair (from_id uuid, into_id uuid)`;
}
