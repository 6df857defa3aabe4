import { type RawBuilder, sql } from 'kysely';
import { importedAssets } from '../../assets/relations.ts';
import type { TenantTx } from '../../db/database.ts';
import { isAmong } from '../../db/rows.ts';
import { idsSql, type MergedPair } from '../follower.ts';
import type { HistoryActor } from '../history.ts';
import { componentIdentity } from '../identity/identity.ts';
import { installedSql } from '../identity/installed.ts';
import type { Resolution } from '../merge/resolution.ts';
import { countPlaces } from '../merge/write-places.ts';
import { mergeFindings } from './merge-findings.ts';
import { type Renaming, renameFindings } from './move-back.ts';

/** A component and the one that it turned out to be, with its identity key in hex. */
interface Renamed {
  from: string;
  to: string;
  identity: string;
}

interface Move {
  id: string;
  to: string;
  identity: string;
}

/**
 * Distributions build several packages from one source. Not all tools name it, so it is learned from those that do: for the whole organization if a report
 * states it, and for one vulnerability on one asset if another tool reports that in a package of the same version. Applies this to the staged records and to known findings,
 * so that it does not matter which report came first. Returns the findings that became one.
 */
export async function adoptSourcePackages(tx: TenantTx, resolution: Resolution): Promise<MergedPair[]> {
  if (!(await namesPackages(tx, resolution))) return [];
  const learned = await learn(tx, resolution);
  await useLearned(tx, resolution);
  const moves = [...(await movesOfLearned(tx, resolution, learned)), ...(await infer(tx, resolution))];
  return moveFindings(tx, resolution.actor, [...new Map(moves.map((move) => [move.id, move])).values()]);
}

const ofDistribution = (x: string) => sql`${sql.ref(`${x}.component_key`)} ~ '^(deb|rpm|apk|alpm)/' and ${sql.ref(`${x}.component`)} is not null`;

/** What a staged record or finding `x` says about its package. */
function packageSql(x: string): RawBuilder<unknown> {
  const [key, location] = [sql.ref(`${x}.component_key`), sql.ref(`${x}.location`)];
  return sql`lateral (
    select split_part(${key}, '/', 1) as ecosystem, substr(${key}, strpos(${key}, '/') + 1) as name, ${installedSql(location)} as installed,
      lower(coalesce(substring(${location}->>'purl' from '[?&]distro=([^&#]+)'), '')) as distro, ${location}->>'version' as version,
      ${location} ? 'source_package' or coalesce(${location}->>'purl' ~ '[?&]upstream=', false) as is_stated,
      ${installedSql(location)} <> lower(regexp_replace(${sql.ref(`${x}.component`)}, '^.*/', '')) as is_misnamed offset 0)`;
}

/**
 * The release of a distribution as all tools mean it. Trivy writes `redhat-8.7` where Syft writes `rhel-8.7`, and `debian-12.5` for `debian-12`. Packages are
 * built from the same sources in all minor versions.
 */
function releaseSql(distro: RawBuilder<unknown>): RawBuilder<unknown> {
  const names = [
    ['redhat', 'rhel'],
    ['alma', 'almalinux'],
    ['oracle', 'ol'],
    ['amazon', 'amzn'],
  ];
  const named = names.reduce((name, [from, to]) => sql`regexp_replace(${name}, ${`^${from}-`}, ${`${to}-`})`, distro);
  return sql`regexp_replace(${named}, '^(debian|rhel|centos|rocky|almalinux|ol)-([0-9]+)[.].*$|^(alpine)-v?([0-9]+[.][0-9]+)[.].*$', '\\1\\3-\\2\\4')`;
}

/**
 * Whether one of the reports about the finding `f` says what its package `p` was built from. The record that the finding is shown with may be one that does
 * not, or that of the package with the name of the source.
 */
function isSourceSql(orgId: string): RawBuilder<boolean> {
  const states = (location: RawBuilder<unknown>) =>
    sql`(${location} ? 'source_package' or ${location}->>'purl' ~ '[?&]upstream=' or ${installedSql(location)} <> p.name)`;
  return sql`(p.is_stated or p.name <> p.installed
    or exists (select from sightings s where s.org_id = ${orgId} and s.finding_id = f.id and ${states(sql`s.said->'location'`)})
    or exists (select from occurrences o where o.org_id = ${orgId} and o.finding_id = f.id and ${states(sql`o.location`)}))`;
}

/**
 * Whether a title names the package `p` as what is vulnerable: "util-linux: denial of service". Distributions begin titles with the name of the source. Two
 * names, as in "firefox: thunderbird: use after free", are two sources.
 */
function isTitledSql(title: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`(p.name = p.installed and starts_with(lower(${title}), p.name || ': ') and ${title} !~ '^[^ :]+: [^ :]+: ')`;
}

/** The source of the package `p`, if reports of its release of the distribution agree on it. */
function sourceSql(orgId: string): RawBuilder<unknown> {
  return sql`lateral (
    select min(known.source_package) as source from source_packages known
    where known.org_id = ${orgId} and known.ecosystem = p.ecosystem and known.binary_package = p.installed and known.distro = ${releaseSql(sql`p.distro`)}
    having count(distinct known.source_package) = 1)`;
}

function assetsSql({ orgId, importId }: Pick<Resolution, 'orgId' | 'importId'>): RawBuilder<unknown> {
  return sql`(select distinct asset_key, asset_id from ${importedAssets} imported where org_id = ${orgId} and import_id = ${importId})`;
}

async function namesPackages(tx: TenantTx, { orgId, importId }: Resolution): Promise<boolean> {
  const { rows } =
    await sql`select from tenant_import_rows r where r.org_id = ${orgId} and r.import_id = ${importId} and ${ofDistribution('r')} limit 1`.execute(tx);
  return rows.length > 0;
}

/** Stores the pairs of packages that the report states. Returns the keys of the packages of which a source is new. */
async function learn(tx: TenantTx, { orgId, importId, provider }: Resolution): Promise<string[]> {
  const { rows } = await sql<{ key: string }>`
    with stated as materialized (
      select distinct ecosystem, ${releaseSql(sql`distro`)} as distro, installed, name from (
        select distinct p.ecosystem, p.distro, p.installed, p.name from tenant_import_rows r cross join ${packageSql('r')} p
        where r.org_id = ${orgId} and r.import_id = ${importId} and ${ofDistribution('r')} and p.name <> p.installed and not p.is_misnamed
      ) named
    )
    insert into source_packages (org_id, ecosystem, distro, binary_package, source_package, provider, import_id)
    select ${orgId}::uuid, stated.ecosystem, stated.distro, stated.installed, stated.name, ${provider}::text, ${importId}::uuid from stated
    where not exists (
      select from source_packages known where known.org_id = ${orgId} and known.ecosystem = stated.ecosystem and known.distro = stated.distro and known.binary_package = stated.installed
        and known.source_package = stated.name)
    returning ecosystem || '/' || binary_package as key`.execute(tx);
  return [...new Set(rows.map(({ key }) => key))];
}

/** Findings that a person has separated because their packages are not built from one source. They keep the names of their packages. */
function separatedSql(orgId: string): RawBuilder<unknown> {
  return sql`(
    select f.* from identity_rules rule cross join lateral unnest(array[rule.a, rule.b]) one (id)
    cross join lateral (select own.id, own.asset_id, own.weakness, own.identity_key from findings own where own.org_id = ${orgId} and own.id = one.id offset 0) f
    where rule.org_id = ${orgId} and rule.kind = 'source_package' and rule.revoked_at is not null)`;
}

const identityOf = (component: string): string => componentIdentity(component).text;

/** Gives staged records of packages whose source is known the component of the source. */
async function useLearned(tx: TenantTx, { orgId, importId }: Resolution): Promise<void> {
  const unnamed = sql`r.org_id = ${orgId} and r.import_id = ${importId} and ${ofDistribution('r')}`;
  const { rows } = await sql<{ from: string; to: string; distro: string }>`
    with unnamed as materialized (
      select distinct r.component_key, p.ecosystem, p.installed, p.distro from tenant_import_rows r cross join ${packageSql('r')} p
      where ${unnamed} and p.name = p.installed and not p.is_stated and not p.is_misnamed
    )
    select p.component_key as "from", p.ecosystem || '/' || known.source as "to", p.distro from unnamed p cross join ${sourceSql(orgId)} known`.execute(tx);
  const renamed = rows.map((row) => ({ ...row, identity: identityOf(row.to) }));
  if (renamed.length === 0) return;
  await sql`
    update tenant_import_rows r set component_key = renamed."to", identity_key = decode(renamed.identity, 'hex')
    from jsonb_to_recordset(${JSON.stringify(renamed)}::jsonb) as renamed ("from" text, "to" text, distro text, identity text)
    where ${unnamed} and r.component_key = renamed."from" and exists (select from ${packageSql('r')} p where p.name = p.installed and not p.is_stated and not p.is_misnamed and p.distro = renamed.distro)
      and not ${isAmong(
        sql`(r.asset_key, r.weakness, r.identity_key)`,
        sql`select a.asset_key, apart.weakness, apart.identity_key from ${separatedSql(orgId)} apart join ${assetsSql({ orgId, importId })} a using (asset_id)`,
      )}`.execute(tx);
}

/** Known findings of the packages. */
async function movesOfLearned(tx: TenantTx, { orgId }: Resolution, keys: readonly string[]): Promise<Move[]> {
  if (keys.length === 0) return [];
  const names = keys.map((key) => key.slice(key.indexOf('/') + 1));
  const { rows } = await sql<{ id: string; to: string }>`
    select f.id, p.ecosystem || '/' || known.source as "to" from findings f cross join ${packageSql('f')} p cross join ${sourceSql(orgId)} known
    where f.org_id = ${orgId} and lower(regexp_replace(f.component, '^.*[:/]', '')) = any(${names}::text[]) and f.component is not null and f.component_key = any(${keys as string[]}::text[])
      and f.merged_into is null and p.name = p.installed and not p.is_stated and not p.is_misnamed
      and not ${isAmong(sql`f.id`, sql`select apart.id from ${separatedSql(orgId)} apart`)}`.execute(tx);
  return rows.map((row) => ({ ...row, identity: identityOf(row.to) }));
}

/**
 * A package whose source nobody names is taken for one that was built from the only source in which another tool reports the same vulnerability on the same
 * asset, if the versions are equal. If no tool names a source, a package with the name that the title begins with is taken for it. Moves the staged records and returns the known findings to move.
 */
async function infer(tx: TenantTx, { orgId, importId }: Resolution): Promise<Move[]> {
  const assets = assetsSql({ orgId, importId });
  const separated = separatedSql(orgId);
  const { rows } = await sql<{ asset_id: string; weakness: string; from: string; to: string; findings: string[] | null }>`
    with staged as materialized (
      select distinct a.asset_id, r.weakness, p.ecosystem, p.name, p.version, p.is_stated or p.name <> p.installed as is_source, ${isTitledSql(sql`r.title`)} as is_titled,
        ${isAmong(sql`(a.asset_id, r.weakness, r.identity_key)`, sql`select apart.asset_id, apart.weakness, apart.identity_key from ${separated} apart`)} as is_apart
      from tenant_import_rows r join ${assets} a using (asset_key) cross join ${packageSql('r')} p
      where r.org_id = ${orgId} and r.import_id = ${importId} and ${ofDistribution('r')}
    ), named as materialized (
      select staged.*, null::uuid as finding_id from staged
      union all
      select f.asset_id, f.weakness, p.ecosystem, p.name, p.version, ${isSourceSql(orgId)}, ${isTitledSql(sql`f.title`)} or exists (
        select from sightings s where s.org_id = ${orgId} and s.finding_id = f.id and ${isTitledSql(sql`(s.said->>'title')`)}), ${isAmong(sql`f.id`, sql`select apart.id from ${separated} apart`)}, f.id
      from (select distinct asset_id, weakness from staged) about join findings f on f.org_id = ${orgId} and f.asset_id = about.asset_id and f.weakness = about.weakness
      cross join ${packageSql('f')} p
      where ${ofDistribution('f')} and f.merged_into is null
    )
    -- Windows take as long as sorting, however wrong the planner's estimates for new rows are.
    select asset_id, weakness, ecosystem || '/' || name as "from", ecosystem || '/' || min(first_source) as "to", array_agg(distinct finding_id) filter (where finding_id is not null) as findings
    from (
      select named.*, bool_or(is_source or is_apart) over (partition by asset_id, weakness, ecosystem, name) as is_known,
        coalesce(min(name) filter (where is_source) over same_version, min(name) filter (where is_titled) over same_version) as first_source,
        coalesce(max(name) filter (where is_source) over same_version, max(name) filter (where is_titled) over same_version) as last_source
      from named window same_version as (partition by asset_id, weakness, ecosystem, version)
    ) one
    where not is_known and version is not null and first_source <> name
    group by asset_id, weakness, ecosystem, name having min(first_source) = max(last_source)`.execute(tx);
  const renamed: (Renamed & { asset_id: string; weakness: string })[] = rows.map(({ findings: _, ...row }) => ({ ...row, identity: identityOf(row.to) }));
  if (renamed.length === 0) return [];
  await sql`
    update tenant_import_rows r set component_key = renamed."to", identity_key = decode(renamed.identity, 'hex')
    from jsonb_to_recordset(${JSON.stringify(renamed)}::jsonb) as renamed (asset_id uuid, weakness text, "from" text, "to" text, identity text) join ${assets} a using (asset_id)
    where r.org_id = ${orgId} and r.import_id = ${importId} and r.asset_key = a.asset_key and r.weakness = renamed.weakness and r.component_key = renamed."from"`.execute(
    tx,
  );
  return rows.flatMap(({ findings, to }) => (findings ?? []).map((id) => ({ id, to, identity: identityOf(to) })));
}

/** Gives known findings the component of the source. Those that meet there are merged, and the oldest one stays. */
async function moveFindings(tx: TenantTx, actor: HistoryActor, moves: readonly Move[]): Promise<MergedPair[]> {
  if (moves.length === 0) return [];
  const { orgId } = actor;
  // One look-up after the other, because the planner knows nothing of a new organization.
  const moved = sql`
    jsonb_to_recordset(${JSON.stringify(moves)}::jsonb) as moved (id uuid, "to" text, identity text)
    cross join lateral (select one.id, one.asset_id, one.weakness, one.created_at from findings one where one.org_id = ${orgId} and one.id = moved.id offset 0) f
    left join lateral (
      select coalesce(one.merged_into, one.id) as id from findings one
      where one.org_id = ${orgId} and one.asset_id = f.asset_id and one.weakness = f.weakness and one.identity_key = decode(moved.identity, 'hex') offset 0
    ) h on true`;
  await sql`
    update findings set component_key = first."to", identity_key = decode(first.identity, 'hex')
    from (
      select distinct on (f.asset_id, f.weakness, moved."to") f.id, moved."to", moved.identity from ${moved}
      where h.id is null order by f.asset_id, f.weakness, moved."to", f.created_at, f.id
    ) first
    where findings.org_id = ${orgId} and findings.id = first.id`.execute(tx);
  const pairs = sql`
    with met as (
      select holder.id as group_id, one.id, one.created_at from ${moved}
      cross join lateral (select known.id, known.created_at from findings known where known.org_id = ${orgId} and known.id = h.id and known.id <> f.id offset 0) holder
      cross join lateral (values (f.id, f.created_at), (holder.id, holder.created_at)) as one (id, created_at)
    ), ranked as (
      select distinct group_id, id, first_value(id) over (partition by group_id order by created_at, id) as into_id from met
    )
    select id as from_id, into_id from ranked where id <> into_id`;
  const merged = await mergeFindings(tx, actor, pairs, { kind: 'source_package', reason: 'The packages are built from one source package.' });
  if (merged.length === 0) return [];
  await nameBySource(tx, orgId, moves);
  await countPlaces(tx, orgId, idsSql(merged.map(({ into_id }) => into_id)));
  return merged;
}

/** A finding that stays has the component of the source, whichever of those that were merged had it. */
async function nameBySource(tx: TenantTx, orgId: string, moves: readonly Move[]): Promise<void> {
  const { rows } = await sql<Renaming>`
    with exchanged as (
      select distinct on (kept.id) kept, owner from jsonb_to_recordset(${JSON.stringify(moves)}::jsonb) as moved (id uuid, "to" text, identity text)
      cross join lateral (select coalesce(one.merged_into, one.id) as id from findings one where one.org_id = ${orgId} and one.id = moved.id offset 0) stayed
      cross join lateral (select one.* from findings one where one.org_id = ${orgId} and one.id = stayed.id offset 0) kept
      cross join lateral (
        select one.* from findings one
        where one.org_id = ${orgId} and one.asset_id = kept.asset_id and one.weakness = kept.weakness and one.identity_key = decode(moved.identity, 'hex') offset 0) owner
      where owner.merged_into = kept.id order by kept.id
    )
    select named.id, named.key, encode(named.identity, 'hex') as identity from exchanged
    cross join lateral (values ((kept).id, (owner).component_key, (owner).identity_key), ((owner).id, (kept).component_key, (kept).identity_key)) as named (id, key, identity)`.execute(
    tx,
  );
  await renameFindings(tx, orgId, rows);
}
