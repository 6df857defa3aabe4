import { withoutHidden } from '@rrs/evidence-format';
import type { Static } from 'typebox';
import { recordAudit } from '../../audit/record.ts';
import type { TenantTx, Tx } from '../../db/database.ts';
import { fetchPage, type PageRequest } from '../../db/pages.ts';
import { emit } from '../../events/emit.ts';
import type { Actor } from '../../shared/actor.ts';
import { AppError, invalidField, notFound } from '../../shared/errors.ts';
import { isUuid, newId } from '../../shared/ids.ts';
import { outranks, type Role } from '../../shared/permissions.ts';
import { assertNotAbove, assertOwnerLeft, lockForAccessChange } from '../members/owners.ts';
import type { ApiKeyCreate, ApiKeyPatch } from '../schemas.ts';
import { type MintedToken, mintToken } from './tokens.ts';

const columns = [
  'id',
  'name',
  'role',
  'prefix',
  'owner_member_id',
  'created_by',
  'expires_at',
  'last_used_at',
  'revoked_at',
  'version',
  'created_at',
  'updated_at',
] as const;

export function listApiKeys(tx: TenantTx, orgId: string, page: PageRequest) {
  const query = tx.selectFrom('api_keys').select(columns).where('org_id', '=', orgId);
  return fetchPage(tx, query, { created_at: { column: 'created_at', type: 'timestamptz' } }, page);
}

export async function readApiKey(tx: TenantTx, orgId: string, id: string) {
  const key = await tx.selectFrom('api_keys').select(columns).where('org_id', '=', orgId).where('id', '=', id).executeTakeFirst();
  if (!key) throw notFound('API key', id);
  return key;
}

export type ApiKeyRow = Awaited<ReturnType<typeof readApiKey>>;

/** The token is returned only here. `chosen` is a token that the operator supplies for the first key. */
export async function createApiKey(tx: Tx, actor: Actor, input: Static<typeof ApiKeyCreate>, chosen?: MintedToken): Promise<{ key: ApiKeyRow; token: string }> {
  await lockForAccessChange(tx, actor, 'shared');
  assertNotAbove(actor, input.role, 'The new key');
  await assertNotAboveMember(tx, actor, input.role);
  const { token, hash, prefix } = chosen ?? mintToken('rrs', actor.orgId);
  const key = await tx
    .insertInto('api_keys')
    .values({
      org_id: actor.orgId,
      id: newId(),
      name: withoutHidden(input.name) || 'unnamed',
      role: input.role,
      prefix,
      token_hash: hash,
      owner_member_id: actor.memberId,
      person: actor.memberId === null ? (actor.person?.id ?? null) : null,
      person_name: actor.memberId === null ? (actor.person?.name ?? null) : null,
      created_by: actor.name,
      expires_at: readExpiry(input.expires_at ?? null, await latestExpiry(tx, actor)),
    })
    .returning(columns)
    .executeTakeFirstOrThrow();
  const after = { name: key.name, role: key.role, prefix, expires_at: key.expires_at };
  await recordAudit(tx, actor, { action: 'api_key.created', objectType: 'api_key', objectId: key.id, after });
  await emit(tx, actor.orgId, { type: 'api_key.created', subject: key.id, data: after });
  return { key, token };
}

interface ApiKeyChange {
  id: string;
  patch: Static<typeof ApiKeyPatch>;
  check: (current: ApiKeyRow) => void;
}

export async function updateApiKey(tx: TenantTx, actor: Actor, { id, patch, check }: ApiKeyChange): Promise<ApiKeyRow> {
  await lockForAccessChange(tx, actor, 'exclusive');
  const current = await readApiKey(tx, actor.orgId, id);
  check(current);
  assertNotAbove(actor, current.role, 'The key');
  if (current.revoked_at) throw new AppError('conflict', `The API key "${id}" is revoked and cannot be changed. Create a new key.`);
  const name = patch.name ?? current.name;
  const expiresAt = patch.expires_at === undefined ? current.expires_at : readExpiry(patch.expires_at, await latestExpiry(tx, actor));
  if (name === current.name && expiresAt?.getTime() === current.expires_at?.getTime()) return current;
  const updated = await tx
    .updateTable('api_keys')
    .set({ name, expires_at: expiresAt, version: current.version + 1, updated_at: new Date() })
    .where('org_id', '=', actor.orgId)
    .where('id', '=', id)
    .returning(columns)
    .executeTakeFirstOrThrow();
  await assertOwnerLeft(tx, actor.orgId);
  const pick = (key: ApiKeyRow) => ({ name: key.name, expires_at: key.expires_at });
  await recordAudit(tx, actor, { action: 'api_key.updated', objectType: 'api_key', objectId: id, before: pick(current), after: pick(updated) });
  await emit(tx, actor.orgId, { type: 'api_key.updated', subject: id, data: pick(updated) });
  return updated;
}

/** Revoking a revoked key has no effect. */
export async function revokeApiKey(tx: TenantTx, actor: Actor, id: string): Promise<void> {
  const { role } = await readApiKey(tx, actor.orgId, id);
  assertNotAbove(actor, role, 'The key');
  await lockForAccessChange(tx, actor, role === 'owner' ? 'exclusive' : 'shared');
  await revoke(tx, actor, [id]);
  if (role === 'owner') await assertOwnerLeft(tx, actor.orgId);
}

/** A key must never outrank the member who created it. `role` is the member's new role: keys above it get it too. With `null`, the member's keys are revoked. */
export async function lowerKeysOf(tx: TenantTx, actor: Actor, memberId: string, role: Role | null): Promise<void> {
  const keys = await tx
    .selectFrom('api_keys')
    .select(['id', 'role'])
    .where('org_id', '=', actor.orgId)
    .where('owner_member_id', '=', memberId)
    .where('revoked_at', 'is', null)
    .execute();
  if (keys.length === 0) return;
  if (role === null) {
    await revoke(
      tx,
      actor,
      keys.map((key) => key.id),
    );
    return;
  }
  const above = keys.filter((key) => outranks(key.role, role));
  if (above.length === 0) return;
  await tx
    .updateTable('api_keys')
    .set((row) => ({ role, version: row('version', '+', 1), updated_at: new Date() }))
    .where('org_id', '=', actor.orgId)
    .where(
      'id',
      'in',
      above.map((key) => key.id),
    )
    .execute();
  await recordAudit(
    tx,
    actor,
    ...above.map((key) => ({ action: 'api_key.updated' as const, objectType: 'api_key', objectId: key.id, before: { role: key.role }, after: { role } })),
  );
  await emit(tx, actor.orgId, ...above.map((key) => ({ type: 'api_key.updated' as const, subject: key.id, data: { role } })));
}

async function revoke(tx: TenantTx, actor: Actor, ids: string[]): Promise<void> {
  const revokedAt = new Date();
  const revoked = await tx
    .updateTable('api_keys')
    .set((row) => ({ revoked_at: revokedAt, version: row('version', '+', 1), updated_at: revokedAt }))
    .where('org_id', '=', actor.orgId)
    .where('id', 'in', ids)
    .where('revoked_at', 'is', null)
    .returning('id')
    .execute();
  await recordAudit(
    tx,
    actor,
    ...revoked.map(({ id }) => ({
      action: 'api_key.revoked' as const,
      objectType: 'api_key',
      objectId: id,
      before: { revoked_at: null },
      after: { revoked_at: revokedAt },
    })),
  );
  await emit(tx, actor.orgId, ...revoked.map(({ id }) => ({ type: 'api_key.revoked' as const, subject: id, data: { revoked_at: revokedAt } })));
}

/** Threat: an access token with a role of its own can be above the member it belongs to. Its keys belong to the member and must not be. */
async function assertNotAboveMember(tx: Tx, actor: Actor, role: Role): Promise<void> {
  if (actor.type !== 'oidc' || actor.memberId === null) return;
  const member = await tx.selectFrom('members').select('role').where('org_id', '=', actor.orgId).where('id', '=', actor.memberId).executeTakeFirst();
  if (member) assertNotAbove({ ...actor, role: member.role }, role, 'The new key');
}

/** How long a key of somebody who is not a member can live. Nobody would revoke it when the identity provider no longer knows the person. */
const STRANGER_HOURS = 24;

/**
 * The latest expiry that the actor can give to a key, or `null` without a limit. Keys of members end with the member. The others must not outlive
 * what they were created with.
 */
async function latestExpiry(tx: Tx, actor: Actor): Promise<Date | null> {
  if (actor.memberId !== null) return null;
  if (actor.type === 'oidc') return new Date(Date.now() + STRANGER_HOURS * 3_600_000);
  if (actor.type !== 'api_key' || actor.id === null) return null;
  const own = await tx.selectFrom('api_keys').select('expires_at').where('org_id', '=', actor.orgId).where('id', '=', actor.id).executeTakeFirst();
  return own?.expires_at ?? null;
}

function readExpiry(text: string | null, latest: Date | null): Date | null {
  if (text === null) return latest;
  const date = new Date(text);
  const refuse = (code: string, detail: string) => invalidField({ in: 'body', path: '/expires_at', code, detail });
  // A leap second is a valid date-time, but Date cannot represent it.
  if (Number.isNaN(date.getTime())) throw refuse('wrong_format', 'expires_at must have a time between 00:00:00 and 23:59:59');
  if (date.getTime() <= Date.now()) throw refuse('in_the_past', 'expires_at must be in the future');
  if (latest !== null && date > latest)
    throw refuse('too_late', `expires_at must not be after ${latest.toISOString()}: your credential belongs to no member, so its keys must end soon`);
  return date;
}

export function listAllApiKeys(tx: TenantTx, orgId: string) {
  return tx.selectFrom('api_keys').select(columns).where('org_id', '=', orgId).orderBy('created_at').execute();
}

/** Finds a key by its id, or by its prefix if only one key has that prefix. */
export async function findApiKey(tx: TenantTx, orgId: string, idOrPrefix: string): Promise<ApiKeyRow> {
  const column = isUuid(idOrPrefix) ? 'id' : 'prefix';
  const found = await tx.selectFrom('api_keys').select(columns).where('org_id', '=', orgId).where(column, '=', idOrPrefix).execute();
  const [key, another] = found;
  if (!key) throw notFound('API key', idOrPrefix);
  if (another) throw new AppError('conflict', `Several keys begin with "${idOrPrefix}". Use the id of the key instead.`);
  return key;
}
