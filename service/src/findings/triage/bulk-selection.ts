import { type Expression, type RawBuilder, sql } from 'kysely';
import type { Static } from 'typebox';
import { recordAudit } from '../../audit/record.ts';
import type { TenantTx } from '../../db/database.ts';
import type { Actor } from '../../shared/actor.ts';
import { invalidField } from '../../shared/errors.ts';
import { newId } from '../../shared/ids.ts';
import { filterFindings, ownFindings } from '../list/filter.ts';
import { prepareFilter } from '../list/prepare-filter.ts';
import type { BulkAnswer, BulkBody } from '../schemas-bulk.ts';

export type BulkRequest = Static<typeof BulkBody>;
export type BulkChange = BulkRequest['change'];
export type BulkResult = Static<typeof BulkAnswer>;

const MAX_MATCHED = 100_000;
const MAX_REFUSALS = 1_000;

/** Selects the findings of a bulk request, locked unless it is a dry run. */
export async function matchedSql(tx: TenantTx, orgId: string, { ids, filter = {}, dry_run = false }: BulkRequest) {
  const found = filterFindings(ownFindings(tx).select('findings.id'), orgId, await prepareFilter(tx, orgId, filter));
  if (ids === undefined) await assertNotTooMany(tx, found.limit(MAX_MATCHED + 1));
  const wanted = tx
    .selectFrom('findings')
    .select(needed)
    .where('findings.org_id', '=', orgId)
    .where(ids === undefined ? sql<boolean>`findings.id in (${found.limit(MAX_MATCHED)})` : sql<boolean>`findings.id = any(${[...new Set(ids)]}::uuid[])`);
  return dry_run ? wanted : wanted.forNoKeyUpdate();
}

const needed = [
  'findings.id',
  'findings.asset_id',
  'findings.status',
  'findings.status_reason',
  'findings.reason_code',
  'findings.status_changed_by',
  'findings.assurance',
  'findings.acceptance_owner',
  'findings.acceptance_expires_at',
  'findings.compensating_control',
  'findings.justification',
  'findings.severity',
  'findings.source_severity',
  'findings.severity_override',
  'findings.cvss_score',
  'findings.epss',
  'findings.kev',
  'findings.malicious',
  'findings.clock_from',
  'findings.tags',
] as const;

async function assertNotTooMany(tx: TenantTx, found: Expression<unknown>): Promise<void> {
  const { rows } = await sql<{ count: number }>`select count(*)::int as count from (${found}) found`.execute(tx);
  if ((rows[0]?.count ?? 0) <= MAX_MATCHED) return;
  throw invalidField({
    in: 'body',
    path: '/filter',
    code: 'too_many',
    detail: `\`filter\` matches more than ${MAX_MATCHED.toLocaleString('en')} findings. Add filters and send several requests.`,
  });
}

/** What every bulk request reports about the rows of `decided`. */
export interface Summary {
  matched: number;
  changed: number;
  refused: number;
  refusals: BulkResult['refused'];
  unknown: string[] | null;
}

/** The columns of `Summary`. The rows of `decided` have `id`, `code`, `detail` and `changed`. */
export function summarySql({ ids }: BulkRequest): RawBuilder<unknown> {
  const unknown =
    ids === undefined
      ? sql`null`
      : sql`(select array_agg(given) from unnest(${[...new Set(ids)]}::uuid[]) given where not exists (select from decided where id = given))`;
  return sql`
    count(*)::int as matched, count(*) filter (where code is null and changed)::int as changed, count(*) filter (where code is not null)::int as refused,
    coalesce((select jsonb_agg(refused) from (select id, code, detail from decided where code is not null order by id limit ${MAX_REFUSALS}) refused), '[]') as refusals,
    ${unknown} as unknown`;
}

export function resultOf(summary: Summary | undefined, dry_run: boolean): BulkResult {
  const { matched, changed, refused, refusals, unknown } = summary ?? { matched: 0, changed: 0, refused: 0, refusals: [], unknown: null };
  const missing = (unknown ?? []).map((id) => ({ id, code: 'not_found', detail: `There is no finding "${id}" in your organization.` }));
  return {
    dry_run,
    counts: { matched: matched + missing.length, changed, unchanged: matched - changed - refused, refused: refused + missing.length },
    refused: [...missing, ...refusals].slice(0, MAX_REFUSALS),
  };
}

/** One audit event for all changes. */
export async function auditBulk(tx: TenantTx, actor: Actor, { change, ids, filter }: BulkRequest, { counts }: BulkResult): Promise<void> {
  const after = { change, ...(ids === undefined ? { filter } : { ids: ids.length }), ...counts };
  await recordAudit(tx, actor, { action: 'finding.bulk_changed', objectType: 'finding', objectId: newId(), after });
}
