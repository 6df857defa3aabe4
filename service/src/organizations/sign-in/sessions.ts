import { type RawBuilder, sql } from 'kysely';
import type { Static } from 'typebox';
import { recordAudit } from '../../audit/record.ts';
import type { Database, SystemTx, TenantTx } from '../../db/database.ts';
import { emit } from '../../events/emit.ts';
import type { Actor, Principal } from '../../shared/actor.ts';
import { AppError } from '../../shared/errors.ts';
import { newId } from '../../shared/ids.ts';
import type { Role } from '../../shared/permissions.ts';
import { hashToken, mintToken } from '../api-keys/tokens.ts';
import type { SessionCreate } from '../schemas.ts';
import { verifyPassword } from './passwords.ts';

type SignIn = Static<typeof SessionCreate>;

/** The request with which somebody signs in. */
export interface Caller {
  id: string;
  ip: string;
  headers: { 'user-agent'?: string | undefined };
}

interface Candidate {
  org_id: string;
  slug: string;
  org_name: string;
  id: string;
  name: string;
  role: Role;
  password_hash: string | null;
  password_chosen_by: string | null;
  /** Whether the sign-in named no organization and the e-mail address has several. */
  shared: boolean;
}

const FREE_ATTEMPTS = 5;
const LONGEST_LOCK_SECONDS = 900;

/**
 * Threat: password guessing. An attempt is counted before the password is verified, so that concurrent attempts cannot exceed the limit.
 * A locked account gives the same response as a wrong password, which reveals neither that the account exists nor that it is locked.
 */
export async function signIn(db: Database, input: SignIn, caller: Caller, hours: number) {
  const candidates = await db.withSystem((tx) => countAttempt(tx, input));
  const matching = await withPassword(candidates, input.password);
  const refused = candidates.map((candidate) => ({ ...actorOf(candidate, caller), ...(candidate.shared ? { address: null } : {}) }));
  // If the password fits another organization, nobody tried to guess it, and it is not this organization's business who signs in there and from where.
  for (const actor of matching.length > 0 ? [] : refused) {
    await db.withTenant(actor, (tx) => recordAudit(tx, actor, { action: 'session.refused', objectType: 'member', objectId: actor.id ?? '' }));
  }
  const [member, another] = matching;
  if (!member) throw wrongCredentials();
  if (another) throw new AppError('conflict', 'This e-mail and password are valid in several organizations. Choose one with "organization".');
  const actor = actorOf(member, caller);
  const session = await db.withTenant(actor, async (tx) => {
    await assertPasswordUnchanged(tx, member);
    return openSession(tx, actor, { method: 'password', hours, caller });
  });
  const organization = { id: member.org_id, slug: member.slug, name: member.org_name };
  const principal: Principal = {
    actor,
    organization,
    email: input.email.toLowerCase(),
    expiresAt: session.expiresAt,
    passwordChosenBy: member.password_chosen_by,
  };
  return { token: session.token, principal };
}

async function withPassword(candidates: Candidate[], password: string): Promise<Candidate[]> {
  if (candidates.length === 0) await verifyPassword(password, null);
  const matching: Candidate[] = [];
  for (const candidate of candidates) {
    if (await verifyPassword(password, candidate.password_hash)) matching.push(candidate);
  }
  return matching;
}

export function actorOf({ org_id, id, name, role }: Pick<Candidate, 'org_id' | 'id' | 'name' | 'role'>, caller: Caller): Actor & { memberId: string } {
  return { orgId: org_id, type: 'member', id, name, role, memberId: id, person: { id, name }, requestId: caller.id, address: caller.ip };
}

/**
 * Threat: an e-mail address can be a member of several organizations. A sign-in that names none tries them all, so that signing in to one would lock the
 * other. It therefore has a counter of its own, which locks only further sign-ins that name no organization.
 */
async function countAttempt(tx: SystemTx, { email, organization }: SignIn): Promise<Candidate[]> {
  const lock = (failures: RawBuilder<number>) => sql`case when ${failures} + 1 >= ${FREE_ATTEMPTS}
    then now() + make_interval(secs => least(${LONGEST_LOCK_SECONDS}, power(2, least(${failures} + 1 - ${FREE_ATTEMPTS}, 20)))) end`;
  const { rows } = await sql<Candidate>`
    with candidate as (
      select m.org_id, m.id, o.slug, o.name as org_name, ${organization ?? null}::text is null and count(*) over () > 1 as shared
      from members m join organizations o on o.id = m.org_id
      where m.email = ${email.toLowerCase()} and m.password_hash is not null and (${organization ?? null}::text is null or o.slug = ${organization ?? null})
    )
    update members m set
      failed_sign_ins = m.failed_sign_ins + (not c.shared)::int,
      locked_until = case when c.shared then m.locked_until else ${lock(sql`m.failed_sign_ins`)} end,
      failed_shared_sign_ins = m.failed_shared_sign_ins + c.shared::int,
      shared_locked_until = case when c.shared then ${lock(sql`m.failed_shared_sign_ins`)} else m.shared_locked_until end
    from candidate c
    where c.org_id = m.org_id and c.id = m.id and m.password_hash is not null
      and coalesce(case when c.shared then m.shared_locked_until else m.locked_until end, '-infinity') <= now()
    returning m.org_id, c.slug, c.org_name, m.id, m.name, m.role, m.password_hash, m.password_chosen_by, c.shared`.execute(tx);
  return rows;
}

/** Verifying the password is slow. Meanwhile the member may have been removed, or the password changed, which ends all sessions. */
async function assertPasswordUnchanged(tx: TenantTx, member: Candidate): Promise<void> {
  const unchanged = await tx
    .updateTable('members')
    .set({ failed_sign_ins: 0, locked_until: null, failed_shared_sign_ins: 0, shared_locked_until: null })
    .where('org_id', '=', member.org_id)
    .where('id', '=', member.id)
    .where('password_hash', '=', member.password_hash)
    .returning('id')
    .executeTakeFirst();
  if (!unchanged) throw wrongCredentials();
}

interface NewSession {
  method: 'password' | 'oidc';
  hours: number;
  caller: Caller;
}

/** Opens a session of the member who is the actor. */
export async function openSession(tx: TenantTx, actor: Actor & { memberId: string }, { method, hours, caller }: NewSession) {
  const { token, hash } = mintToken('ses', actor.orgId);
  const id = newId();
  const expiresAt = new Date(Date.now() + hours * 3_600_000);
  await tx
    .insertInto('sessions')
    .values({
      org_id: actor.orgId,
      id,
      member_id: actor.memberId,
      token_hash: hash,
      method,
      address: caller.ip,
      user_agent: caller.headers['user-agent']?.slice(0, 300) ?? null,
      expires_at: expiresAt,
    })
    .execute();
  await recordAudit(tx, actor, { action: 'session.created', objectType: 'session', objectId: id, after: { method, expires_at: expiresAt } });
  await emit(tx, actor.orgId, { type: 'session.created', subject: id, data: { member_id: actor.id, method } });
  return { token, expiresAt };
}

export async function signOut(tx: TenantTx, actor: Actor, token: string): Promise<void> {
  const ended = await tx.deleteFrom('sessions').where('org_id', '=', actor.orgId).where('token_hash', '=', hashToken(token)).returning('id').executeTakeFirst();
  if (!ended) return;
  await recordAudit(tx, actor, { action: 'session.ended', objectType: 'session', objectId: ended.id });
  await emit(tx, actor.orgId, { type: 'session.ended', subject: ended.id, data: { member_id: actor.id } });
}

function wrongCredentials(): AppError {
  return new AppError(
    'invalid_credentials',
    'The e-mail or the password is wrong. After several failures the account is locked for a while, up to 15 minutes. If you are a member of several organizations, name yours in "organization".',
  );
}

export async function forgetEndedSessions(tx: SystemTx): Promise<void> {
  await tx.deleteFrom('sessions').where('expires_at', '<', sql<Date>`now()`).execute();
}
