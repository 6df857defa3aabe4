import { sql } from 'kysely';
import type { TenantTx } from '../../db/database.ts';
import { newId } from '../../shared/ids.ts';
import type { SourceKind } from '../fields/source-kinds.ts';

export interface Source {
  kind: SourceKind;
  provider: string;
  /** The tool, for formats that many tools write. Otherwise empty. */
  tool: string;
  name: string;
  /** The part of a repository that the scans cover. Otherwise empty. */
  path: string;
}

/** The words of a source in the search index. */
export function wordsOfSource({ kind, provider, name }: Source): string[] {
  return [`p:${provider}`, ...(kind === 'connection' ? [`c:${name}`] : [])];
}

interface KnownSource {
  id: string;
  retired_at: Date | null;
  /** When the last run that lists the assets of the source took place. */
  listed_at: Date | null;
}

/** What is known of a source. Null if it has never reported anything. */
export async function findSource(tx: TenantTx, orgId: string, source: Source): Promise<KnownSource | null> {
  const known = await tx
    .selectFrom('sources')
    .select([
      'id',
      'retired_at',
      sql<Date | null>`(select max(i.listed_at) from imports i where i.org_id = ${orgId} and i.source_id = sources.id)`.as('listed_at'),
    ])
    .where('org_id', '=', orgId)
    .where('kind', '=', source.kind)
    .where('provider', '=', source.provider)
    .where('tool', '=', source.tool)
    .where('name', '=', source.name)
    .where('path', '=', source.path)
    .executeTakeFirst();
  return known ?? null;
}

/** The sources that differ from this one in nothing but the tool. */
export function readSourcesLike(tx: TenantTx, orgId: string, { kind, provider, name, path }: Source): Promise<{ tool: string }[]> {
  return tx
    .selectFrom('sources')
    .select('tool')
    .where('org_id', '=', orgId)
    .where('kind', '=', kind)
    .where('provider', '=', provider)
    .where('name', '=', name)
    .where('path', '=', path)
    .execute();
}

/** Returns what is known of a source, and creates the source if necessary. Call it under the import lock. */
export async function sourceOf(tx: TenantTx, orgId: string, source: Source): Promise<KnownSource> {
  const known = await findSource(tx, orgId, source);
  if (known?.retired_at) {
    // A source that scans again is in use again.
    await tx
      .updateTable('sources')
      .set({ retired_at: null, retired_by: null, retired_reason: null })
      .where('org_id', '=', orgId)
      .where('id', '=', known.id)
      .execute();
  }
  if (known) return known;
  const id = newId();
  await tx
    .insertInto('sources')
    .values({ org_id: orgId, id, ...source })
    .execute();
  return { id, retired_at: null, listed_at: null };
}
