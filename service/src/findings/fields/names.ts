import type { AssetType } from '@rrs/scan-reports';
import { type Selectable, sql } from 'kysely';
import { assetFacts } from '../../assets/relations.ts';
import { executePrepared, type TenantTx } from '../../db/database.ts';
import type { DB } from '../../db/types.ts';

export type DecisionRow = Selectable<DB['decisions']>;

export interface Names {
  assets: ReadonlyMap<
    string,
    { id: string; type: AssetType; name: string; criticality: 'low' | 'medium' | 'high' | 'critical'; exposure: 'internet' | 'internal' | 'unknown' }
  >;
  sources: ReadonlyMap<string, ShownSource>;
  /** Findings that all sources which still see them suppress. */
  suppressed: ReadonlySet<string>;
  /** Decisions by finding, the current ones first. */
  decisions: ReadonlyMap<string, readonly DecisionRow[]>;
  workItems: ReadonlyMap<string, { count: number; last: ShownWorkItem[] }>;
}

export interface ShownWorkItem {
  id: string;
  title: string;
  status: string;
  assignee: string | null;
  linked_at: string;
}

export interface ShownSource {
  id: string;
  kind: 'manual' | 'import' | 'connection';
  provider: string;
  tool: string;
  name: string;
  connection_id: string | null;
}

/** Reads what findings refer to, with one statement per kind of object. */
export async function namesFor(tx: TenantTx, orgId: string, rows: readonly { id: string; asset_id: string; source_ids: string[] }[]): Promise<Names> {
  const ids = rows.map(({ id }) => id);
  const assetIds = [...new Set(rows.map(({ asset_id }) => asset_id))];
  const sourceIds = [...new Set(rows.flatMap(({ source_ids }) => source_ids))];
  const [decisions, workItems, assets, sources, suppressed] = await Promise.all([
    currentDecisions(tx, orgId, ids),
    lastWorkItems(tx, orgId, ids),
    assetIds.length === 0
      ? []
      : executePrepared(
          tx,
          tx
            .selectFrom(assetFacts.as('assets'))
            .select(['id', 'type', 'name', 'criticality', 'exposure'])
            .where('org_id', '=', orgId)
            .where(sql<boolean>`id = any(${assetIds}::uuid[])`),
        ),
    sourceIds.length === 0
      ? []
      : executePrepared(
          tx,
          tx
            .selectFrom('sources')
            .select(['id', 'kind', 'provider', 'tool', 'name'])
            .where('org_id', '=', orgId)
            .where(sql<boolean>`id = any(${sourceIds}::uuid[])`),
        ),
    ids.length === 0
      ? []
      : executePrepared(
          tx,
          tx
            .selectFrom('sightings')
            .select('finding_id')
            .where('org_id', '=', orgId)
            .where(sql<boolean>`finding_id = any(${ids}::uuid[])`)
            .where('state', '=', 'present')
            .groupBy('finding_id')
            .having(({ fn }) => fn.agg<boolean>('bool_and', ['suppressed'])),
        ),
  ]);
  return {
    assets: new Map(assets.map((asset) => [asset.id, asset])),
    sources: new Map(sources.map((source) => [source.id, showSource(source)])),
    suppressed: new Set(suppressed.map(({ finding_id }) => finding_id)),
    decisions,
    workItems,
  };
}

/** The last work items that findings were linked to, at most three for each, and how many there are. */
async function lastWorkItems(tx: TenantTx, orgId: string, ids: readonly string[]): Promise<Names['workItems']> {
  if (ids.length === 0) return new Map();
  const query = sql<{ finding_id: string; count: number; last: ShownWorkItem[] }>`
    select finding_id, max(count)::int as count, jsonb_agg(${shownWorkItem} order by n) as last from (
      select l.*, row_number() over (partition by finding_id order by linked_at desc, work_item_id) as n, count(*) over (partition by finding_id) as count
      from finding_work_items l where org_id = ${orgId} and finding_id = any(${ids as string[]}::uuid[])
    ) l where n <= 3 group by finding_id`;
  const rows = await executePrepared(tx, { compile: () => query.compile(tx) });
  return new Map(rows.map(({ finding_id, count, last }) => [finding_id, { count, last }]));
}

/** All work items that a finding is linked to. */
export async function allWorkItems(tx: TenantTx, orgId: string, id: string): Promise<ShownWorkItem[]> {
  const { rows } = await sql<{ shown: ShownWorkItem }>`
    select ${shownWorkItem} as shown from finding_work_items l where org_id = ${orgId} and finding_id = ${id} order by linked_at desc, work_item_id`.execute(
    tx,
  );
  return rows.map(({ shown }) => shown);
}

const shownWorkItem = sql`jsonb_build_object('id', l.work_item_id, 'title', l.title, 'status', l.status, 'assignee', l.assignee,
  'linked_at', to_char(l.linked_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))`;

/** The requested and active decisions of findings. */
async function currentDecisions(tx: TenantTx, orgId: string, ids: readonly string[]): Promise<Names['decisions']> {
  if (ids.length === 0) return new Map();
  const rows = await executePrepared(
    tx,
    tx
      .selectFrom('decisions')
      .selectAll()
      .where('org_id', '=', orgId)
      .where(sql<boolean>`finding_id = any(${ids as string[]}::uuid[])`)
      .where(sql<boolean>`state in ('requested', 'active')`),
  );
  return Map.groupBy(rows, ({ finding_id }) => finding_id);
}

/** The name of a source that belongs to a connection is the id of the connection. */
export function showSource({ name, ...source }: Omit<ShownSource, 'connection_id'>): ShownSource {
  const isConnection = source.kind === 'connection';
  return { ...source, name: isConnection ? '' : name, connection_id: isConnection ? name : null };
}
