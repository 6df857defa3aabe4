import { type RawBuilder, sql } from 'kysely';
import { assetFacts } from '../assets/relations.ts';
import type { TenantTx } from '../db/database.ts';
import { webhookUrls } from '../events/relations.ts';
import { artifactTitles, packageFacts } from '../evidence/relations.ts';
import { findingFacts, importNames } from '../findings/relations.ts';
import { connectionFacts, runFacts } from '../integrations/relations.ts';
import { apiKeyNames, memberNames } from '../organizations/relations.ts';
import { isUuid } from '../shared/ids.ts';
import { workItemFacts } from '../work-items/relations.ts';

/** Objects of the audit trail, by kind: where they are, and what people call them. */
const named: Readonly<Record<string, { from: RawBuilder<unknown>; name: RawBuilder<unknown> }>> = {
  api_key: { from: apiKeyNames, name: sql`o.name` },
  artifact: { from: artifactTitles, name: sql`o.title` },
  asset: { from: assetFacts, name: sql`o.name` },
  connection: { from: connectionFacts, name: sql`o.name` },
  evidence_package: { from: packageFacts, name: sql`o.work_item_title || ', No. ' || o.sequence` },
  finding: { from: findingFacts, name: sql`o.title` },
  import: { from: importNames, name: sql`o.filename` },
  member: { from: memberNames, name: sql`o.name` },
  sync_run: { from: runFacts, name: sql`(select c.name from ${connectionFacts} c where c.org_id = o.org_id and c.id = o.connection_id)` },
  webhook: { from: webhookUrls, name: sql`o.url` },
  work_item: { from: workItemFacts, name: sql`o.title` },
};

interface NamedObject {
  type: string;
  id: string;
}

/** The names that objects have now, by kind and id, in one statement. Objects that are gone, and kinds without names, are absent. */
export async function namesOfObjects(tx: TenantTx, orgId: string, objects: readonly NamedObject[]): Promise<ReadonlyMap<string, string>> {
  const idsByType = Map.groupBy(
    objects.filter(({ id }) => isUuid(id)),
    ({ type }) => type,
  );
  const selects = [...idsByType].flatMap(([type, found]) => {
    const kind = named[type];
    const ids = [...new Set(found.map(({ id }) => id))];
    return kind
      ? [sql`select ${type} as type, o.id::text as id, ${kind.name} as name from ${kind.from} o where o.org_id = ${orgId} and o.id = any(${ids}::uuid[])`]
      : [];
  });
  if (selects.length === 0) return new Map();
  const { rows } = await sql<NamedObject & { name: string | null }>`${sql.join(selects, sql` union all `)}`.execute(tx);
  return new Map(rows.flatMap(({ type, id, name }) => (name === null ? [] : [[`${type} ${id}`, name]])));
}
