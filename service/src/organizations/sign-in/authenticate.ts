import type { Database } from '../../db/database.ts';
import type { Actor, Principal } from '../../shared/actor.ts';
import { isUuid } from '../../shared/ids.ts';
import type { Role } from '../../shared/permissions.ts';
import type { KeyUse } from '../api-keys/key-use.ts';
import { hashToken, organizationOf } from '../api-keys/tokens.ts';
import { identityValues, linkSubject, MEMBER_OF_IDENTITY } from './identify.ts';
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
  person: string;
  person_name: string;
  email: string | null;
  expires_at: Date | null;
  password_chosen_by?: string | null;
}

/** The organization that a token names, and the member behind the token, if there is one. */
interface FoundMember extends Omit<Found, 'person' | 'person_name'> {
  known: string | null;
  person: string | null;
  person_name: string | null;
}

const KEY = `
  select k.org_id, o.slug, o.name as org_name, k.id, k.name, k.role, k.owner_member_id as member_id, null as email, k.expires_at,
    coalesce(k.owner_member_id::text, k.person, k.id::text) as person, coalesce(m.name, k.person_name, k.name) as person_name
  from api_keys k join organizations o on o.id = k.org_id left join members m on m.org_id = k.org_id and m.id = k.owner_member_id
  where k.org_id = $1 and k.token_hash = $2 and k.revoked_at is null and (k.expires_at is null or k.expires_at > now())`;

/** An operator can choose the first key. It then contains no organization id, or that of another installation. It belongs to "default". */
const CHOSEN_KEY = KEY.replace('k.org_id = $1', 'o.slug = $1');

const SESSION = `
  select s.org_id, o.slug, o.name as org_name, m.id, m.name, m.role, m.id as member_id, m.email, s.expires_at, m.id as person, m.name as person_name,
    case when s.method = 'password' then m.password_chosen_by end as password_chosen_by
  from sessions s join members m on m.org_id = s.org_id and m.id = s.member_id join organizations o on o.id = s.org_id
  where s.org_id = $1 and s.token_hash = $2 and s.expires_at > now()`;

/** The member behind an access token, in the organization that the token names by slug ($4) or id ($5). */
const MEMBER = `
  select o.id as org_id, o.slug, o.name as org_name, m.id, m.name, m.role, m.id as member_id, m.email, null as expires_at,
    s.member_id as known, coalesce(m.id, s.member_id)::text as person, m.name as person_name
  from organizations o ${MEMBER_OF_IDENTITY}
  where o.slug = $4 or o.id = $5`;

/** A JWT begins with an encoded `{"`. Generated keys never do. */
const JWT = /^eyJ[^.]*\.[^.]*\.[^.]*$/;

/** Looks up the credential in the database on each request, so that a revocation takes effect immediately on every replica. */
export function createAuthenticate({ db, keyUse, verifyAccessToken }: { db: Database; keyUse: KeyUse; verifyAccessToken: VerifyAccessToken | null }) {
  const find = async <Row = Found>(name: string, sql: string, ...values: unknown[]): Promise<Row | undefined> =>
    (await db.systemQuery<Row>(name, sql, values))[0];

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
    const found = await find<FoundMember>('member', MEMBER, ...identityValues(claims), slug, id);
    if (!found) return null;
    const fromToken = { email: claims.email, expires_at: claims.expiresAt };
    const person = { person: found.person ?? claims.subject, person_name: found.person_name ?? claims.name };
    // A token with a role is its own identity. A token without one only identifies a member, whose role applies.
    if (claims.role === null && found.member_id === null) return null;
    const identified =
      claims.role === null
        ? principal('member', { ...found, ...fromToken, ...person }, caller)
        : principal('oidc', { ...found, ...fromToken, ...person, id: claims.subject, name: claims.name, role: claims.role }, caller);
    if (found.member_id !== found.known) await db.withTenant(identified.actor, (tx) => linkSubject(tx, identified.actor, claims));
    return identified;
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
      person: { id: found.person, name: found.person_name },
      requestId: caller.id,
      address: caller.ip,
    },
    organization: { id: found.org_id, slug: found.slug, name: found.org_name },
    email: found.email,
    expiresAt: found.expires_at,
    passwordChosenBy: found.password_chosen_by ?? null,
  };
}
