import { sql } from 'kysely';
import type { TenantTx } from '../../db/database.ts';
import { fetchPage, type PageRequest, type SortColumns } from '../../db/pages.ts';
import { notFound } from '../../shared/errors.ts';
import { readRiskOrigin } from '../../vulnerabilities/risk-origin.ts';
import { listedColumns } from '../fields/derive.ts';
import type { FindingRow } from '../fields/field.ts';
import { namesFor } from '../fields/names.ts';
import { ownFindings } from './filter.ts';
import { fetchFilteredPage } from './filtered-page.ts';
import { type FindingFilter, prepareFilter } from './prepare-filter.ts';

const listed = listedColumns.map((column) => `findings.${column}` as const);

export async function listFindings(tx: TenantTx, orgId: string, filter: FindingFilter, page: PageRequest) {
  const all = ownFindings(tx).select(listed).where('findings.org_id', '=', orgId);
  type Row = Awaited<ReturnType<typeof all.executeTakeFirstOrThrow>>;
  const columns: SortColumns<Row> = {
    risk_score: { column: 'risk_score', type: 'real' },
    severity: { column: 'severity', type: 'smallint' },
    first_seen: { column: 'first_seen', type: 'timestamptz' },
    last_seen: { column: 'last_seen', type: 'timestamptz' },
    created_at: { column: 'created_at', type: 'timestamptz' },
    updated_at: { column: 'updated_at', type: 'timestamptz' },
    due_at: { column: 'due_at', type: 'timestamptz' },
  };
  if (Object.keys(filter).length === 0) return fetchPage(tx, all.where('findings.listed', '=', true), columns, page);
  return fetchFilteredPage(tx, { all, orgId, prepared: await prepareFilter(tx, orgId, filter) }, columns, page);
}

export async function readFinding(tx: TenantTx, orgId: string, id: string) {
  const finding = await tx.selectFrom('findings').selectAll().where('org_id', '=', orgId).where('id', '=', id).executeTakeFirst();
  if (!finding) throw notFound('finding', id);
  return finding;
}

export async function lockFinding(tx: TenantTx, orgId: string, id: string) {
  const finding = await tx.selectFrom('findings').selectAll().where('org_id', '=', orgId).where('id', '=', id).forUpdate().executeTakeFirst();
  if (!finding) throw notFound('finding', id);
  return finding;
}

/** Reads what belongs to a single finding: its names, sightings, texts, decisions and work items. */
export async function readDetails(tx: TenantTx, orgId: string, finding: FindingRow) {
  const [names, sightings, texts, decisions, workItems, riskOrigin] = await Promise.all([
    namesFor(tx, orgId, [finding]),
    tx
      .selectFrom('sightings')
      .innerJoin('sources', (join) => join.onRef('sources.org_id', '=', 'sightings.org_id').onRef('sources.id', '=', 'sightings.source_id'))
      .selectAll('sightings')
      .select(['sources.kind', 'sources.provider', 'sources.tool', 'sources.name as source_name'])
      .where('sightings.org_id', '=', orgId)
      .where('sightings.finding_id', '=', finding.id)
      .orderBy('sightings.first_seen')
      .execute(),
    finding.text_id === null ? [] : tx.selectFrom('finding_texts').selectAll().where('org_id', '=', orgId).where('id', '=', finding.text_id).execute(),
    tx
      .selectFrom('decisions')
      .selectAll()
      .where('org_id', '=', orgId)
      .where('finding_id', '=', finding.id)
      .orderBy(sql`state in ('requested', 'active')`, 'desc')
      .orderBy('id', 'desc')
      .limit(20)
      .execute(),
    sql<{ id: string; title: string; status: string; linked_at: Date }>`
      select work_item_id as id, title, status, linked_at from finding_work_items
      where org_id = ${orgId} and finding_id = ${finding.id} order by linked_at, work_item_id`.execute(tx),
    readRiskOrigin(tx, finding),
  ]);
  return { ...names, decisions: new Map([[finding.id, decisions]]), sightings, text: texts[0] ?? null, workItems: workItems.rows, riskOrigin };
}

export async function readHistory(tx: TenantTx, orgId: string, id: string, page: PageRequest) {
  await readFinding(tx, orgId, id);
  const query = tx.selectFrom('finding_history').selectAll().where('org_id', '=', orgId).where('finding_id', '=', id);
  return fetchPage(tx, query, { occurred_at: { column: 'occurred_at', type: 'timestamptz' } }, page);
}
