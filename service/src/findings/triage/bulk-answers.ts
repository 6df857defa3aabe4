import { sql } from 'kysely';
import type { TenantTx } from '../../db/database.ts';
import type { Actor } from '../../shared/actor.ts';
import { type FindingFollower, idsSql } from '../follower.ts';
import { takeImportLock } from '../import-lock.ts';
import { judgedSql, writeAnswers } from './answer-requests.ts';
import { auditBulk, type BulkRequest, type BulkResult, matchedSql, resultOf, type Summary, summarySql } from './bulk-selection.ts';

/** Approves or rejects the pending requests to accept the risk of many findings. */
export async function answerRequests(tx: TenantTx, actor: Actor, request: BulkRequest, follower: FindingFollower): Promise<BulkResult> {
  const { change, dry_run = false } = request;
  const answer = change.acceptance ?? 'reject';
  if (!dry_run) await takeImportLock(tx, actor.orgId);
  const matched = await matchedSql(tx, actor.orgId, request);
  const { rows } = await sql<Summary & { answered: string[] | null }>`
    with matched as materialized (${matched}), decided as materialized (select judged.*, true as changed from (${judgedSql(actor, answer)}) judged)
    select ${summarySql(request)}, array_agg(id) filter (where code is null) as answered from decided`.execute(tx);
  const [summed] = rows;
  const result = resultOf(summed, dry_run);
  if (dry_run || !summed?.answered) return result;
  await writeAnswers(tx, actor, { answer, reason: change.reason ?? null }, summed.answered);
  await auditBulk(tx, actor, request, result);
  if (answer === 'approve') await follower.follow(tx, actor, idsSql(summed.answered));
  return result;
}
