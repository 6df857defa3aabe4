import { sql } from 'kysely';
import { listAssets } from '../assets/list-assets.ts';
import type { TenantTx } from '../db/database.ts';
import type { PageRequest } from '../db/pages.ts';
import { packageFacts } from '../evidence/relations.ts';
import { showListed } from '../findings/fields/derive.ts';
import { namesFor } from '../findings/fields/names.ts';
import { listFindings } from '../findings/list/list.ts';
import { connectionFacts } from '../integrations/relations.ts';
import { listItems } from '../work-items/items/read.ts';

interface Hit {
  id: string;
  title: string;
  hint: string;
}

type Found = Record<'findings' | 'assets' | 'work_items' | 'packages' | 'connections', Hit[]>;

/** The first results of each kind. A search is not a list: nobody continues it. */
const first = (limit: number, sort: string): PageRequest => ({ limit, sort, total: 'none', position: null, seal: () => '' });

/** Findings are found by words of two characters or more. */
const SOME_WORD = /[\p{L}\p{N}][._@/:-]*[\p{L}\p{N}]/u;

export async function search(tx: TenantTx, orgId: string, { q, limit }: { q: string; limit: number }): Promise<Found> {
  const text = q.trim();
  return {
    findings: SOME_WORD.test(text) ? await findings(tx, orgId, text, limit) : [],
    assets: (await listAssets(tx, orgId, { q: text, retired: false, limit, sort: 'name', total: 'none' }, first(limit, 'name'))).data.map(
      ({ id, name, type }) => ({
        id,
        title: name,
        hint: type,
      }),
    ),
    work_items: (await listItems(tx, orgId, { q: text }, first(limit, '-created_at'))).data.map(({ id, title, status }) => ({ id, title, hint: status })),
    packages: await hits(
      tx,
      sql`select id, work_item_title as title, status as hint from ${packageFacts} packages
        where org_id = ${orgId} and strpos(lower(work_item_title), lower(${text})) > 0 order by requested_at desc limit ${limit}`,
    ),
    connections: await hits(
      tx,
      sql`select id, name as title, provider as hint from ${connectionFacts} connections
        where org_id = ${orgId} and deleted_at is null and strpos(lower(name), lower(${text})) > 0 order by name limit ${limit}`,
    ),
  };
}

async function findings(tx: TenantTx, orgId: string, q: string, limit: number): Promise<Hit[]> {
  const { data } = await listFindings(tx, orgId, { q }, first(limit, '-risk_score'));
  const names = await namesFor(tx, orgId, data);
  return data.map((row) => {
    const { id, title, asset } = showListed(row, names);
    return { id, title, hint: asset.name };
  });
}

async function hits(tx: TenantTx, query: ReturnType<typeof sql>): Promise<Hit[]> {
  const { rows } = await query.execute(tx);
  return rows as Hit[];
}
