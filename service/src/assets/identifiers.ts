import type { TenantTx } from '../db/database.ts';
import type { AssetRow } from './assets.ts';

export interface Identifier {
  kind: string;
  value: string;
}

const KINDS = /^(fqdn|mac|arn|cloud_id|agent_id|purl|hostname|netbios|ip|repo-path|repo-name|web-host):(.*)$/s;

/** The names by which the asset is recognized, best first. */
export async function readIdentifiers(tx: TenantTx, { org_id, id, type }: AssetRow): Promise<Identifier[]> {
  const keys = await tx
    .selectFrom('asset_keys')
    .select('key')
    .where('org_id', '=', org_id)
    .where('asset_id', '=', id)
    .orderBy('rank')
    .orderBy('key')
    .limit(1_000)
    .execute();
  return keys.map(({ key }) => identifierOf(type, key));
}

export function identifierOf(type: string, key: string): Identifier {
  const name = key.startsWith(`${type}:`) ? key.slice(type.length + 1) : key;
  const [, kind = 'name', value = name] = KINDS.exec(name) ?? [];
  return { kind, value };
}
