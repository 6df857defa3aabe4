import { sql } from 'kysely';
import { tenantAssets } from '../../assets/relations.ts';
import type { TenantTx } from '../../db/database.ts';

interface TagCount {
  name: string;
  findings: number;
  assets: number;
}

/** The tags of findings and assets that begin with the text, in alphabetical order. */
export async function readTags(tx: TenantTx, orgId: string, { prefix, limit }: { prefix: string; limit: number }): Promise<TagCount[]> {
  const { rows } = await sql<TagCount>`
    select tag as name, sum(findings)::int as findings, sum(assets)::int as assets from (
      select tag, count(*) as findings, 0 as assets from findings, unnest(tags) tag
      where org_id = ${orgId} and listed and tags <> '{}' group by tag
      union all
      select tag, 0, count(*) from ${tenantAssets} assets, unnest(tags) tag where org_id = ${orgId} group by tag
    ) found
    where starts_with(lower(tag), ${prefix.toLowerCase()}) group by tag order by tag limit ${limit}`.execute(tx);
  return rows;
}
