import { sql } from 'kysely';
import type { TenantTx } from '../../db/database.ts';
import { fetchPage, type PageRequest, type SortColumns } from '../../db/pages.ts';
import { AppError, notFound } from '../../shared/errors.ts';
import { listedColumns } from '../fields/derive.ts';
import { type FindingSelect, ownFindings } from './filter.ts';
import { fetchFilteredPage } from './filtered-page.ts';
import { type FindingFilter, prepareFilter } from './prepare-filter.ts';

const listed = listedColumns.map((column) => `findings.${column}` as const);

export async function listFindings(tx: TenantTx, orgId: string, filter: FindingFilter, page: PageRequest) {
  const select = (from: FindingSelect<object>) => from.select(listed);
  type Row = Awaited<ReturnType<ReturnType<typeof select>['executeTakeFirstOrThrow']>>;
  const columns: SortColumns<Row> = {
    risk_score: { column: 'risk_score', type: 'real' },
    severity: { column: 'severity', type: 'smallint' },
    first_seen: { column: 'first_seen', type: 'timestamptz' },
    last_seen: { column: 'last_seen', type: 'timestamptz' },
    created_at: { column: 'created_at', type: 'timestamptz' },
    updated_at: { column: 'updated_at', type: 'timestamptz' },
    due_at: { column: 'due_at', type: 'timestamptz' },
  };
  if (Object.keys(filter).length > 0) return fetchFilteredPage(tx, { select, orgId, prepared: await prepareFilter(tx, orgId, filter) }, columns, page);
  // A plan for all values of a parameter could not use the indexes of listed findings.
  const all = select(ownFindings(tx)).where('findings.org_id', '=', orgId).where('findings.listed', '=', sql.lit(true));
  return fetchPage(tx, all, columns, page, { prepare: true });
}

export async function readFinding(tx: TenantTx, orgId: string, id: string) {
  const finding = await tx.selectFrom('findings').selectAll().where('org_id', '=', orgId).where('id', '=', id).executeTakeFirst();
  if (!finding) throw notFound('finding', id);
  return finding;
}

/** Locks a finding to change it. */
export async function lockFinding(tx: TenantTx, orgId: string, id: string) {
  const finding = await tx.selectFrom('findings').selectAll().where('org_id', '=', orgId).where('id', '=', id).forUpdate().executeTakeFirst();
  if (!finding) throw notFound('finding', id);
  const merged = mergedInto(finding);
  if (merged !== null) throw new AppError('conflict', merged);
  return finding;
}

export async function readHistory(tx: TenantTx, orgId: string, id: string, page: PageRequest) {
  await readFinding(tx, orgId, id);
  const query = tx.selectFrom('finding_history').selectAll().where('org_id', '=', orgId).where('finding_id', '=', id);
  return fetchPage(tx, query, { occurred_at: { column: 'occurred_at', type: 'timestamptz' } }, page);
}

/** Why a merged finding cannot change. */
export function mergedInto({ merged_into }: { merged_into: string | null }): string | null {
  return merged_into === null ? null : `The finding was merged into "${merged_into}". Change that one instead.`;
}
