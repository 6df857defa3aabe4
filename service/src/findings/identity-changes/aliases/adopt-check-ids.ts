import { sql } from 'kysely';
import { importedAssets } from '../../../assets/relations.ts';
import type { TenantTx } from '../../../db/database.ts';
import type { Resolution } from '../../merge/resolution.ts';

/** ZAP numbers the alerts of a plugin when it gets a second one: `10038` becomes `10038-1` and `10038-2`. */
const TOOL = 'zap';
const ALERT = `^${TOOL}:[0-9]+(-[0-9]+)?$`;

/**
 * Records of an alert that got or lost its number are about the finding that is known under the other id, if they have the same title or that finding has
 * had the number before. Two alerts of a plugin stay two.
 */
export async function adoptCheckIds(tx: TenantTx, { orgId, importId, provider }: Resolution): Promise<void> {
  if (provider !== TOOL) return;
  const pluginOf = (id: string) => sql`regexp_replace(${sql.ref(id)}, '-[0-9]+$', '')`;
  const isOfPlugin = sql`${pluginOf('f.weakness')} = ${pluginOf('r.weakness')} and f.weakness <> r.weakness and ${pluginOf('r.weakness')} in (f.weakness, r.weakness)`;
  const isSameAlert = sql`(f.rule = r.rule or (f.title = r.title and ${pluginOf('r.rule')} in (f.rule, r.rule)))`;
  const staged = sql`r.org_id = ${orgId} and r.import_id = ${importId}`;
  await sql`
    with renamed as materialized (
      select distinct on (f.id, r.asset_key) f.weakness as known, r.asset_key, r.identity_key, r.weakness
      from tenant_import_rows r
      join (select distinct asset_key, asset_id from ${importedAssets} named where org_id = ${orgId} and import_id = ${importId}) a on a.asset_key = r.asset_key
      join findings f on f.org_id = ${orgId} and f.asset_id = a.asset_id and f.identity_key = r.identity_key and f.merged_into is null
      where ${staged} and r.weakness ~ ${ALERT} and f.weakness ~ ${ALERT} and ${isOfPlugin} and ${isSameAlert}
        and not exists (
          select from findings own where own.org_id = ${orgId} and own.asset_id = a.asset_id and own.identity_key = r.identity_key and own.weakness = r.weakness)
        and not exists (
          select from tenant_import_rows own where own.org_id = ${orgId} and own.import_id = ${importId} and own.asset_key = r.asset_key
            and own.identity_key = r.identity_key and own.weakness = f.weakness)
      order by f.id, r.asset_key, f.rule = r.rule desc, r.weakness
    ), chosen as (
      select distinct on (asset_key, identity_key, weakness) * from renamed order by asset_key, identity_key, weakness, known
    )
    update tenant_import_rows r set weakness = chosen.known from chosen
    where ${staged} and r.asset_key = chosen.asset_key and r.identity_key = chosen.identity_key and r.weakness = chosen.weakness`.execute(tx);
}
