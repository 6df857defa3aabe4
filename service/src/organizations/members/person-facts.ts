import { sql } from 'kysely';
import { auditTrail } from '../../audit/relations.ts';
import type { TenantTx } from '../../db/database.ts';

export interface PersonRow {
  id: string;
  name: string | null;
  email: string | null;
  /** Null for a former member and for a credential without a member. */
  role: string | null;
  signs_in_with: 'password' | 'sso' | 'api_key' | null;
  /** Who else can know the credential. */
  credential_from: string | null;
}

/**
 * What is known about persons, and about all owners and admins.
 *
 * Threat: whoever adds a member, sets a member's password or creates an invitation can sign in as that member. That the member changed the password later proves nothing, because
 * it may have been the same person. Only a sign-in at the identity provider does, until somebody sets a password again and it is used: a later sign-in at the
 * identity provider says nothing about what was done with that password.
 */
export async function readPersons(tx: TenantTx, orgId: string, ids: readonly string[]): Promise<PersonRow[]> {
  const { rows } = await sql<PersonRow>`
    with wanted as materialized (
      select unnest(${ids as string[]}::text[]) as id
      union select m.id::text from members m where m.org_id = ${orgId} and m.role in ('owner', 'admin')
    ), acts as materialized (
      select e.person as id, max(e.occurred_at) filter (where e.action = 'session.created' and e.after->>'method' = 'password') as password_at,
        max(e.occurred_at) filter (where e.actor_type = 'oidc' or e.after->>'method' = 'oidc') as sso_at,
        bool_or(e.actor_type = 'api_key') as has_key, (array_agg(e.person_name order by e.occurred_at desc))[1] as name
      from ${auditTrail} e where e.org_id = ${orgId} and e.person in (select id from wanted) group by 1
    ), subjects as materialized (
      select s.member_id::text as id, max(s.created_at) as linked_at from sso_subjects s where s.org_id = ${orgId} and s.member_id::text in (select id from wanted) group by 1
    ), given as materialized (
      select distinct on (e.object_id) e.object_id as id, e.person, e.occurred_at as at
      from ${auditTrail} e left join subjects on subjects.id = e.object_id
      where e.org_id = ${orgId} and e.object_id in (select id from wanted) and e.object_type = 'member' and (e.action in ('member.added', 'member.invited') or e.after ? 'password')
        and e.person is distinct from e.object_id and (subjects.linked_at is null or e.occurred_at > subjects.linked_at)
      order by e.object_id, e.occurred_at desc, e.id desc
    ), former as materialized (
      select distinct on (e.object_id) e.object_id as id, e.before->>'email' as email, e.before->>'name' as name from ${auditTrail} e
      where e.org_id = ${orgId} and e.object_id in (select id from wanted) and e.action = 'member.removed' order by e.object_id, e.occurred_at desc
    )
    select wanted.id, coalesce(m.name, former.name, acts.name) as name, coalesce(m.email, former.email) as email, m.role, given.person as credential_from,
      case when greatest(acts.sso_at, subjects.linked_at) > coalesce(acts.password_at, '-infinity') and coalesce(acts.password_at <= given.at, true) then 'sso'
        when acts.password_at is not null then 'password' when acts.has_key then 'api_key' end as signs_in_with
    from wanted
    left join members m on m.org_id = ${orgId} and m.id::text = wanted.id
    left join former on former.id = wanted.id
    left join acts on acts.id = wanted.id
    left join subjects on subjects.id = wanted.id
    left join given on given.id = wanted.id
    order by wanted.id`.execute(tx);
  return rows;
}

export interface OwnerlessKeys {
  /** All that ever were. */
  ids: ReadonlySet<string>;
  /** How many can be used now. */
  active: number;
}

/** API keys behind which no member stands, so that anybody may use them. */
export async function readOwnerlessKeys(tx: TenantTx, orgId: string): Promise<OwnerlessKeys> {
  const { rows } = await sql<{ id: string; active: boolean }>`
    select id::text, revoked_at is null and (expires_at is null or expires_at > now()) as active from api_keys where org_id = ${orgId} and owner_member_id is null`.execute(
    tx,
  );
  return { ids: new Set(rows.map(({ id }) => id)), active: rows.filter(({ active }) => active).length };
}

/** The API keys that count as one of the persons. */
export async function readCredentialIds(tx: TenantTx, orgId: string, persons: readonly string[]): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select id::text from api_keys where org_id = ${orgId} and coalesce(owner_member_id::text, person, id::text) = any(${persons as string[]})`.execute(tx);
  return rows.map(({ id }) => id);
}
