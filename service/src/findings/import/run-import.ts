import { ReportError } from '@rrs/scan-reports';
import { sql } from 'kysely';
import { recordAudit } from '../../audit/record.ts';
import type { BlobStore } from '../../blobs/blobs.ts';
import { copyLines } from '../../db/copy.ts';
import type { Database, TenantTx } from '../../db/database.ts';
import { emit } from '../../events/emit.ts';
import type { JobContext } from '../../jobs/jobs.ts';
import { readPolicy } from '../../organizations/read-policy.ts';
import { systemActor } from '../../shared/actor.ts';
import { storable } from '../../shared/storable.ts';
import type { FindingFollower } from '../follower.ts';
import { queueImport } from '../import-lock.ts';
import { deleteStaged } from '../merge/delete-staged.ts';
import { FastPathMissed, stageKnown } from '../merge/known-records.ts';
import { isLarge } from '../merge/resolution.ts';
import { findSource } from '../merge/sources.ts';
import { stagingColumns } from '../merge/staging.ts';
import { applyReport, type Collected, coveredByRun, lockImport, type Report, type Result, stagedRows } from './apply-report.ts';
import type { ImportRow, ScanScope } from './manage-imports.ts';
import { storedFile } from './reading/open-report.ts';
import type { Reader } from './reading/read-report.ts';
import type { Staged } from './reading/stage-report.ts';
import { sourceOfUpload } from './uploaded-by.ts';

export interface Importing {
  blobs: BlobStore;
  follower: FindingFollower;
  reader: Reader;
}

/** Runs a stored import, from the beginning if an earlier attempt was interrupted. Does nothing if the import has already ended. */
export async function importReport(importing: Importing, context: JobContext, { orgId, importId }: ImportId, collected?: Collected): Promise<void> {
  const row = await begin(context.db, orgId, importId);
  if (!row) return;
  const staging = { collected: collected ?? null };
  try {
    try {
      await finish(context.db, row, await stage(importing, context, row, { ...staging, isFast: true }));
    } catch (error) {
      if (!(error instanceof FastPathMissed)) throw error;
      await discardStaged(context.db, { orgId, importId });
      await finish(context.db, row, await stage(importing, context, row, { ...staging, isFast: false }));
    }
  } catch (error) {
    const names = (): Promise<string[]> => namesOf(importing, row, context.signal);
    if (error instanceof AllRejected) await fail(context.db, row, error.message, { ...error.staged, names: await names() });
    else if (error instanceof ReportError)
      await fail(context.db, row, error.message, { received: error instanceof Refused ? error.received : 0, names: await names() });
    else if (error instanceof Superseded) return;
    else if (context.lastAttempt)
      await fail(context.db, row, 'The import failed repeatedly because of an internal error. See the log for details.', { names: await names() });
    else throw error;
  } finally {
    await discardStaged(context.db, { orgId, importId });
  }
}

/** Ends an import as failed without trying it again. */
export async function abandonImport(importing: Pick<Importing, 'blobs' | 'reader'>, { db, signal }: JobContext, { orgId, importId }: ImportId, reason: string) {
  const row = await begin(db, orgId, importId);
  if (row) await fail(db, row, reason, { names: await namesOf(importing, row, signal) });
}

/** A file that cannot even be read for its names names nothing. */
async function namesOf({ blobs, reader }: Pick<Importing, 'blobs' | 'reader'>, { sha256, filename }: ImportRow, signal: AbortSignal): Promise<string[]> {
  const file = storedFile(blobs, sha256);
  try {
    return await reader.names(filename, file, signal);
  } catch (error) {
    if (error instanceof ReportError) return [];
    throw error;
  } finally {
    file.closeAll();
  }
}

interface ImportId {
  orgId: string;
  importId: string;
}

/** Returns null if the import has already ended: a worker may die after that, before it completes the job. */
async function begin(db: Database, orgId: string, importId: string): Promise<ImportRow | null> {
  return db.withTenant({ orgId }, async (tx) => {
    const row = await tx
      .updateTable('imports')
      .set({ status: 'running', started_at: sql<Date>`coalesce(started_at, now())`, bytes_read: '0', records_read: '0' })
      .where('org_id', '=', orgId)
      .where('id', '=', importId)
      .where('status', 'in', ['queued', 'running'])
      .returningAll()
      .executeTakeFirst();
    await deleteStaged(tx, orgId, importId);
    return row ?? null;
  });
}

/** Waits for a worker that applies the same import: it was taken for dead, but is alive. */
function discardStaged(db: Database, { orgId, importId }: ImportId): Promise<void> {
  return db.withTenant({ orgId }, async (tx) => {
    await lockImport(tx, orgId, importId);
    await deleteStaged(tx, orgId, importId);
  });
}

interface Staging {
  collected: Collected | null;
  isFast: boolean;
}

/** Reads the report into the staging tables. */
async function stage({ blobs, follower, reader }: Importing, { db, signal }: JobContext, row: ImportRow, { collected, isFast }: Staging): Promise<Report> {
  const { org_id: orgId, id: importId, filename, format } = row;
  const scope = row.scan_scope as ScanScope;
  const file = storedFile(blobs, row.sha256);
  const begun: Pick<Report, 'source' | 'about'>[] = [];
  const host: Parameters<Reader['read']>[1] = {
    ...file,
    begin: async (found) => {
      signal.throwIfAborted();
      const [policy, own, known] = await db.withTenant({ orgId }, async (tx) => {
        const of = collected ? { source: collected.source, about: found.about } : await sourceOfUpload(tx, orgId, found, scope);
        return [await readPolicy(tx, orgId), of, await findSource(tx, orgId, of.source)] as const;
      });
      begun.push(own);
      const { source } = own;
      const origin = [source.provider, source.tool, source.name, source.path].join('\n');
      return { origin, policy: { track_names: policy.track_names }, covered: coveredByRun({ collected }), isKnown: known !== null };
    },
    stageKnown: (said) => {
      signal.throwIfAborted();
      return stageKnown(db.planning('once'), { orgId, importId })(said);
    },
    copy: async (table, lines) => {
      signal.throwIfAborted();
      await db.withCopyClient((client) => copyLines(client, table, stagingColumns[table], lines));
    },
    progress: (records, bytes) => progress(db, row, { records, bytes }),
  };
  const stored = { sha256: row.sha256, bytes: Number(row.bytes), folder: blobs.folder };
  const result = await reader.read({ orgId, importId, filename, stored, format, scope, isFast }, host, signal).finally(file.closeAll);
  if ('refused' in result) throw new Refused(result);
  const [beginning] = begun;
  if (!beginning) throw new Error('the report was read before its source was known');
  const { received, rejected } = result.staged;
  if (received > 0 && rejected === received) throw new AllRejected(result.staged);
  // In its own transaction: `analyze` locks the table against other analyzers until the transaction ends.
  if (isLarge({ staged: stagedRows(result.staged) })) await db.withTenant({ orgId }, (tx) => sql`select analyze_staging()`.execute(tx));
  return { ...result, ...beginning, follower, collected };
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

/** The report cannot be read to its end. */
class Refused extends ReportError {
  readonly received: number;
  constructor({ refused, received }: { refused: string; received: number }) {
    super(refused);
    this.received = received;
  }
}

/** No record of the report could be read or assigned to an asset. */
class AllRejected extends ReportError {
  readonly staged: Staged;
  constructor(staged: Staged) {
    const [first] = staged.rejections;
    const all = staged.rejected === 1 ? 'The only record was rejected.' : `All ${staged.rejected} records were rejected. The first one,`;
    super(`${all} ${first?.place}: ${first?.reason}.`);
    this.staged = staged;
  }
}

/** Rolls back what a dry run has changed. */
class DryRun extends Error {
  readonly result: Result;
  constructor(result: Result) {
    super('dry run');
    this.result = result;
  }
}
/** Another worker took over the import and has finished it. */
class Superseded extends Error {}

/** Applies all changes of an import in one transaction, one import per organization at a time. */
async function finish(unplanned: Database, row: ImportRow, report: Report): Promise<void> {
  const db = unplanned.planning(isLarge({ staged: stagedRows(report.staged) }) ? 'for_any' : 'once');
  const applied = queueImport(row.org_id, () =>
    db.withTenant({ orgId: row.org_id }, async (tx) => {
      const result = await applyReport(tx, row, report);
      if (row.dry_run) throw new DryRun(result);
      await conclude(tx, row, result);
      return result;
    }),
  );
  const { grown } = await applied.catch(async (error: unknown) => {
    if (!(error instanceof DryRun)) throw error;
    await db.withTenant({ orgId: row.org_id }, (tx) => conclude(tx, row, { ...error.result, sourceId: null }));
    return error.result;
  });
  if (grown) await db.withTenant({ orgId: row.org_id }, (tx) => sql`select analyze_findings()`.execute(tx));
}

async function conclude(tx: TenantTx, row: ImportRow, result: Result): Promise<void> {
  const { status, format, sourceId, counts, rejections, notes, run, timeless, by_severity } = result;
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
      run: JSON.stringify(run),
      timeless_digest: timeless,
      by_severity: JSON.stringify(by_severity),
      bytes_read: row.bytes,
      records_read: String(counts.received),
      // now() is when the transaction began, which may be minutes earlier.
      finished_at: sql<Date>`clock_timestamp()`,
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

/** What is known about the file of a failed import. Evidence packages show it. */
type Failed = Partial<Pick<Staged, 'received' | 'rejected' | 'rejections'>> & { names: string[] };

async function fail(db: Database, row: ImportRow, message: string, { received = 0, rejected = 0, rejections = [], names }: Failed): Promise<void> {
  const orgId = row.org_id;
  // Messages quote the report.
  const error = storable(message);
  await db.withTenant({ orgId }, async (tx) => {
    const { numUpdatedRows } = await tx
      .updateTable('imports')
      .set({ status: 'failed', error, names, received, rejected, rejections: JSON.stringify(rejections), finished_at: sql<Date>`clock_timestamp()` })
      .where('org_id', '=', orgId)
      .where('id', '=', row.id)
      .where('status', '=', 'running')
      .executeTakeFirst();
    // A worker that was believed dead must not change what another one has concluded.
    if (numUpdatedRows === 0n) return;
    await recordAudit(tx, systemActor(orgId, 'worker'), { action: 'import.failed', objectType: 'import', objectId: row.id, after: { error } });
    await emit(tx, orgId, { type: 'import.failed', subject: row.id, data: { error } });
  });
}
