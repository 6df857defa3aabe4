import { type About, type Asset, ReportError, type ReportFormat } from '@rrs/scan-reports';
import { sql } from 'kysely';
import { recordAudit } from '../../audit/record.ts';
import type { BlobStore } from '../../blobs/blobs.ts';
import type { Database, TenantTx } from '../../db/database.ts';
import { emit } from '../../events/emit.ts';
import type { JobContext } from '../../jobs/jobs.ts';
import { readPolicy } from '../../organizations/read-policy.ts';
import { systemActor } from '../../shared/actor.ts';
import type { FindingFollower } from '../follower.ts';
import { queueImport, takeImportLock } from '../import-lock.ts';
import { type Absence, doubtsOf, UNSPECIFIED, withheldNotes } from './absence.ts';
import { closeAbsent, notifyFollower } from './close-absent.ts';
import { FastPathMissed, knownContents } from './known-records.ts';
import { type ImportRow, type ScanScope, seenAtOf } from './manage-imports.ts';
import { chooseFormat, openReport } from './open-report.ts';
import type { Resolution } from './resolution.ts';
import { resolveRows } from './resolve.ts';
import { type Source, sourceOf, wordsOfSource } from './sources.ts';
import { type Staged, stageReport } from './stage-report.ts';
import { assetKeyOf, deleteStaged } from './staging.ts';

export interface Importing {
  blobs: BlobStore;
  follower: FindingFollower;
  known: readonly ReportFormat[];
}

/** Describes a report that a connection collected. */
export interface Collected {
  source: Source;
  /** Assets that the run covered, even if it found nothing there. */
  covers: readonly Asset[];
  /** Assets that the run covered in part. Nothing is closed there. */
  partiallyCovered: readonly Asset[];
  /** Whether findings may be missing for another reason, such as changed settings. Then any closure needs confirmation. */
  cautious: boolean;
}

/** Runs a stored import, from the beginning if an earlier attempt was interrupted. Does nothing if the import has already ended. */
export async function importReport(
  { blobs, follower, known }: Importing,
  context: JobContext,
  { orgId, importId }: ImportId,
  collected?: Collected,
): Promise<void> {
  const row = await begin(context.db, orgId, importId);
  if (!row) return;
  try {
    const input = openReport(blobs, row);
    const format = await chooseFormat(known, row, input);
    const about = (await format.about?.(input)) ?? null;
    const tool = [...new Set(about?.tools ?? [])].sort().join(' + ');
    const source: Source = collected?.source ?? { kind: 'import', provider: format.id, tool, name: (row.scan_scope as ScanScope).name ?? '' };
    const report: Report = {
      format,
      input,
      about,
      source,
      follower,
      covers: collected?.covers ?? [],
      partiallyCovered: collected?.partiallyCovered ?? [],
      cautious: collected?.cautious ?? false,
    };
    try {
      await finish(context.db, row, report, await stage(context, row, report, knownContents(context.db, orgId)));
    } catch (error) {
      if (!(error instanceof FastPathMissed)) throw error;
      await context.db.withTenant({ orgId }, (tx) => deleteStaged(tx, orgId, importId));
      await finish(context.db, row, report, await stage(context, row, report, null));
    }
  } catch (error) {
    if (error instanceof ReportError) await fail(context.db, row, error.message);
    else if (error instanceof Superseded) return;
    else if (context.lastAttempt) await fail(context.db, row, 'The import failed repeatedly because of an internal error. See the log for details.');
    else throw error;
  } finally {
    await context.db.withTenant({ orgId }, (tx) => deleteStaged(tx, orgId, importId));
  }
}

interface ImportId {
  orgId: string;
  importId: string;
}

/** Returns null if the import has already ended: a worker may die after that, before it completes the job. */
async function begin(db: Database, orgId: string, importId: string): Promise<ImportRow | null> {
  return db.withTenant({ orgId }, async (tx) => {
    await deleteStaged(tx, orgId, importId);
    const row = await tx
      .updateTable('imports')
      .set({ status: 'running', started_at: sql<Date>`coalesce(started_at, now())`, bytes_read: '0', records_read: '0' })
      .where('org_id', '=', orgId)
      .where('id', '=', importId)
      .where('status', 'in', ['queued', 'running'])
      .returningAll()
      .executeTakeFirst();
    return row ?? null;
  });
}

interface Report {
  format: ReportFormat;
  input: ReturnType<typeof openReport>;
  about: About | null;
  source: Source;
  follower: FindingFollower;
  covers: readonly Asset[];
  partiallyCovered: readonly Asset[];
  cautious: boolean;
}

type FindKnown = Parameters<typeof stageReport>[2]['findKnown'];

async function stage({ db, signal }: JobContext, row: ImportRow, report: Report, findKnown: FindKnown): Promise<Staged> {
  const { format, input, source, covers, partiallyCovered } = report;
  const scope = row.scan_scope as ScanScope;
  const staged = await db.withCopyClient((client) =>
    stageReport(format, input, {
      client,
      signal,
      orgId: row.org_id,
      importId: row.id,
      origin: [source.provider, source.tool, source.name].join('\n'),
      defaultAsset: defaultAsset(report, scope),
      scopeAssets: [scope.asset ?? [], scope.assets ?? [], covers, partiallyCovered].flat(),
      findKnown,
      onProgress: (records) => progress(db, row, { records, bytes: input.bytesRead() }),
    }),
  );
  // In its own transaction: `analyze` locks the table against other analyzers until the transaction ends.
  if (isLarge(staged)) await db.withTenant({ orgId: row.org_id }, (tx) => sql`select analyze_staging()`.execute(tx));
  return staged;
}

/** The asset of records that do not name one. */
function defaultAsset({ format, about }: Pick<Report, 'format' | 'about'>, scope: ScanScope): Asset {
  return scope.asset ?? { type: about?.assetType ?? format.assetType, name: UNSPECIFIED };
}

/** Whether records without an asset share the default asset with other unnamed reports. */
function isShared({ kind, name }: Source, scope: ScanScope): boolean {
  return kind === 'import' && name === '' && scope.asset === undefined;
}

/** Small imports are planned well without fresh statistics. */
function isLarge({ received }: Staged): boolean {
  return received >= 1_000;
}

async function progress(db: Database, { org_id, id }: ImportRow, { records, bytes }: { records: number; bytes: number }): Promise<void> {
  await db.withTenant({ orgId: org_id }, (tx) =>
    tx
      .updateTable('imports')
      .set({ records_read: String(records), bytes_read: String(bytes) })
      .where('org_id', '=', org_id)
      .where('id', '=', id)
      .execute(),
  );
}

class DryRun extends Error {}
/** Another worker took over the import and has finished it. */
class Superseded extends Error {}

/** Applies all changes of an import in one transaction, one import per organization at a time. */
async function finish(db: Database, row: ImportRow, report: Report, staged: Staged): Promise<void> {
  let result: Result | undefined;
  try {
    await queueImport(row.org_id, () =>
      db.withTenant({ orgId: row.org_id }, async (tx) => {
        result = await resolve(tx, row, report, staged);
        if (row.dry_run) throw new DryRun();
        await conclude(tx, row, result);
      }),
    );
  } catch (error) {
    if (!(error instanceof DryRun) || !result) throw error;
    const preview = { ...result, sourceId: null };
    await db.withTenant({ orgId: row.org_id }, (tx) => conclude(tx, row, preview));
  }
}

interface Result {
  status: 'succeeded' | 'needs_confirmation';
  format: string;
  sourceId: string | null;
  counts: { received: number; created: number; updated: number; unchanged: number; reopened: number; rejected: number; closed: number };
  rejections: Staged['rejections'];
  notes: string[];
}

/** Staging tables are empty after a crash of the database, and a worker that lost its lease may still write to them. */
async function assertStaged(tx: TenantTx, { org_id, id }: ImportRow, { received, rejected }: Staged): Promise<void> {
  const count = (table: string) => sql`(select count(*) from ${sql.table(table)} where org_id = ${org_id} and import_id = ${id})`;
  const { rows } = await sql<{ count: number }>`select (${count('tenant_import_rows')} + ${count('tenant_import_seen')})::int as count`.execute(tx);
  if (rows[0]?.count !== received - rejected) throw new Error(`the staging tables have ${rows[0]?.count} of ${received - rejected} records`);
}

async function resolve(tx: TenantTx, row: ImportRow, { format, about, source, follower, partiallyCovered, cautious }: Report, staged: Staged): Promise<Result> {
  const orgId = row.org_id;
  await takeImportLock(tx, orgId);
  await assertStaged(tx, row, staged);
  const scope = row.scan_scope as ScanScope;
  const { sla, brake } = await readPolicy(tx, orgId);
  const resolution: Resolution = {
    orgId,
    importId: row.id,
    sourceId: await sourceOf(tx, orgId, source),
    sourceWords: wordsOfSource(source),
    seenAt: seenAtOf(row),
    sla,
    actor: row.actor as Resolution['actor'],
    large: isLarge(staged),
  };
  const doubts = scope.coverage === 'complete' ? doubtsOf(about, staged) : [];
  const absence: Absence = {
    complete: scope.coverage === 'complete' && doubts.length === 0,
    partiallyCovered: [...partiallyCovered, ...(isShared(source, scope) ? [defaultAsset({ format, about }, scope)] : [])].map(assetKeyOf),
    unread: about?.unread ?? [],
    brake: cautious ? { share: 0, count: 0 } : brake,
  };
  const { withdrawn, ...outcomes } = await resolveRows(tx, resolution, absence);
  // The statistics do not include the new rows yet, and the next statements join them with existing ones.
  if (isLarge(staged)) await sql`select analyze_grown()`.execute(tx);
  const notes = absence.complete ? await withheldNotes(tx, resolution, absence) : [];
  const { closed, withheld } = await closeAbsent(tx, resolution, absence);
  if (!row.dry_run) await notifyFollower(tx, follower, resolution, { reopened: outcomes.reopened, closed, withdrawn, isWithheld: withheld !== null });
  const { received, rejected } = staged;
  const unchanged = received - rejected - outcomes.created - outcomes.updated - outcomes.reopened;
  return {
    status: withheld && !row.dry_run ? 'needs_confirmation' : 'succeeded',
    format: format.id,
    sourceId: resolution.sourceId,
    counts: { received, ...outcomes, unchanged, rejected, closed },
    rejections: staged.rejections,
    notes: [
      ...(withheld
        ? [
            `${withheld.count} of ${withheld.open} open findings of this source would be closed. ${row.dry_run ? 'The import would need confirmation.' : 'Confirm or discard the import.'}`,
          ]
        : []),
      ...doubts.map((doubt) => `Nothing was closed: ${doubt}.`),
      ...notes,
    ],
  };
}

async function conclude(tx: TenantTx, row: ImportRow, { status, format, sourceId, counts, rejections, notes }: Result): Promise<void> {
  const orgId = row.org_id;
  const { numUpdatedRows } = await tx
    .updateTable('imports')
    .set({
      status,
      format,
      source_id: sourceId,
      ...counts,
      rejections: JSON.stringify(rejections),
      notes: JSON.stringify(notes),
      bytes_read: row.bytes,
      records_read: String(counts.received),
      finished_at: sql<Date>`now()`,
    })
    .where('org_id', '=', orgId)
    .where('id', '=', row.id)
    .where('status', '=', 'running')
    .executeTakeFirst();
  if (numUpdatedRows === 0n) throw new Superseded();
  const action = status === 'succeeded' ? 'import.succeeded' : 'import.needs_confirmation';
  await recordAudit(tx, systemActor(orgId, 'worker'), { action, objectType: 'import', objectId: row.id, after: { format, dry_run: row.dry_run, ...counts } });
  await emit(tx, orgId, { type: action, subject: row.id, data: { format, dry_run: row.dry_run, ...counts } });
}

async function fail(db: Database, row: ImportRow, error: string): Promise<void> {
  const orgId = row.org_id;
  await db.withTenant({ orgId }, async (tx) => {
    await tx
      .updateTable('imports')
      .set({ status: 'failed', error, finished_at: sql<Date>`now()` })
      .where('org_id', '=', orgId)
      .where('id', '=', row.id)
      .execute();
    await recordAudit(tx, systemActor(orgId, 'worker'), { action: 'import.failed', objectType: 'import', objectId: row.id, after: { error } });
    await emit(tx, orgId, { type: 'import.failed', subject: row.id, data: { error } });
  });
}
