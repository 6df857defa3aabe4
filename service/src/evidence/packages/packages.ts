import { type Selectable, sql } from 'kysely';
import type { Static } from 'typebox';
import { recordAudit } from '../../audit/record.ts';
import type { TenantTx } from '../../db/database.ts';
import { fetchPage, type PageRequest } from '../../db/pages.ts';
import type { DB } from '../../db/types.ts';
import { emit } from '../../events/emit.ts';
import { assertQueueHasRoom, enqueue } from '../../jobs/jobs.ts';
import type { Actor } from '../../shared/actor.ts';
import { notFound } from '../../shared/errors.ts';
import { newId } from '../../shared/ids.ts';
import { readItem } from '../../work-items/items/read.ts';
import { actorRef } from '../actor-ref.ts';
import { sealPackageJob } from '../jobs.ts';
import type { NewPackageBody, PackageListQuery } from '../schemas-packages.ts';
import { lockPackagesOfItem } from './supersede.ts';

export type PackageRow = Selectable<DB['evidence_packages']>;

/** What the content of a package depends on. */
export type PackageToBuild = Pick<PackageRow, 'org_id' | 'id' | 'work_item_id' | 'sequence' | 'formats' | 'note' | 'requested_by'>;

type NewPackage = Static<typeof NewPackageBody>;
type PackageFilter = Pick<Static<typeof PackageListQuery>, 'work_item_id' | 'status' | 'generated_from' | 'generated_to'>;

/** One file of a package, as stored in the column `files`. */
export interface PackageFile {
  path: string;
  size: number;
  sha256: string;
  media_type: string;
}

export async function requestPackage(tx: TenantTx, actor: Actor, { work_item_id, formats = [], note = null }: NewPackage): Promise<PackageRow> {
  const { orgId } = actor;
  const { title: work_item_title } = await readItem(tx, orgId, work_item_id);
  await assertQueueHasRoom(tx);
  await lockPackagesOfItem(tx, work_item_id);
  const next = await nextSequence(tx, orgId, work_item_id);
  const id = newId();
  const requested_by = JSON.stringify(actorRef(actor));
  const row = await tx
    .insertInto('evidence_packages')
    .values({ org_id: orgId, id, work_item_id, work_item_title, sequence: next, formats, note, requested_by })
    .returningAll()
    .executeTakeFirstOrThrow();
  await enqueue(tx, sealPackageJob, { org_id: orgId, package_id: id });
  const after = { work_item_id, sequence: next, formats, note };
  await recordAudit(tx, actor, { action: 'package.requested', objectType: 'evidence_package', objectId: id, after });
  await emit(tx, orgId, { type: 'package.requested', subject: id, data: after });
  return row;
}

export async function nextSequence(tx: TenantTx, orgId: string, workItemId: string): Promise<number> {
  const { next } = await tx
    .selectFrom('evidence_packages')
    .select(sql<number>`coalesce(max(sequence), 0) + 1`.as('next'))
    .where('org_id', '=', orgId)
    .where('work_item_id', '=', workItemId)
    .executeTakeFirstOrThrow();
  return next;
}

export async function readPackage(tx: TenantTx, orgId: string, id: string): Promise<PackageRow> {
  const row = await tx.selectFrom('evidence_packages').selectAll().where('org_id', '=', orgId).where('id', '=', id).executeTakeFirst();
  if (!row) throw notFound('evidence package', id);
  return row;
}

export function listPackages(tx: TenantTx, orgId: string, filter: PackageFilter, page: PageRequest) {
  let query = tx.selectFrom('evidence_packages').selectAll().where('org_id', '=', orgId);
  if (filter.work_item_id !== undefined) query = query.where('work_item_id', '=', filter.work_item_id);
  if (filter.status !== undefined) query = query.where('status', 'in', filter.status);
  if (filter.generated_from !== undefined) query = query.where('generated_at', '>=', new Date(filter.generated_from));
  if (filter.generated_to !== undefined) query = query.where('generated_at', '<', new Date(filter.generated_to));
  // Packages that are still being generated have no generated_at, so the list is ordered by the time of the request.
  return fetchPage(tx, query, { generated_at: { column: 'requested_at', type: 'timestamptz' } }, page);
}
