import { sql } from 'kysely';
import type { TenantTx } from '../../db/database.ts';
import { count, fetchPage, type Page, type PageRequest, pageOf, type SortColumns, sorted, sortOf } from '../../db/pages.ts';
import { prepared } from '../../db/prepared.ts';
import { AppError, notFound } from '../../shared/errors.ts';
import { listedColumns } from '../fields/derive.ts';
import { type FindingSelect, ownFindings } from './filter.ts';
import { fetchFilteredPage } from './filtered-page.ts';
import { type FindingFilter, prepareFilter } from './prepare-filter.ts';

const listed = listedColumns.map((column) => `findings.${column}` as const);

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

export async function listFindings(tx: TenantTx, orgId: string, filter: FindingFilter, request: PageRequest): Promise<Page<Row>> {
  if (Object.keys(filter).length > 0) {
    return fetchFilteredPage(tx, { select, read, orgId, prepared: await prepareFilter(tx, orgId, filter) }, columns, request);
  }
  if (!PREPARED_LIMITS.includes(request.limit)) return fetchPage(tx, allOf(tx, orgId), columns, request);
  const { value = null, id = '' } = request.position ?? {};
  const counted = request.total === 'none' ? null : count(tx, allOf(tx, orgId), request.total);
  const [rows, total] = await Promise.all([pageStatement(request)(tx, { orgId, value, id }), counted]);
  return pageOf(rows, total, sortOf(columns, request), request);
}

const read = prepared<{ orgId: string; ids: string[] }, Row>((tx, { orgId, ids }) =>
  select(ownFindings(tx)).where('findings.org_id', '=', orgId).where(sql<boolean>`findings.id = any(${ids}::uuid[])`),
);

// A plan for all values of a parameter could not use the indexes of listed findings.
const allOf = (tx: TenantTx, orgId: string) => select(ownFindings(tx)).where('findings.org_id', '=', orgId).where('findings.listed', '=', sql.lit(true));

/** Statements with a limit that few use are not worth keeping prepared. */
const PREPARED_LIMITS: readonly number[] = [50, 100, 200];
const pages = new Map<string, ReturnType<typeof preparedPage>>();

/** The statement of a page without filters. All pages of the same order and length have the same one, except the first. */
function pageStatement(request: PageRequest) {
  const { column, descending } = sortOf(columns, request);
  const key = `${column} ${descending} ${request.limit} ${request.position === null}`;
  const statement = pages.get(key) ?? preparedPage(request);
  pages.set(key, statement);
  return statement;
}

function preparedPage(request: PageRequest) {
  return prepared<{ orgId: string; value: string | null; id: string }, Row>((tx, { orgId, value, id }) =>
    sorted(allOf(tx, orgId), sortOf(columns, request), { ...request, position: request.position && { ...request.position, value, id } }),
  );
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
