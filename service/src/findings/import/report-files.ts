import { sql } from 'kysely';
import { recordAudit } from '../../audit/record.ts';
import { eraseBytes } from '../../blobs/erase.ts';
import type { SystemTx, TenantTx } from '../../db/database.ts';
import { emit } from '../../events/emit.ts';
import { enqueueAll } from '../../jobs/jobs.ts';
import { type Actor, systemActor } from '../../shared/actor.ts';
import { AppError, notFound } from '../../shared/errors.ts';
import type { ImportRow } from './manage-imports.ts';

/** Those of the given files that an import of any organization refers to. */
export async function storedReports(tx: SystemTx, sha256s: readonly string[]): Promise<{ sha256: string }[]> {
  const { rows } = await sql<{ sha256: string }>`
    select wanted.sha256 from unnest(${sha256s as string[]}::text[]) as wanted (sha256)
    where exists (select from imports where imports.sha256 = wanted.sha256 and imports.file_deleted_at is null)`.execute(tx);
  return rows;
}

/** Keeps the files of the given imports from being deleted until the end of the transaction. Returns the imports whose file already was. */
export async function lockReportFiles(tx: TenantTx, orgId: string, ids: readonly string[]): Promise<string[]> {
  const { rows } = await sql<{ id: string; is_deleted: boolean }>`
    select id, file_deleted_at is not null as is_deleted from imports where org_id = ${orgId} and id = any(${ids as string[]}::uuid[]) order by id for share`.execute(
    tx,
  );
  return rows.filter(({ is_deleted }) => is_deleted).map(({ id }) => id);
}

/** Whether an evidence package of the organization contains the file. A package that is published holds the lock of the import, so ask again after locking it. */
const isCited = sql<boolean>`exists (select from package_files cited where cited.org_id = imports.org_id and cited.sha256 = imports.sha256)`;

/** Deletes the file of an import. The import stays. A job erases the bytes, unless something else refers to them. */
export async function deleteReportFile(tx: TenantTx, actor: Actor, id: string): Promise<void> {
  const row = await tx
    .selectFrom('imports')
    .select(['status', 'file_deleted_at'])
    .where('org_id', '=', actor.orgId)
    .where('id', '=', id)
    .forUpdate()
    .executeTakeFirst();
  if (!row) throw notFound('import', id);
  if (row.file_deleted_at !== null) return;
  if (row.status === 'queued' || row.status === 'running')
    throw new AppError('conflict', `The import "${id}" is ${row.status} and still reads its file. Delete the file when the import has finished.`);
  const deleted = await markDeleted(tx, actor, [id]);
  if (deleted.length === 0)
    throw new AppError('conflict', `An evidence package contains the file of the import "${id}". Files of evidence packages are kept for good.`);
  await followDeletion(tx, actor, deleted);
}

/** Marks the files of locked imports as deleted, except those that a package contains. */
async function markDeleted(tx: TenantTx, { orgId, name }: Actor, ids: readonly string[]): Promise<DeletedFile[]> {
  const { rows } = await sql<DeletedFile>`
    update imports set file_deleted_at = now(), file_deleted_by = ${name}
    where org_id = ${orgId} and id = any(${ids as string[]}::uuid[]) and not ${isCited}
    returning id, sha256, bytes`.execute(tx);
  return rows;
}

interface Report {
  sha256: string;
  size: number;
  mediaType: string;
  filename: string;
}

/** The stored file of an import, as it is sent. */
export function reportDownload({ id, sha256, bytes, filename, file_deleted_at }: ImportRow): Report {
  if (file_deleted_at !== null) throw new AppError('not_found', `The file of the import "${id}" was deleted on ${file_deleted_at.toISOString().slice(0, 10)}.`);
  return { sha256, size: Number(bytes), mediaType: 'application/octet-stream', filename: filename ?? `report-${id}` };
}

export async function recordReportDownload(tx: TenantTx, actor: Actor, id: string, { sha256, size }: Report): Promise<void> {
  await recordAudit(tx, actor, { action: 'import.file_downloaded', objectType: 'import', objectId: id, after: { sha256, bytes: size } });
}

interface DeletedFile {
  id: string;
  sha256: string;
  bytes: string;
}

async function followDeletion(tx: TenantTx, actor: Actor, files: readonly DeletedFile[]): Promise<void> {
  const sha256s = [...new Set(files.map(({ sha256 }) => sha256))];
  await enqueueAll(
    tx,
    eraseBytes,
    sha256s.map((sha256) => ({ sha256 })),
  );
  const changes = files.map(({ id, sha256, bytes }) => ({ id, after: { sha256, bytes: Number(bytes) } }));
  const action = 'import.file_deleted';
  await recordAudit(tx, actor, ...changes.map(({ id, after }) => ({ action, objectType: 'import', objectId: id, after }) as const));
  await emit(tx, actor.orgId, ...changes.map(({ id, after }) => ({ type: action, subject: id, data: after }) as const));
}

const RETENTION = 'retention policy';

interface FileAges {
  /** Days for which uploaded reports and records of runs are kept. */
  report_days: number;
  run_days: number;
}

/** Deletes a batch of files that are older than the policy says. Returns how many there were. */
export async function deleteOldReportFiles(tx: TenantTx, orgId: string, { report_days, run_days }: FileAges, limit: number): Promise<number> {
  const { rows } = await sql<{ id: string }>`
    select id from imports
    where org_id = ${orgId} and file_deleted_at is null and created_at < now() - least(${report_days}::int, ${run_days}::int) * interval '1 day'
      and created_at < now() - case when connection_id is null then ${report_days}::int else ${run_days}::int end * interval '1 day'
      and status in ('succeeded', 'failed', 'discarded') and not ${isCited}
    order by created_at limit ${limit} for update skip locked`.execute(tx);
  const actor = systemActor(orgId, RETENTION);
  await followDeletion(
    tx,
    actor,
    await markDeleted(
      tx,
      actor,
      rows.map(({ id }) => id),
    ),
  );
  return rows.length;
}
