import type { TenantTx } from '../db/database.ts';
import { newId } from '../shared/ids.ts';

export interface Source {
  kind: 'manual' | 'import' | 'connection';
  provider: string;
  name: string;
}

/** The id of a source, made when it first says something. Call it where imports take turns. */
export async function sourceOf(tx: TenantTx, orgId: string, { kind, provider, name }: Source): Promise<string> {
  const known = await tx
    .selectFrom('sources')
    .select('id')
    .where('org_id', '=', orgId)
    .where('kind', '=', kind)
    .where('provider', '=', provider)
    .where('name', '=', name)
    .executeTakeFirst();
  if (known) return known.id;
  const id = newId();
  await tx.insertInto('sources').values({ org_id: orgId, id, kind, provider, name }).execute();
  return id;
}
