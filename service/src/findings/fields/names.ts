import type { AssetType } from '@rrs/scan-reports';
import { type Selectable, sql } from 'kysely';
import { assetFacts } from '../../assets/relations.ts';
import type { TenantTx } from '../../db/database.ts';
import { prepared } from '../../db/prepared.ts';
import type { DB } from '../../db/types.ts';
import { vulnerabilityFacts } from '../../vulnerabilities/relations.ts';
import type { SourceKind } from './source-kinds.ts';

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
  /** Current EPSS scores, by weakness. */
  scores: ReadonlyMap<string, CurrentScore>;
}

interface CurrentScore {
  id: string;
  score: number;
  percentile: number | null;
  date: string | null;
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
  kind: SourceKind;
  provider: string;
  tool: string;
  name: string;
  connection_id: string | null;
}

const shownWorkItem = sql`json_build_object('id', l.work_item_id, 'title', l.title, 'status', l.status, 'assignee', l.assignee,
  'linked_at', to_char(l.linked_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))`;

interface Referred {
  assets: Names['assets'] extends ReadonlyMap<string, infer Asset> ? Asset[] : never;
  sources: Omit<ShownSource, 'connection_id'>[];
  suppressed: string[];
  work_items: { finding_id: string; count: number; last: ShownWorkItem[] }[];
  scores: CurrentScore[];
}

/** One statement for all kinds of objects: a page is read often, and each statement costs more than its rows. */
const referredBy = prepared<Record<'ids' | 'assetIds' | 'sourceIds' | 'weaknesses', string[]> & { orgId: string }, Referred>((tx, values) => {
  const { orgId, ids, assetIds, sourceIds, weaknesses } = values;
  const query = sql<Referred>`select
    (select coalesce(json_agg(json_build_object('id', id, 'type', type, 'name', name, 'criticality', criticality, 'exposure', exposure)), '[]')
      from ${assetFacts} a where org_id = ${orgId} and id = any(${assetIds}::uuid[])) as assets,
    (select coalesce(json_agg(json_build_object('id', id, 'kind', kind, 'provider', provider, 'tool', tool, 'name', name)), '[]')
      from sources where org_id = ${orgId} and id = any(${sourceIds}::uuid[])) as sources,
    array(select finding_id from sightings where org_id = ${orgId} and finding_id = any(${ids}::uuid[]) and state = 'present'
      group by finding_id having bool_and(suppressed)) as suppressed,
    (select coalesce(json_agg(json_build_object('finding_id', finding_id, 'count', count, 'last', last)), '[]') from (
      select finding_id, max(count)::int as count, json_agg(${shownWorkItem} order by n) as last from (
        select l.*, row_number() over (partition by finding_id order by linked_at desc, work_item_id) as n, count(*) over (partition by finding_id) as count
        from finding_work_items l where org_id = ${orgId} and finding_id = any(${ids}::uuid[])
      ) l where n <= 3 group by finding_id
    ) w) as work_items,
    (select coalesce(json_agg(json_build_object('id', id, 'score', epss, 'percentile', epss_percentile, 'date', epss_date)), '[]')
      from ${vulnerabilityFacts} v where id = any(${weaknesses}::text[]) and epss is not null) as scores`;
  return { compile: () => query.compile(tx) };
});

/** The requested and active decisions of findings. */
const currentDecisions = prepared<{ orgId: string; ids: string[] }, DecisionRow>((tx, { orgId, ids }) =>
  tx
    .selectFrom('decisions')
    .selectAll()
    .where('org_id', '=', orgId)
    .where(sql<boolean>`finding_id = any(${ids}::uuid[])`)
    .where(sql<boolean>`state in ('requested', 'active')`),
);

interface Referring {
  id: string;
  asset_id: string;
  source_ids: string[];
  weakness: string;
}

/** Reads what findings refer to: assets, sources, scores, decisions, and the last three work items of each. */
export async function namesFor(tx: TenantTx, orgId: string, rows: readonly Referring[]): Promise<Names> {
  if (rows.length === 0) return { assets: new Map(), sources: new Map(), suppressed: new Set(), decisions: new Map(), workItems: new Map(), scores: new Map() };
  const ids = rows.map(({ id }) => id);
  const assetIds = [...new Set(rows.map(({ asset_id }) => asset_id))];
  const sourceIds = [...new Set(rows.flatMap(({ source_ids }) => source_ids))];
  const weaknesses = [...new Set(rows.map(({ weakness }) => weakness))];
  const [decisions, [referred]] = await Promise.all([currentDecisions(tx, { orgId, ids }), referredBy(tx, { orgId, ids, assetIds, sourceIds, weaknesses })]);
  return {
    assets: new Map(referred?.assets.map((asset) => [asset.id, asset])),
    sources: new Map(referred?.sources.map((source) => [source.id, showSource(source)])),
    suppressed: new Set(referred?.suppressed),
    decisions: Map.groupBy(decisions, ({ finding_id }) => finding_id),
    workItems: new Map(referred?.work_items.map(({ finding_id, count, last }) => [finding_id, { count, last }])),
    scores: new Map(referred?.scores.map((score) => [score.id, score])),
  };
}

/** All work items that a finding is linked to. */
export async function allWorkItems(tx: TenantTx, orgId: string, id: string): Promise<ShownWorkItem[]> {
  const { rows } = await sql<{ shown: ShownWorkItem }>`
    select ${shownWorkItem} as shown from finding_work_items l where org_id = ${orgId} and finding_id = ${id} order by linked_at desc, work_item_id`.execute(
    tx,
  );
  return rows.map(({ shown }) => shown);
}

/** The name of a source that belongs to a connection is the id of the connection. */
export function showSource({ name, ...source }: Omit<ShownSource, 'connection_id'>): ShownSource {
  const isConnection = source.kind === 'connection';
  return { ...source, name: isConnection ? '' : name, connection_id: isConnection ? name : null };
}
