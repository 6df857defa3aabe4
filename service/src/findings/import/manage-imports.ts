import type { Static } from 'typebox';
import { recordAudit } from '../../audit/record.ts';
import { lockBytes } from '../../blobs/erase.ts';
import type { TenantTx } from '../../db/database.ts';
import { fetchPage, type PageRequest } from '../../db/pages.ts';
import { emit } from '../../events/emit.ts';
import { enqueue } from '../../jobs/jobs.ts';
import { readPolicy } from '../../organizations/read-policy.ts';
import type { Actor, PipelineIdentity } from '../../shared/actor.ts';
import { AppError, notFound } from '../../shared/errors.ts';
import { newId } from '../../shared/ids.ts';
import { acceptRun, notifyFollower } from '../absence/close-absent.ts';
import type { FindingFollower } from '../follower.ts';
import { takeImportLock } from '../import-lock.ts';
import { runImport } from '../jobs.ts';
import type { ImportListQuery, ScanScope as ScanScopeSchema } from '../schemas.ts';
import { recordChanges } from './count-changes.ts';

export type ScanScope = Static<typeof ScanScopeSchema>;

export interface NewImport {
  format: string | null;
  filename: string | null;
  sha256: string;
  bytes: number;
  scan_scope: ScanScope;
  dry_run: boolean;
  /** The connection that collected the report. */
  connection_id?: string;
  /** Host and digest of the settings with which it was collected. */
  settings?: CollectionSettings;
}

export interface CollectionSettings {
  host: string | null;
  sha256: string;
}

export async function createImport(tx: TenantTx, actor: Actor, input: NewImport): Promise<ImportRow> {
  const row = await recordImport(tx, actor, input);
  await enqueue(tx, runImport, { org_id: actor.orgId, import_id: row.id });
  return row;
}

/** Does not queue a job, for callers that run the import themselves. */
export async function recordImport(tx: TenantTx, actor: Actor, input: NewImport): Promise<ImportRow> {
  await lockBytes(tx, input.sha256);
  const id = newId();
  await tx
    .insertInto('imports')
    .values({
      org_id: actor.orgId,
      id,
      status: 'queued',
      format: input.format,
      filename: input.filename,
      sha256: input.sha256,
      bytes: String(input.bytes),
      scan_scope: JSON.stringify(input.scan_scope),
      dry_run: input.dry_run,
      connection_id: input.connection_id ?? null,
      settings: input.settings ? JSON.stringify(input.settings) : null,
      pipeline: actor.pipeline ? JSON.stringify(actor.pipeline) : null,
      created_by: actor.name,
      actor: JSON.stringify({ type: actor.type, id: actor.id, name: actor.name, person: actor.person }),
    })
    .execute();
  const pipeline = actor.pipeline ? { pipeline: shownPipeline(actor.pipeline) } : {};
  const after = { format: input.format, filename: input.filename, sha256: input.sha256, dry_run: input.dry_run, ...pipeline };
  const collected = input.connection_id === undefined ? {} : { connection_id: input.connection_id, settings: input.settings ?? null };
  const trusted = actor.pipeline ? { settings: { host: new URL(actor.pipeline.issuer).host, sha256: actor.pipeline.trust.settings_sha256 } } : {};
  await recordAudit(tx, actor, { action: 'import.created', objectType: 'import', objectId: id, after: { ...after, ...collected, ...trusted } });
  await emit(tx, actor.orgId, { type: 'import.created', subject: id, data: after });
  return readImport(tx, actor.orgId, id);
}

/** The pipeline as the API and the audit trail show it. */
export function shownPipeline({ trust, ...identity }: PipelineIdentity) {
  return { trust_id: trust.id, ...identity };
}

/** All that a list shows. Not the rejected records, which may be a megabyte for each import. */
const listedColumns = [
  ...([
    'id',
    'status',
    'format',
    'filename',
    'sha256',
    'bytes',
    'file_deleted_at',
    'file_deleted_by',
    'scan_scope',
    'bytes_read',
    'records_read',
    'by_severity',
    'notes',
    'error',
  ] as const),
  ...(['received', 'created', 'updated', 'unchanged', 'reopened', 'rejected', 'closed'] as const),
  ...(['dry_run', 'created_by', 'pipeline', 'created_at', 'started_at', 'finished_at'] as const),
] as const;

export type ListedImportRow = Pick<ImportRow, (typeof listedColumns)[number]>;

type ImportFilter = Pick<Static<typeof ImportListQuery>, 'status' | 'format'>;

export function listImports(tx: TenantTx, orgId: string, { status, format }: ImportFilter, page: PageRequest) {
  // Imports of connections are listed with their runs.
  let query = tx.selectFrom('imports').select(listedColumns).where('org_id', '=', orgId).where('connection_id', 'is', null);
  if (status) query = query.where('status', 'in', status);
  if (format) query = query.where('format', 'in', format);
  return fetchPage(tx, query, { created_at: { column: 'created_at', type: 'timestamptz' } }, page);
}

export async function readImport(tx: TenantTx, orgId: string, id: string) {
  const row = await tx.selectFrom('imports').selectAll().where('org_id', '=', orgId).where('id', '=', id).executeTakeFirst();
  if (!row) throw notFound('import', id);
  return row;
}

export type ImportRow = Awaited<ReturnType<typeof readImport>>;

async function lockUnconfirmed(tx: TenantTx, orgId: string, id: string): Promise<ImportRow> {
  await takeImportLock(tx, orgId);
  const row = await readImport(tx, orgId, id);
  if (row.status !== 'needs_confirmation')
    throw new AppError('conflict', `The import "${id}" is ${row.status}. Only an import with status needs_confirmation can be confirmed or discarded.`);
  return row;
}

/** Applies the withheld closures. */
export async function confirmImport(tx: TenantTx, actor: Actor, id: string, follower: FindingFollower): Promise<ImportRow> {
  const row = await lockUnconfirmed(tx, actor.orgId, id);
  const { sla, source_ranking } = await readPolicy(tx, actor.orgId);
  const resolution = {
    orgId: actor.orgId,
    importId: id,
    sourceId: row.source_id ?? '',
    listedAt: null,
    provider: '',
    sourceWords: [],
    provesFixed: false,
    sla,
    ranking: source_ranking,
    actor,
    staged: { rows: 0, seen: 0 },
    files: null,
    restrictions: [],
    size: null,
  };
  await acceptRun(tx, resolution, { isConnection: row.connection_id !== null });
  const changes = await recordChanges(tx, actor.orgId, id);
  await notifyFollower(tx, follower, resolution, { reopened: false, isClosing: true, others: [], isWithheld: false });
  return finishUnconfirmed(tx, actor, row, {
    status: 'succeeded',
    closed: changes.counts.closed,
    by_severity: { ...(row.by_severity as object), closed: changes.by_severity.closed },
  });
}

/** Drops the withheld closures. Other results of the import stay. */
export async function discardImport(tx: TenantTx, actor: Actor, id: string): Promise<ImportRow> {
  const row = await lockUnconfirmed(tx, actor.orgId, id);
  await tx.deleteFrom('import_closures').where('org_id', '=', actor.orgId).where('import_id', '=', id).execute();
  return finishUnconfirmed(tx, actor, row, { status: 'discarded', closed: 0, by_severity: row.by_severity as object });
}

interface Conclusion {
  status: 'succeeded' | 'discarded';
  closed: number;
  by_severity: object;
}

async function finishUnconfirmed(tx: TenantTx, actor: Actor, row: ImportRow, { status, closed, by_severity }: Conclusion): Promise<ImportRow> {
  const updated = await tx
    .updateTable('imports')
    .set({ status, closed, by_severity: JSON.stringify(by_severity), version: row.version + 1 })
    .where('org_id', '=', actor.orgId)
    .where('id', '=', row.id)
    .returningAll()
    .executeTakeFirstOrThrow();
  const action = status === 'succeeded' ? 'import.confirmed' : 'import.discarded';
  await recordAudit(tx, actor, { action, objectType: 'import', objectId: row.id, before: { status: row.status }, after: { status, closed } });
  await emit(tx, actor.orgId, { type: action, subject: row.id, data: { closed } });
  return updated;
}
