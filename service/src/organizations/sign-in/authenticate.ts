import type { Database } from '../../db/database.ts';
import type { Actor, Principal } from '../../shared/actor.ts';
import { isUuid } from '../../shared/ids.ts';
import type { Role } from '../../shared/permissions.ts';
import type { KeyUse } from '../api-keys/key-use.ts';
import { hashToken, organizationOf } from '../api-keys/tokens.ts';
import type { VerifyAccessToken } from './oidc.ts';

interface Caller {
  id: string;
  ip: string;
}

interface Found {
  org_id: string;
  slug: string;
  org_name: string;
  id: string;
  name: string;
  role: Role;
  member_id: string | null;
  email: string | null;
  expires_at: Date | null;
}

const KEY = `
  select k.org_id, o.slug, o.name as org_name, k.id, k.name, k.role, k.owner_member_id as member_id, null as email, k.expires_at
  from api_keys k join organizations o on o.id = k.org_id
  where k.org_id = $1 and k.token_hash = $2 and k.revoked_at is null and (k.expires_at is null or k.expires_at > now())`;

/** An operator can choose the first key. It then contains no organization id, or that of another installation. It belongs to "default". */
const CHOSEN_KEY = KEY.replace('k.org_id = $1', 'o.slug = $1');

const SESSION = `
  select s.org_id, o.slug, o.name as org_name, m.id, m.name, m.role, m.id as member_id, m.email, s.expires_at
  from sessions s join members m on m.org_id = s.org_id and m.id = s.member_id join organizations o on o.id = s.org_id
  where s.org_id = $1 and s.token_hash = $2 and s.expires_at > now()`;

const MEMBER = `
  select o.id as org_id, o.slug, o.name as org_name, m.id, m.name, m.role, m.id as member_id, m.email, null as expires_at
  from organizations o left join members m on m.org_id = o.id and m.email = $2
  where o.slug = $1 or o.id = $3`;

/** A JWT begins with an encoded `{"`. Generated keys never do. */
const JWT = /^eyJ[^.]*\.[^.]*\.[^.]*$/;

/** Looks up the credential in the database on each request, so that a revocation takes effect immediately on every replica. */
export function createAuthenticate({ db, keyUse, verifyAccessToken }: { db: Database; keyUse: KeyUse; verifyAccessToken: VerifyAccessToken | null }) {
  const find = async (name: string, sql: string, ...values: unknown[]): Promise<Found | undefined> => (await db.systemQuery<Found>(name, sql, values))[0];

  const byToken = async (token: string, caller: Caller): Promise<Principal | null> => {
    const orgId = organizationOf('rrs', token);
    if (verifyAccessToken && JWT.test(token)) return byAccessToken(verifyAccessToken, token, caller);
    const hash = hashToken(token);
    const found = (orgId === null ? undefined : await find('key', KEY, orgId, hash)) ?? (await find('chosen_key', CHOSEN_KEY, 'default', hash));
    if (!found) return null;
    keyUse.note(found.org_id, found.id);
    return principal('api_key', found, caller);
  };

  const byAccessToken = async (verify: VerifyAccessToken, token: string, caller: Caller): Promise<Principal | null> => {
    const claims = await verify(token);
    if (!claims) return null;
    const [slug, id] = isUuid(claims.organization) ? [null, claims.organization] : [claims.organization, null];
    const found = await find('member', MEMBER, slug, claims.email?.toLowerCase() ?? null, id);
    if (!found) return null;
    const fromToken = { email: claims.email, expires_at: claims.expiresAt };
    // A token with a role is its own identity. A token without one only identifies a member, whose role applies.
    if (claims.role !== null) return principal('oidc', { ...found, ...fromToken, id: claims.subject, name: claims.name, role: claims.role }, caller);
    return found.member_id === null ? null : principal('member', { ...found, ...fromToken }, caller);
  };

  return async (credential: { kind: 'token' | 'session'; token: string }, caller: Caller): Promise<Principal | null> => {
    if (credential.kind === 'token') return byToken(credential.token, caller);
    const orgId = organizationOf('ses', credential.token);
    const found = orgId === null ? undefined : await find('session', SESSION, orgId, hashToken(credential.token));
    return found ? principal('member', found, caller) : null;
  };
}

function principal(type: Actor['type'], found: Found, caller: Caller): Principal {
  return {
    actor: {
      orgId: found.org_id,
      type,
      id: found.id,
      name: found.name,
      role: found.role,
      memberId: found.member_id,
      requestId: caller.id,
      address: caller.ip,
    },
    organization: { id: found.org_id, slug: found.slug, name: found.org_name },
    email: found.email,
    expiresAt: found.expires_at,
  };
}
