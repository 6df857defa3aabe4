import { type RawBuilder, sql } from 'kysely';
import { assetMerges } from '../../../assets/relations.ts';
import { auditTrail } from '../../../audit/relations.ts';
import type { TenantTx } from '../../../db/database.ts';
import { readWithCursor } from '../../../db/read-with-cursor.ts';
import { findingFacts, findingHistory } from '../../../findings/relations.ts';
import { readCredentialIds } from '../../../organizations/members/person-facts.ts';
import { findingLinks } from '../../../work-items/relations.ts';
import type { EventFacts } from '../trail.ts';

/** What the audit trail of a package is about. */
export interface TrailScope {
  orgId: string;
  itemId: string;
  /** The work item's artifacts and packages are always included. */
  assetIds: readonly string[];
  sourceIds: readonly string[];
  /** Connections and trusted pipelines. */
  connectionIds: readonly string[];
  importIds: readonly string[];
  /** Nothing before it concerns the findings. Who made credentials and connections, and who sent the scans, is asked without a limit. */
  from: Date;
  ownerlessKeys: ReadonlySet<string>;
}

/** Of imports, what people did. The findings and the list of scans have the results. */
const IMPORT_ACTIONS = ['import.created', 'import.needs_confirmation', 'import.confirmed', 'import.discarded', 'import.failed', 'import.file_deleted'];

/** Findings that were ever linked, and those that were merged into them. */
const everLinked = (orgId: string, itemId: string) => {
  const linked = sql`select l.finding_id from ${findingLinks} l where l.org_id = ${orgId} and l.work_item_id = ${itemId}`;
  return sql`${linked} union select f.id from ${findingFacts} f where f.org_id = ${orgId} and f.merged_into in (${linked})`;
};

/** Which ids are those of one vulnerability. Threat: an alias that is revoked separates a finding from what still shows it. */
const aliasesSql = (orgId: string, itemId: string, from: Date) => sql`
    select e.* from ${auditTrail} e
    where e.org_id = ${orgId} and e.object_type = 'alias' and e.occurred_at >= ${from} and array[e.object_id, e.after->>'vulnerability'] && (
      select coalesce(array_agg(distinct named.id), '{}') from ${findingFacts} f cross join lateral unnest(f.vulnerability_ids) as named (id)
      where f.org_id = ${orgId} and f.id in (${everLinked(orgId, itemId)}))`;

/** Events of the work item, of what belongs to it and of the policy. */
function auditedSql({ orgId, itemId, assetIds, sourceIds, connectionIds, importIds, from }: TrailScope): RawBuilder<unknown> {
  const objects = [itemId, orgId, ...assetIds, ...sourceIds, ...connectionIds, ...importIds];
  return sql`
    select e.* from ${auditTrail} e
    where e.org_id = ${orgId} and e.object_id in (
        select unnest(${objects}::text[])
        union select merged.from_asset_id::text from ${assetMerges} merged where merged.org_id = ${orgId} and merged.into_asset_id::text = any(${assetIds as string[]})
        union select id::text from artifacts where org_id = ${orgId} and work_item_id = ${itemId}
        union select id::text from evidence_packages where org_id = ${orgId} and work_item_id = ${itemId})
      and (e.occurred_at >= ${from} or e.object_type in ('connection', 'pipeline_trust', 'import')) and (e.object_type <> 'import' or e.action = any(${IMPORT_ACTIONS}))
    union all ${aliasesSql(orgId, itemId, from)}`;
}

export interface Actors {
  /** Names by person. */
  persons: Map<string, string>;
  keyIds: string[];
}

/** Everybody who acts in the trail. */
export async function readActors(tx: TenantTx, scope: TrailScope): Promise<Actors> {
  const { orgId, itemId } = scope;
  const { rows } = await sql<{ person: string | null; name: string | null; key_id: string | null }>`
    select person, max(person_name) as name, case actor_type when 'api_key' then actor_id end as key_id from (
      select person, person_name, actor_type, actor_id from (${auditedSql(scope)}) audited
      union all select h.person, h.person_name, h.actor_type, h.actor_id from ${findingHistory} h where h.org_id = ${orgId} and h.finding_id in (${everLinked(orgId, itemId)})
    ) acts group by 1, 3`.execute(tx);
  return {
    persons: new Map(rows.flatMap(({ person, name }) => (person === null ? [] : [[person, name ?? '']]))),
    keyIds: rows.flatMap(({ key_id }) => key_id ?? []),
  };
}

/** Every event in the scope, and every event about the credentials of those who act in it, in the order in which they happened. */
export async function readTrailEvents(tx: TenantTx, scope: TrailScope, { persons, keyIds }: Actors): Promise<AsyncIterable<EventFacts>> {
  const { orgId, itemId, ownerlessKeys } = scope;
  const credentials = [...persons.keys(), ...keyIds, ...(await readCredentialIds(tx, orgId, [...persons.keys()]))];
  const known = (person: string) => sql`case when ${sql.ref(person)} <> all(${[...ownerlessKeys]}::text[]) then ${sql.ref(person)} end as person`;
  const columns = sql`id, occurred_at, actor_type, actor_id, actor_name, ${known('person')}, action, object_type, object_id, before, after, null as reason, null::uuid as import_id, request_id`;
  return readWithCursor(
    tx,
    sql<EventFacts>`
    select ${columns} from (${auditedSql(scope)}) audited
    union all
    select ${columns} from ${auditTrail} e where e.org_id = ${orgId} and e.object_id = any(${credentials}) and e.object_type in ('member', 'api_key')
    union all
    select h.id, h.occurred_at, h.actor_type, h.actor_id, h.actor_name, ${known('h.person')}, 'finding.' || h.action, 'finding', h.finding_id::text, h.before, h.after, h.reason, h.import_id, h.request_id
    from ${findingHistory} h where h.org_id = ${orgId} and h.finding_id in (${everLinked(orgId, itemId)})
    order by occurred_at, id`,
  );
}
