import type { Static } from 'typebox';
import { recordAudit } from '../../audit/record.ts';
import type { Database, TenantTx } from '../../db/database.ts';
import { emit } from '../../events/emit.ts';
import { readPolicy } from '../../organizations/read-policy.ts';
import type { Actor } from '../../shared/actor.ts';
import { AppError, invalidField } from '../../shared/errors.ts';
import { newId } from '../../shared/ids.ts';
import { lockItems } from '../items/locks.ts';
import { type ApprovalRow, readItem, type WorkItemRow } from '../items/read.ts';
import type { ApprovalCreate } from '../schemas.ts';
import { participantsIn, partOf } from './participants.ts';
import { assertCurrentState, type ItemState, type ItemStates, rememberState, StateOutdated } from './state.ts';

type Decision = Static<typeof ApprovalCreate>;

/** Other changes can always come in between. Each attempt computes the state again. */
const ATTEMPTS = 3;

/**
 * Computes the state without a transaction, so that nobody waits for it, and has `record` record the decision in one. Starts again if something
 * changed in between: the state that results may still be the one that the person saw.
 */
export async function decideOnState<T>(
  { db, states }: { db: Database; states: ItemStates },
  actor: Actor,
  { id, body }: { id: string; body: Decision },
  record: (state: ItemState) => Promise<T>,
): Promise<T> {
  if (body.decision === 'rejected' && !body.comment?.trim()) {
    throw invalidField({ in: 'body', path: '/comment', code: 'required', detail: 'is required for a rejection: say what is missing' });
  }
  await db.withTenant(actor, (tx) => readItem(tx, actor.orgId, id));
  for (let attempt = 1; ; attempt++) {
    const state = await states.compute(actor, id, body.state_digest);
    try {
      return await record(state);
    } catch (error) {
      if (!(error instanceof StateOutdated) || attempt === ATTEMPTS) throw error;
    }
  }
}

/** Records a decision on the state. The record is immutable and does not change the work item. */
export async function decideOnItem(
  tx: TenantTx,
  actor: Actor,
  { id, body, state, states }: { id: string; body: Decision; state: ItemState; states: ItemStates },
): Promise<ApprovalRow> {
  const { orgId } = actor;
  const { decision, comment, state_digest } = body;
  await lockItems(tx, orgId);
  const item = await readItem(tx, orgId, id);
  const undecidable = decisionRefused(item);
  if (undecidable !== null) throw new AppError('conflict', undecidable);
  await assertCurrentState(tx, orgId, id, { seen: state_digest, state, states });
  const part = state.isIndependent ? null : await partIn(tx, actor, id);
  if (decision === 'approved' && part !== null && (await readPolicy(tx, orgId)).four_eyes) {
    throw new AppError('conflict', tookPart(part));
  }
  await rememberState(tx, orgId, id, state);
  const { id: item_id, status: item_status, version: item_version } = item;
  const approval = await tx
    .insertInto('work_item_approvals')
    .values({
      org_id: orgId,
      work_item_id: item_id,
      id: newId(),
      decision,
      comment: comment ?? null,
      actor_type: actor.type,
      actor_id: actor.id,
      actor_name: actor.name,
      person: actor.person?.id ?? null,
      person_name: actor.person?.name ?? null,
      independent: part === null,
      state_digest,
      item_status,
      item_version,
    })
    .returningAll()
    .executeTakeFirstOrThrow();
  const after = { approval_id: approval.id, comment: comment ?? null, independent: part === null, status: item_status, state_digest };
  await recordAudit(tx, actor, { action: `work_item.${decision}`, objectType: 'work_item', objectId: id, after });
  await emit(tx, orgId, { type: `work_item.${decision}`, subject: id, data: after });
  return approval;
}

/** Why nobody can approve or reject the work item. */
export function decisionRefused({ status }: Pick<WorkItemRow, 'status'>): string | null {
  return status === 'cancelled' ? 'The work item is cancelled and can no longer be approved or rejected.' : null;
}

/** Why the four-eyes policy does not let the person approve the work item, from what the person did. The state also knows who can use the credential. */
export async function approvalRefused(tx: TenantTx, { orgId, person, name }: Actor, id: string): Promise<string | null> {
  if (!(await readPolicy(tx, orgId)).four_eyes) return null;
  const part = partOf(await participantsIn(tx, orgId, id), { person: person?.id ?? null, names: [person?.name ?? null, name] });
  return part === null ? null : tookPart(part);
}

const tookPart = (part: string): string => `Four-eyes policy: ${part}. Ask somebody who had no part in the work to approve it.`;

/** The part that the person had in the work, as a clause. */
async function partIn(tx: TenantTx, { orgId, person, name }: Actor, id: string): Promise<string> {
  const known = partOf(await participantsIn(tx, orgId, id), { person: person?.id ?? null, names: [person?.name ?? null, name] });
  return known ?? 'you took part in the work, or somebody who did can use your credential';
}
