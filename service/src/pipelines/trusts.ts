import { type Selectable, sql } from 'kysely';
import type { Static } from 'typebox';
import { readAsset } from '../assets/assets.ts';
import { recordAudit } from '../audit/record.ts';
import type { TenantTx } from '../db/database.ts';
import { fetchPage, type PageRequest } from '../db/pages.ts';
import type { DB } from '../db/types.ts';
import { emit } from '../events/emit.ts';
import type { Outbound } from '../net/request.ts';
import { assertNotAbove, lockForAccessChange } from '../organizations/members/owners.ts';
import type { Actor } from '../shared/actor.ts';
import { AppError, type FieldError, notFound } from '../shared/errors.ts';
import { newId } from '../shared/ids.ts';
import { validationFailed } from '../validation/check.ts';
import { type Conditions, conditionErrors } from './conditions.ts';
import { isSafe } from './issuers.ts';
import type { PipelineTrustCreate, PipelineTrustPatch } from './schemas.ts';

export type TrustRow = Selectable<DB['pipeline_trusts']>;
type Input = Static<typeof PipelineTrustCreate>;

const MOST_TRUSTS = 200;

export function listTrusts(tx: TenantTx, orgId: string, page: PageRequest) {
  return fetchPage(
    tx,
    tx.selectFrom('pipeline_trusts').selectAll().where('org_id', '=', orgId),
    { created_at: { column: 'created_at', type: 'timestamptz' } },
    page,
  );
}

export async function readTrust(tx: TenantTx, orgId: string, id: string): Promise<TrustRow> {
  const row = await tx.selectFrom('pipeline_trusts').selectAll().where('org_id', '=', orgId).where('id', '=', id).executeTakeFirst();
  if (!row) throw notFound('pipeline trust', id);
  return row;
}

export async function createTrust(tx: TenantTx, actor: Actor, input: Input, outbound: Outbound): Promise<TrustRow> {
  await lockForAccessChange(tx, actor, 'shared');
  await assertValid(tx, actor, input, outbound);
  const { count } = await tx
    .selectFrom('pipeline_trusts')
    .select(sql<number>`count(*)::int`.as('count'))
    .where('org_id', '=', actor.orgId)
    .executeTakeFirstOrThrow();
  if (count >= MOST_TRUSTS) throw new AppError('conflict', `An organization can trust at most ${MOST_TRUSTS} pipelines. Delete some, or use a wildcard.`);
  const { name, issuer, conditions, role, asset_id = null } = input;
  const row = await tx
    .insertInto('pipeline_trusts')
    .values({ org_id: actor.orgId, id: newId(), name, issuer, conditions: JSON.stringify(conditions), role, asset_id, created_by: actor.name })
    .returningAll()
    .executeTakeFirstOrThrow();
  await recordAudit(tx, actor, { action: 'pipeline_trust.created', objectType: 'pipeline_trust', objectId: row.id, after: settingsOf(row) });
  await emit(tx, actor.orgId, { type: 'pipeline_trust.created', subject: row.id, data: settingsOf(row) });
  return row;
}

interface Change {
  id: string;
  patch: Static<typeof PipelineTrustPatch>;
  check: (current: TrustRow) => void;
  outbound: Outbound;
}

export async function updateTrust(tx: TenantTx, actor: Actor, { id, patch, check, outbound }: Change): Promise<TrustRow> {
  await lockForAccessChange(tx, actor, 'shared');
  const current = await tx.selectFrom('pipeline_trusts').selectAll().where('org_id', '=', actor.orgId).where('id', '=', id).forUpdate().executeTakeFirst();
  if (!current) throw notFound('pipeline trust', id);
  check(current);
  const changed = { ...settingsOf(current), ...patch };
  await assertValid(tx, actor, changed, outbound);
  if (JSON.stringify(changed) === JSON.stringify(settingsOf(current))) return current;
  const { name, issuer, conditions, role, asset_id } = changed;
  const row = await tx
    .updateTable('pipeline_trusts')
    .set({ name, issuer, conditions: JSON.stringify(conditions), role, asset_id, version: current.version + 1, updated_at: new Date() })
    .where('org_id', '=', actor.orgId)
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow();
  const [before, after] = [settingsOf(current), settingsOf(row)];
  await recordAudit(tx, actor, { action: 'pipeline_trust.updated', objectType: 'pipeline_trust', objectId: id, before, after });
  await emit(tx, actor.orgId, { type: 'pipeline_trust.updated', subject: id, data: after });
  return row;
}

export async function deleteTrust(tx: TenantTx, actor: Actor, id: string): Promise<void> {
  await lockForAccessChange(tx, actor, 'shared');
  const row = await tx.deleteFrom('pipeline_trusts').where('org_id', '=', actor.orgId).where('id', '=', id).returningAll().executeTakeFirst();
  if (!row) throw notFound('pipeline trust', id);
  await recordAudit(tx, actor, { action: 'pipeline_trust.deleted', objectType: 'pipeline_trust', objectId: id, before: settingsOf(row) });
  await emit(tx, actor.orgId, { type: 'pipeline_trust.deleted', subject: id, data: { name: row.name } });
}

export function settingsOf({ name, issuer, conditions, role, asset_id }: TrustRow) {
  return { name, issuer, conditions: conditions as Conditions, role, asset_id };
}

async function assertValid(
  tx: TenantTx,
  actor: Actor,
  { issuer, conditions, role, asset_id = null }: Omit<Input, 'conditions'> & { conditions: Conditions },
  outbound: Outbound,
): Promise<void> {
  assertNotAbove(actor, role, 'The pipeline');
  const errors = [...issuerErrors(issuer, outbound), ...conditionErrors(conditions)];
  if (errors.length > 0) throw validationFailed(errors);
  if (asset_id !== null) await readAsset(tx, actor.orgId, asset_id);
}

function issuerErrors(issuer: string, outbound: Outbound): FieldError[] {
  const at = (detail: string): FieldError[] => [{ in: 'body', path: '/issuer', code: 'invalid', detail }];
  const url = URL.canParse(issuer) ? new URL(issuer) : null;
  if (url === null || !isSafe(url) || url.search !== '' || url.hash !== '' || url.username !== '')
    return at('must be an https URL without query, fragment and user, exactly as tokens name it');
  const refusal = outbound.refusal(url);
  return refusal === null ? [] : at(`cannot be reached: ${refusal}`);
}
