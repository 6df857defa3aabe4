import { sql } from 'kysely';
import type { TenantTx } from '../../../db/database.ts';
import { emitSql } from '../../../events/emit.ts';
import type { Actor } from '../../../shared/actor.ts';
import { AppError } from '../../../shared/errors.ts';
import type { MergedPair } from '../../follower.ts';
import { historySql } from '../../history.ts';
import { reasonSentences } from '../../reason-codes.ts';
import { statusColumns } from '../merge-findings.ts';

interface Copying {
  /** The findings that both assets have. */
  ids: readonly string[];
  /** The asset that gets the copies. */
  assetId: string;
  mergedAt: Date;
}

/**
 * Creates a second finding for each one that reports about both of two merged assets have shown. What people decided while the assets were one holds for both.
 * What they had decided before, and the severity that they gave it, belongs to the first one. Returns the copies with their originals.
 */
export async function copyFindings(tx: TenantTx, actor: Actor, { ids, assetId, mergedAt }: Copying): Promise<MergedPair[]> {
  if (ids.length === 0) return [];
  const { orgId } = actor;
  const own = await readOwn(tx, orgId, { ids, assetId });
  const owned = own.map(({ into_id }) => into_id);
  const undecided = sql`jsonb_build_object('status', 'open', 'status_changed_at', now(), ${sql.join(
    statusColumns.filter((column) => column !== 'status' && column !== 'status_changed_at').flatMap((column) => [sql.lit(column), sql`null::text`]),
  )})`;
  const sentence = sql`${reasonSentences.split}::text`;
  const entries = sql`
    select id as finding_id, 'split' as action, '{}'::jsonb as before, jsonb_build_object('status', status, 'reason_code', 'split', 'split_from', from_id) as after, ${sentence} as reason from pairs
    union all
    select from_id, 'split', '{}'::jsonb, jsonb_build_object('split', id), ${sentence} from pairs`;
  const events = sql`select id::text as subject, jsonb_build_object('from', from_id, 'status', status, 'reason', ${sentence}) as data from pairs`;
  const { rows } = await sql<MergedPair>`
    with decided as materialized (
      select distinct d.finding_id from decisions d where d.org_id = ${orgId} and d.finding_id = any(${ids as string[]}::uuid[]) and d.state = 'active' and d.decided_at > ${mergedAt}
    ), planned as materialized (
      select f.id as from_id, copy.* from findings f
      cross join lateral jsonb_populate_record(f, jsonb_build_object('id', new_id(), 'asset_id', ${assetId}::uuid, 'severity', f.source_severity, 'severity_override', null,
        'severity_override_by', null, 'severity_override_reason', null, 'due_at', 'infinity', 'clock_from', now(), 'reopen_count', 0, 'version', 1, 'created_at', now(), 'updated_at', now())
        || case when f.id in (select finding_id from decided) then '{}' else ${undecided} end) copy
      where f.org_id = ${orgId} and f.id = any(${ids as string[]}::uuid[]) and f.id <> all(${owned}::uuid[])
    ), copies as (
      insert into findings select made.* from planned cross join jsonb_populate_record(null::findings, to_jsonb(planned) - 'from_id') made returning id, status
    ), pairs as materialized (select copies.id, copies.status, planned.from_id from copies join planned using (id)
    ), agreed as (
      insert into decisions
      select copy.* from pairs join decisions d on d.org_id = ${orgId} and d.finding_id = pairs.from_id and d.state = 'active' and d.decided_at > ${mergedAt}
      cross join jsonb_populate_record(d, jsonb_build_object('finding_id', pairs.id, 'id', new_id())) copy
    ), recorded as (${historySql(actor, entries)}), emitted as (${emitSql(orgId, 'finding.split', events)})
    select id as from_id, from_id as into_id from pairs`.execute(tx);
  return [...own, ...rows];
}

/**
 * The findings that the asset still has itself, with those that have the same identity: a person made them one with others before the assets were merged, and
 * has separated them since. As long as they are one, which of the two the asset would get back cannot be known.
 */
async function readOwn(tx: TenantTx, orgId: string, { ids, assetId }: Omit<Copying, 'mergedAt'>): Promise<MergedPair[]> {
  const { rows } = await sql<MergedPair & { merged_into: string | null }>`
    select own.id as from_id, f.id as into_id, own.merged_into from findings f
    join findings own on own.org_id = ${orgId} and own.asset_id = ${assetId} and own.weakness = f.weakness and own.identity_key = f.identity_key
    where f.org_id = ${orgId} and f.id = any(${ids as string[]}::uuid[])`.execute(tx);
  const merged = rows.find(({ merged_into }) => merged_into !== null);
  if (merged)
    throw new AppError(
      'conflict',
      `The finding "${merged.from_id}" was merged into "${merged.merged_into}" before the assets were merged, and reports about both assets have shown it since. Split it first.`,
    );
  return rows.map(({ from_id, into_id }) => ({ from_id, into_id }));
}
