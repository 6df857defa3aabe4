import { type RawBuilder, sql } from 'kysely';
import { readAsset } from '../../assets/assets.ts';
import { recordAudit } from '../../audit/record.ts';
import type { TenantTx } from '../../db/database.ts';
import { readPolicy } from '../../organizations/read-policy.ts';
import type { Actor } from '../../shared/actor.ts';
import { riskOf } from '../../vulnerabilities/risk.ts';
import { decisionOf, endDecisions, recordDecisions, voidRequestsOfClosed } from '../decisions/decisions.ts';
import { reopenRiskIncreased } from '../decisions/risk-increased.ts';
import type { FindingRow } from '../fields/field.ts';
import { type FindingFollower, idsSql } from '../follower.ts';
import { lockFinding, readFinding } from '../list/list.ts';
import { changedBy } from '../reason-codes.ts';
import { isPending, requestAcceptances, requestOf } from './acceptance-requests.ts';
import { asksForApproval, type Change, type Decidable, type Deciding, decide, type FindingPatch, invalid } from './decide.ts';
import { recordChange } from './record-change.ts';

export type { FindingPatch } from './decide.ts';

interface Triage {
  id: string;
  patch: FindingPatch;
  check: (current: FindingRow) => void;
}

export async function updateFinding(tx: TenantTx, actor: Actor, { id, patch, check }: Triage, follower: FindingFollower): Promise<FindingRow> {
  assertChanges(patch);
  const finding = await lockFinding(tx, actor.orgId, id);
  check(finding);
  const deciding = await readDeciding(tx, actor);
  const scoped = { ...finding, scope: patch.scope === undefined ? null : await scopeOf(tx, finding) };
  const change = decide(scoped, patch, deciding);
  const changed = Object.keys(change).length > 0;
  if (changed) await applyChange(tx, finding, { change, reason: patch.reason ?? null }, deciding);
  await followDecision(tx, scoped, patch, { ...deciding, change });
  if (!changed && !asksForApproval(scoped, patch, deciding)) return finding;
  const updated = await readFinding(tx, actor.orgId, id);
  if (updated.status !== finding.status) await follower.follow(tx, actor, idsSql([id]));
  return updated;
}

function assertChanges({ reason, status, severity, tags }: FindingPatch): void {
  if (reason === undefined || status !== undefined || severity !== undefined || tags !== undefined) return;
  const detail = 'explains a change and is not kept without one. Send it together with `status`, `severity` or `tags`';
  throw invalid([{ in: 'body', path: '/reason', code: 'misplaced', detail }]);
}

/** The scope of the active decision. */
async function scopeOf(tx: TenantTx, { org_id, id }: FindingRow): Promise<Decidable['scope']> {
  const active = await tx
    .selectFrom('decisions')
    .select('scope')
    .where('org_id', '=', org_id)
    .where('finding_id', '=', id)
    .where('state', '=', 'active')
    .executeTakeFirst();
  return active?.scope ?? null;
}

async function applyChange(
  tx: TenantTx,
  finding: FindingRow,
  { change, reason }: { change: Change; reason: string | null },
  deciding: Deciding,
): Promise<void> {
  const { actor, now } = deciding;
  const { criticality, exposure } = await readAsset(tx, actor.orgId, finding.asset_id);
  const risk = riskOf({ ...finding, ...change, criticality, exposure });
  const updated = await tx
    .updateTable('findings')
    .set({
      ...change,
      ...(change.tags ? { search: taggedSql(finding.tags, change.tags) } : {}),
      risk_score: risk.score,
      version: finding.version + 1,
      updated_at: now,
    })
    .where('org_id', '=', actor.orgId)
    .where('id', '=', finding.id)
    .returningAll()
    .executeTakeFirstOrThrow();
  await recordChange(tx, actor, { before: finding, after: updated, reason });
}

/** Records, requests or ends the decision that the patch is about. */
async function followDecision(tx: TenantTx, finding: FindingRow & Decidable, patch: FindingPatch, { change, ...deciding }: Deciding & { change: Change }) {
  const { actor, policy } = deciding;
  const { compensating_control = finding.compensating_control } = patch;
  const [decision, ids] = [decisionOf(patch.status, { ...patch, compensating_control }), [finding.id]];
  if (change.severity !== undefined && change.status === undefined) await reopenRiskIncreased(tx, actor, { ids: idsSql(ids), sla: policy.sla });
  if (decision && asksForApproval(finding, patch, deciding)) {
    if (await isPending(tx, actor, decision, finding.id)) return;
    await requestAcceptances(tx, actor, decision, ids);
    await recordAudit(tx, actor, { action: 'finding.acceptance_requested', objectType: 'finding', objectId: finding.id, after: requestOf(actor, decision) });
  } else if (change.status !== undefined) {
    if (decision) await recordDecisions(tx, actor, decision, ids);
    else if (decisionOf(finding.status, {})) await endDecisions(tx, actor.orgId, ids, changedBy(actor));
    await voidRequestsOfClosed(tx, actor.orgId, idsSql(ids));
  }
}

/** Replaces the tags among the words of the search index. */
function taggedSql(before: readonly string[], after: readonly string[]): RawBuilder<string> {
  const words = (tags: readonly string[]) => sql`array(select distinct 't:' || lower(tag) from unnest(${tags as string[]}::text[]) as tag)`;
  return sql`ts_delete(search::tsvector, ${words(before)}) || array_to_tsvector(${words(after)})`;
}

export async function readDeciding(tx: TenantTx, actor: Actor): Promise<Deciding> {
  return { actor, policy: await readPolicy(tx, actor.orgId), now: new Date() };
}
