import type { Database } from '../../db/database.ts';
import type { Principal } from '../../shared/actor.ts';
import type { Role } from '../../shared/permissions.ts';
import { type SignedInIdentity, SignInFailed } from './code-flow.ts';
import { identityValues, linkSubject, MEMBER_OF_IDENTITY } from './identify.ts';
import { actorOf, type Caller, openSession } from './sessions.ts';

interface Candidate {
  org_id: string;
  slug: string;
  org_name: string;
  id: string;
  name: string;
  role: Role;
  email: string;
  known: string | null;
}

/** Members of all organizations that the identity belongs to, or of the organization that $4 names by slug or id. */
const CANDIDATES = `
  select o.id as org_id, o.slug, o.name as org_name, m.id, m.name, m.role, m.email, s.member_id as known
  from organizations o ${MEMBER_OF_IDENTITY}
  where m.id is not null and ($4::text is null or o.slug = $4 or o.id::text = $4)
    and o.id in (select org_id from sso_subjects where issuer = $1 and subject = $2 union select org_id from members where email = $3)
  order by o.slug limit 2`;

/** Opens a session for the member behind an identity. People who are not members yet are refused: an administrator adds them first. */
export async function signInWithIdentity(db: Database, identity: SignedInIdentity, caller: Caller, hours: number) {
  const [member, another] = await db.systemQuery<Candidate>('identity_members', CANDIDATES, [...identityValues(identity), identity.organization]);
  if (!member && identity.hasUnverifiedEmail)
    throw new SignInFailed(
      'email_not_verified',
      'the ID token does not say that its e-mail address is verified, so the address names no member; RRS_OIDC_EMAIL_VERIFIED_CLAIM names the claim',
    );
  if (!member) throw new SignInFailed('no_member', 'no member has this subject or e-mail address');
  if (another) throw new SignInFailed('choose_organization', 'the identity belongs to members of several organizations');
  const actor = actorOf(member, caller);
  const { token, expiresAt } = await db.withTenant(actor, async (tx) => {
    if (member.known !== member.id) await linkSubject(tx, actor, identity);
    return openSession(tx, actor, { method: 'oidc', hours, caller });
  });
  const organization = { id: member.org_id, slug: member.slug, name: member.org_name };
  const principal: Principal = { actor, organization, email: member.email, expiresAt, passwordChosenBy: null };
  return { token, principal };
}
