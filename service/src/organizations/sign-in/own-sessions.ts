import { recordAudit } from '../../audit/record.ts';
import type { TenantTx } from '../../db/database.ts';
import { emit } from '../../events/emit.ts';
import type { Actor } from '../../shared/actor.ts';
import { notFound } from '../../shared/errors.ts';
import { hashToken } from '../api-keys/tokens.ts';

const MOST = 100;

/** The newest sessions of the member behind the credential. `current` is the token of the session that asks. */
export async function listOwnSessions(tx: TenantTx, { orgId, memberId }: Actor, current: string | null) {
  if (memberId === null) return [];
  const rows = await tx
    .selectFrom('sessions')
    .select(['id', 'method', 'address', 'user_agent', 'token_hash', 'created_at', 'expires_at'])
    .where('org_id', '=', orgId)
    .where('member_id', '=', memberId)
    .where('expires_at', '>', new Date())
    .orderBy('created_at', 'desc')
    .limit(MOST)
    .execute();
  const hash = current === null ? null : hashToken(current);
  return rows.map(({ token_hash, ...session }) => ({ ...session, isCurrent: hash !== null && token_hash.equals(hash) }));
}

export async function endOwnSession(tx: TenantTx, actor: Actor, id: string): Promise<void> {
  const ended =
    actor.memberId === null
      ? undefined
      : await tx
          .deleteFrom('sessions')
          .where('org_id', '=', actor.orgId)
          .where('member_id', '=', actor.memberId)
          .where('id', '=', id)
          .returning('id')
          .executeTakeFirst();
  if (!ended) throw notFound('session', id);
  await recordAudit(tx, actor, { action: 'session.ended', objectType: 'session', objectId: id });
  await emit(tx, actor.orgId, { type: 'session.ended', subject: id, data: { member_id: actor.memberId } });
}
