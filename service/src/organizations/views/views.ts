import { type RawBuilder, sql } from 'kysely';
import type { Static } from 'typebox';
import { recordAudit } from '../../audit/record.ts';
import type { TenantTx } from '../../db/database.ts';
import { fetchPage, type PageRequest, type SortColumns } from '../../db/pages.ts';
import { emit } from '../../events/emit.ts';
import type { Actor } from '../../shared/actor.ts';
import { AppError, notFound } from '../../shared/errors.ts';
import { newId } from '../../shared/ids.ts';
import { permissionLacking } from '../../shared/permissions.ts';
import type { ViewCreate, ViewPatch, ViewQuery } from '../schemas-views.ts';
import { MOST_VIEWS } from './limits.ts';

const columns = ['id', 'list', 'name', 'query', 'columns', 'sort', 'owner', 'position', 'created_by', 'version', 'created_at', 'updated_at'] as const;

/** All credentials of a person have the same views and preferences. */
export function personKey({ person, type, id }: Actor): string {
  return person?.id ?? `${type}:${id ?? ''}`;
}

const visibleTo = (actor: Actor): RawBuilder<boolean> => sql<boolean>`(owner is null or owner = ${personKey(actor)})`;

/** The views of the person and those of the organization. */
export function listViews(tx: TenantTx, actor: Actor, { list, scope }: Pick<Static<typeof ViewQuery>, 'list' | 'scope'>, page: PageRequest) {
  let query = tx.selectFrom('saved_views').select(columns).where('org_id', '=', actor.orgId).where(visibleTo(actor));
  if (list !== undefined) query = query.where('list', '=', list);
  if (scope !== undefined) query = query.where('owner', scope === 'organization' ? 'is' : 'is not', null);
  const sorts: SortColumns<ViewRow> = { position: { column: 'position', type: 'integer' }, created_at: { column: 'created_at', type: 'timestamptz' } };
  return fetchPage(tx, query, sorts, page);
}

/** A view of another person does not exist for the actor. */
export async function readView(tx: TenantTx, actor: Actor, id: string) {
  const view = await tx
    .selectFrom('saved_views')
    .select(columns)
    .where('org_id', '=', actor.orgId)
    .where('id', '=', id)
    .where(visibleTo(actor))
    .executeTakeFirst();
  if (!view) throw notFound('view', id);
  return view;
}

export type ViewRow = Awaited<ReturnType<typeof readView>>;

export async function createView(
  tx: TenantTx,
  actor: Actor,
  { scope = 'mine', columns: shown = [], sort = null, position, ...view }: Static<typeof ViewCreate>,
): Promise<ViewRow> {
  if (scope === 'organization') assertShares(actor);
  const owner = scope === 'organization' ? null : personKey(actor);
  const { rows } = await sql<{ count: number; next: number }>`
    select count(*)::int as count, coalesce(max(position), 0)::int + 1 as next from saved_views where org_id = ${actor.orgId} and owner is not distinct from ${owner}`.execute(
    tx,
  );
  const { count = 0, next = 1 } = rows[0] ?? {};
  if (count >= MOST_VIEWS) throw new AppError('conflict', `There are already ${MOST_VIEWS} views. Delete one first.`);
  const values = {
    org_id: actor.orgId,
    id: newId(),
    ...view,
    columns: shown,
    sort,
    owner,
    position: position ?? Math.min(next, 10_000),
    created_by: actor.name,
  };
  const created = await tx
    .insertInto('saved_views')
    .values(values)
    .onConflict((conflict) => conflict.doNothing())
    .returning(columns)
    .executeTakeFirst();
  if (!created) throw nameTaken(view.name);
  await recordView(tx, actor, 'view.created', { after: created });
  return created;
}

interface ViewChange {
  id: string;
  patch: Static<typeof ViewPatch>;
  check: (current: ViewRow) => void;
}

export async function updateView(tx: TenantTx, actor: Actor, { id, patch, check }: ViewChange): Promise<ViewRow> {
  const current = await readView(tx, actor, id);
  check(current);
  if (current.owner === null) assertShares(actor);
  const { columns: shown, ...others } = patch;
  const changes = { ...others, ...(shown === undefined ? {} : { columns: shown }) };
  const isSame = Object.entries(changes).every(([name, value]) => JSON.stringify(value) === JSON.stringify(current[name as keyof ViewRow]));
  if (isSame) return current;
  if (changes.name !== undefined && changes.name.toLowerCase() !== current.name.toLowerCase()) await assertNameFree(tx, actor.orgId, current, changes.name);
  const updated = await tx
    .updateTable('saved_views')
    .set({ ...changes, version: current.version + 1, updated_at: new Date() })
    .where('org_id', '=', actor.orgId)
    .where('id', '=', id)
    .returning(columns)
    .executeTakeFirstOrThrow();
  await recordView(tx, actor, 'view.updated', { before: current, after: updated });
  return updated;
}

async function assertNameFree(tx: TenantTx, orgId: string, { list, owner }: ViewRow, name: string): Promise<void> {
  const { rows } = await sql`
    select from saved_views where org_id = ${orgId} and list = ${list} and owner is not distinct from ${owner} and lower(name) = lower(${name})`.execute(tx);
  if (rows.length > 0) throw nameTaken(name);
}

export async function deleteView(tx: TenantTx, actor: Actor, id: string): Promise<void> {
  const current = await readView(tx, actor, id);
  if (current.owner === null) assertShares(actor);
  await tx.deleteFrom('saved_views').where('org_id', '=', actor.orgId).where('id', '=', id).execute();
  await recordView(tx, actor, 'view.deleted', { before: current });
}

/** The views and preferences of a person who is no longer a member. */
export async function forgetPerson(tx: TenantTx, orgId: string, person: string): Promise<void> {
  await tx.deleteFrom('saved_views').where('org_id', '=', orgId).where('owner', '=', person).execute();
  await tx.deleteFrom('preferences').where('org_id', '=', orgId).where('person', '=', person).execute();
}

/** Views of a person are private: neither the audit trail nor events show them. */
async function recordView(
  tx: TenantTx,
  actor: Actor,
  action: 'view.created' | 'view.updated' | 'view.deleted',
  { before, after }: { before?: ViewRow; after?: ViewRow },
): Promise<void> {
  const view = after ?? before;
  if (!view || view.owner !== null) return;
  const auditable = ({ list, name, query, columns: shown, sort, position }: ViewRow) => ({ list, name, query, columns: shown, sort, position });
  const changes = { ...(before ? { before: auditable(before) } : {}), ...(after ? { after: auditable(after) } : {}) };
  await recordAudit(tx, actor, { action, objectType: 'view', objectId: view.id, ...changes });
  await emit(tx, actor.orgId, { type: action, subject: view.id, data: auditable(view) });
}

function assertShares({ role }: Actor): void {
  const lacking = permissionLacking(role, 'views:share');
  if (lacking !== null) throw new AppError('forbidden', `Views of the organization: ${lacking}`);
}

function nameTaken(name: string): AppError {
  return new AppError('conflict', `There is already a view "${name}" of this list. Choose another name.`);
}
