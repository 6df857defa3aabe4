import type { TenantTx } from '../../db/database.ts';
import { newId } from '../../shared/ids.ts';

export interface Source {
  kind: 'manual' | 'import' | 'connection';
  provider: string;
  /** For formats that many tools write; else empty. */
  tool: string;
  name: string;
}

/** How the list finds what it says. */
export function wordsOfSource({ kind, provider, name }: Source): string[] {
  return [`p:${provider}`, ...(kind === 'connection' ? [`c:${name}`] : [])];
}

/** The id of a source, made when it first says something. Call it where imports take turns. */
export async function sourceOf(tx: TenantTx, orgId: string, source: Source): Promise<string> {
  const known = await tx
    .selectFrom('sources')
    .select('id')
    .where('org_id', '=', orgId)
    .where('kind', '=', source.kind)
    .where('provider', '=', source.provider)
    .where('tool', '=', source.tool)
    .where('name', '=', source.name)
    .executeTakeFirst();
  if (known) return known.id;
  const id = newId();
  await tx
    .insertInto('sources')
    .values({ org_id: orgId, id, ...source })
    .execute();
  return id;
}
