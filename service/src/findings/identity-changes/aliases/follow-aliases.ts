import { sql } from 'kysely';
import type { TenantTx } from '../../../db/database.ts';
import type { AliasFollower } from '../../../vulnerabilities/manage-aliases.ts';
import { endAgain } from '../../endings/end-again.ts';
import { type FindingFollower, idsSql } from '../../follower.ts';
import { takeImportLock } from '../../import-lock.ts';
import { adoptNames, aliasQuery } from './adopt-aliases.ts';
import { separateAlias } from './separate-alias.ts';

/** Merges and separates findings when a person changes which ids are those of one vulnerability. */
export const followAliases = (follower: FindingFollower): AliasFollower => ({
  prepare: takeImportLock,
  reported,
  async adopt(tx, actor, aliases, providers) {
    const merged = [];
    // No tool is called ''. It stands for the aliases that count for all.
    for (const provider of providers.length === 0 ? [''] : providers) merged.push(...(await adoptNames(tx, actor, provider, aliases)));
    await follower.moveLinks(tx, actor, merged);
    await follower.follow(tx, actor, idsSql(merged.flatMap(({ from_id, into_id }) => [from_id, into_id])));
  },
  async separate(tx, actor, revoked) {
    const { pairs, ids } = await separateAlias(tx, actor, revoked);
    await endAgain(tx, actor, follower, ids);
    await follower.restoreLinks(tx, actor, pairs);
    await follower.follow(tx, actor, idsSql(ids));
  },
});

async function reported(tx: TenantTx, orgId: string, ids: readonly string[]): Promise<string[]> {
  const found: string[] = [];
  for (const id of ids) {
    const { rows } = await sql`select from tenant_findings f where f.org_id = ${orgId} and f.facets @@ ${aliasQuery([id])}::tsquery limit 1`.execute(tx);
    if (rows.length > 0) found.push(id);
  }
  return found;
}
