import { type RawBuilder, sql } from 'kysely';
import type { Static } from 'typebox';
import { assetFacts } from '../../assets/relations.ts';
import type { TenantTx } from '../../db/database.ts';
import { fetchPage, type Page, type PageRequest } from '../../db/pages.ts';
import type { ImportChange, ImportChangeQuery } from '../schemas-imports.ts';
import { severityName } from '../severity.ts';
import type { Status } from '../status.ts';
import { type ImportRow, readImport } from './manage-imports.ts';

type Kind = Static<typeof ImportChange>['kind'];
type Said = Record<string, string | number | null>;

interface ChangeRow {
  id: string;
  kind: Kind;
  title: string;
  severity: number;
  asset_id: string;
  asset_type: Static<typeof ImportChange>['asset']['type'];
  asset_name: string;
  from_status: Status | null;
  to_status: Status | null;
  before: Said | null;
  after: Said | null;
}

/** What an import did to findings, each of them once. A dry run did nothing. */
export async function listImportChanges(
  tx: TenantTx,
  orgId: string,
  id: string,
  { kind }: Pick<Static<typeof ImportChangeQuery>, 'kind'>,
  page: PageRequest,
): Promise<Page<ChangeRow>> {
  const row = await readImport(tx, orgId, id);
  const unchanged = kind?.includes('unchanged') ? sql`union all ${unchangedSql(row)}` : sql``;
  const changes = sql<ChangeRow>`(
    with recorded as materialized (
      select unnest(finding_ids) as finding_id, kind from import_changes where org_id = ${orgId} and import_id = ${id} and kind <> 'unchanged'
    ), changed as (${changedSql(row)} ${unchanged})
    select f.id, changed.kind, f.title, f.severity, f.asset_id, a.type as asset_type, a.name as asset_name, changed.from_status, changed.to_status, changed.before, changed.after
    from changed
    join findings f on f.org_id = ${orgId} and f.id = changed.finding_id
    join ${assetFacts} a on a.org_id = ${orgId} and a.id = f.asset_id)`;
  const all = tx.selectFrom(changes.as('changes')).selectAll();
  return fetchPage(tx, kind ? all.where('kind', 'in', kind) : all, { severity: { column: 'severity', type: 'smallint' } }, page);
}

/** What the import did, with what the history says about it. An update that only adds a source or details has no entry. */
function changedSql({ org_id, id }: ImportRow): RawBuilder<unknown> {
  return sql`
    select r.finding_id, r.kind,
      case when r.kind <> 'created' then (array_agg(h.before->>'status' order by h.id) filter (where h.after ? 'status'))[1] end as from_status,
      coalesce((array_agg(h.after->>'status' order by h.id desc) filter (where h.after ? 'status'))[1], case when r.kind = 'created' then 'open' end) as to_status,
      (array_agg(h.before order by h.id) filter (where h.action = 'updated'))[1] as before,
      (array_agg(h.after order by h.id desc) filter (where h.action = 'updated'))[1] as after
    from recorded r left join finding_history h on h.org_id = ${org_id} and h.import_id = ${id} and h.finding_id = r.finding_id
    group by r.finding_id, r.kind`;
}

/**
 * What the import saw and did not change. Sightings keep only the last complete scan that saw them, so this is known only of the newest one of each track.
 * Of a run that is not complete, the import itself keeps it.
 */
function unchangedSql({ org_id, id }: ImportRow): RawBuilder<unknown> {
  return sql`
    select unnest(finding_ids), 'unchanged', null, null, null::jsonb, null::jsonb from import_changes where org_id = ${org_id} and import_id = ${id} and kind = 'unchanged'
    union
    select s.finding_id, 'unchanged', null, null, null::jsonb, null::jsonb
    from run_assets run
    join source_coverage c on c.org_id = ${org_id} and c.source_id = run.source_id and c.asset_id = run.asset_id and c.track = run.track and c.complete_import_id = run.import_id
    join findings f on f.org_id = ${org_id} and f.asset_id = run.asset_id
    join sightings s on s.org_id = ${org_id} and s.finding_id = f.id and s.source_id = run.source_id and s.track = run.track
    where run.org_id = ${org_id} and run.import_id = ${id} and s.state = 'present' and s.first_seen <= run.ended_at and (s.missed_at is null or s.missed_at < c.complete_at)
      and not exists (select from recorded where recorded.finding_id = s.finding_id)`;
}

export function toImportChange(row: ChangeRow): Static<typeof ImportChange> {
  return {
    finding_id: row.id,
    kind: row.kind,
    title: row.title,
    severity: severityName(row.severity),
    asset: { id: row.asset_id, type: row.asset_type, name: row.asset_name },
    from_status: row.from_status,
    to_status: row.to_status,
    fields: fieldsOf(row),
  };
}

const shown = (field: string, value: string | number | null | undefined): string | null =>
  value === null || value === undefined ? null : field === 'severity' ? severityName(Number(value)) : String(value);

function fieldsOf({ before, after }: ChangeRow): Static<typeof ImportChange>['fields'] {
  return (['severity', 'version', 'title'] as const).flatMap((field) => {
    const [from, to] = [shown(field, before?.[field]), shown(field, after?.[field])];
    return from === to ? [] : [{ field, from, to }];
  });
}
