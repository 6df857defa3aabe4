import { sql } from 'kysely';
import type { TenantTx } from '../../db/database.ts';

export const sourceKinds = ['import', 'connection', 'manual'] as const;
export type SourceKind = (typeof sourceKinds)[number];

/** Sources of one kind with the same words in the search index. */
export interface SourceGroup {
  kind: SourceKind;
  provider: string;
  /** The id of the connection. Otherwise null. */
  connection: string | null;
  ids: string[];
}

/** An organization has few connections and providers, but any number of scans with names of their own. */
export async function readSourceGroups(tx: TenantTx, orgId: string): Promise<SourceGroup[]> {
  const { rows } = await sql<SourceGroup>`
    select kind, provider, case kind when 'connection' then name end as connection, array_agg(id) as ids from sources where org_id = ${orgId} group by 1, 2, 3`.execute(
    tx,
  );
  return rows;
}

/**
 * How to find what sources of these kinds reported. All of it has one of the words. A report format and a connection can have the same provider: then
 * findings have a word without such a source, and `others` are all sources of other kinds.
 */
export function sourcesOfKinds(groups: readonly SourceGroup[], kinds: readonly SourceKind[]): { words: string[]; others: string[] | null } {
  const wanted = groups.filter(({ kind }) => kinds.includes(kind));
  const rest = groups.filter(({ kind }) => !kinds.includes(kind));
  const byProvider = wanted.filter(({ connection }) => connection === null).map(({ provider }) => provider);
  const byConnection = wanted.flatMap(({ connection }) => connection ?? []);
  return {
    words: [...new Set([...byProvider.map((provider) => `p:${provider}`), ...byConnection.map((id) => `c:${id}`)])],
    others: rest.some(({ provider }) => byProvider.includes(provider)) ? rest.flatMap(({ ids }) => ids) : null,
  };
}
