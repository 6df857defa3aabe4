import { recordAudit } from '../../audit/record.ts';
import type { TenantTx } from '../../db/database.ts';
import type { Actor } from '../../shared/actor.ts';
import type { Identity } from './oidc.ts';

/**
 * The member behind an identity, for `organizations o` and the parameters $1 issuer, $2 subject, $3 verified e-mail address in lower case. `s.member_id`
 * is the member whom the subject belonged to before, who may have been removed since.
 *
 * Threat: an e-mail address can pass to somebody else. It finds a member only until a subject of the issuer is linked to that member.
 */
export const MEMBER_OF_IDENTITY = `
  left join sso_subjects s on s.org_id = o.id and s.issuer = $1 and s.subject = $2
  left join lateral (
    select * from members m
    where m.org_id = o.id and (m.id = s.member_id or (m.email = $3 and not exists (
      select from sso_subjects other where other.org_id = o.id and other.member_id = m.id and other.issuer = $1 and other.subject <> $2)))
    order by m.id = s.member_id desc nulls last limit 1
  ) m on true`;

export const identityValues = ({ issuer, subject, email }: Identity) => [issuer, subject, email?.toLowerCase() ?? null];

/** From then on the subject belongs to the member, whatever e-mail address its tokens have. */
export async function linkSubject(tx: TenantTx, actor: Actor, { issuer, subject }: Identity): Promise<void> {
  const { orgId, memberId } = actor;
  if (memberId === null) return;
  await tx
    .insertInto('sso_subjects')
    .values({ org_id: orgId, issuer, subject, member_id: memberId })
    .onConflict((conflict) => conflict.columns(['org_id', 'issuer', 'subject']).doUpdateSet({ member_id: memberId }))
    .execute();
  await recordAudit(tx, actor, { action: 'member.subject_linked', objectType: 'member', objectId: memberId, after: { issuer, subject } });
}
