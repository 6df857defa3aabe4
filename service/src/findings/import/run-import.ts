import { ReportError, type ReportFormat } from '@rrs/scan-reports';
import { sql } from 'kysely';
import { recordAudit } from '../../audit/record.ts';
import type { BlobStore } from '../../blobs/blobs.ts';
import type { Database, TenantTx } from '../../db/database.ts';
import { emit } from '../../events/emit.ts';
import type { JobContext } from '../../jobs/jobs.ts';
import { readPolicy } from '../../organizations/read-policy.ts';
import { systemActor } from '../../shared/actor.ts';
import type { FindingFollower } from '../follower.ts';
import { queueImport } from '../import-lock.ts';
import { FastPathMissed, knownContents } from '../merge/known-records.ts';
import { isLarge } from '../merge/resolution.ts';
import { findSource, type Source } from '../merge/sources.ts';
import { deleteStaged } from '../merge/staging.ts';
import { applyReport, type Collected, coveredByRun, lockImport, type Report, type Result } from './apply-report.ts';
import type { ImportRow, ScanScope } from './manage-imports.ts';
import { namedVulnerabilities } from './named-vulnerabilities.ts';
import { chooseFormat, openReport } from './open-report.ts';
import { reportAssets } from './report-assets.ts';
import { receivedBefore, type Staged, stageReport } from './stage-report.ts';

export interface Importing {
  blobs: BlobStore;
  follower: FindingFollower;
  known: readonly ReportFormat[];
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
    const { name = '', path = '' } = row.scan_scope as ScanScope;
    const source: Source = collected?.source ?? { kind: 'import', provider: format.id, tool, name, path };
    const [policy, knownSource] = await context.db.withTenant(
      { orgId },
      async (tx) => [await readPolicy(tx, orgId), await findSource(tx, orgId, source)] as const,
    );
    const assets = reportAssets(row.scan_scope as ScanScope, about?.assetType ?? format.assetType, policy);
    const report: Report = { format, input, about, source, follower, assets, collected: collected ?? null };
    try {
      // Nothing is known of a source that reports for the first time.
      const findKnown = knownSource ? knownContents(context.db, orgId) : null;
      await finish(context.db, row, report, await stage(context, row, report, findKnown));
    } catch (error) {
      if (!(error instanceof FastPathMissed)) throw error;
      await discardStaged(context.db, { orgId, importId });
      await finish(context.db, row, report, await stage(context, row, report, null));
    }
  } catch (error) {
    const names = (): Promise<string[]> => namedVulnerabilities(openReport(blobs, row));
    if (error instanceof AllRejected) await fail(context.db, row, error.message, { ...error.staged, names: await names() });
    else if (error instanceof ReportError) await fail(context.db, row, error.message, { received: receivedBefore(error), names: await names() });
    else if (error instanceof Superseded) return;
    else if (context.lastAttempt)
      await fail(context.db, row, 'The import failed repeatedly because of an internal error. See the log for details.', { names: await names() });
    else throw error;
  } finally {
    await discardStaged(context.db, { orgId, importId });
  }
}

/** Ends an import as failed without trying it again. */
export async function abandonImport({ db, blobs }: { db: Database; blobs: BlobStore }, { orgId, importId }: ImportId, reason: string): Promise<void> {
  const row = await begin(db, orgId, importId);
  if (row) await fail(db, row, reason, { names: await namedVulnerabilities(openReport(blobs, row)) });
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

type FindKnown = Parameters<typeof stageReport>[2]['findKnown'];

async function stage({ db, signal }: JobContext, row: ImportRow, report: Report, findKnown: FindKnown): Promise<Staged> {
  const { format, input, source, assets } = report;
  const staged = await db.withCopyClient((client) =>
    stageReport(format, input, {
      client,
      signal,
      orgId: row.org_id,
      importId: row.id,
      origin: [source.provider, source.tool, source.name, source.path].join('\n'),
      assets: { ...assets, covered: [...assets.covered, ...coveredByRun(report)] },
      findKnown,
      onProgress: (records) => progress(db, row, { records, bytes: input.bytesRead() }),
    }),
  );
  if (staged.received > 0 && staged.rejected === staged.received) throw new AllRejected(staged);
  // In its own transaction: `analyze` locks the table against other analyzers until the transaction ends.
  const { received, rejected, seen } = staged;
  if (isLarge({ staged: { rows: received - rejected - seen, seen } }))
    await db.withTenant({ orgId: row.org_id }, (tx) => sql`select analyze_staging()`.execute(tx));
  return staged;
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

/** No record of the report could be read or assigned to an asset. */
class AllRejected extends ReportError {
  readonly staged: Staged;
  constructor(staged: Staged) {
    const [first] = staged.rejections;
    super(`All ${staged.rejected} records were rejected. The first one, ${first?.place}: ${first?.reason}.`);
    this.staged = staged;
  }
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
        result = await applyReport(tx, row, report, staged);
        if (row.dry_run) throw new DryRun();
        await conclude(tx, row, result);
      }),
    );
  } catch (error) {
    if (!(error instanceof DryRun) || !result) throw error;
    const preview = { ...result, sourceId: null };
    await db.withTenant({ orgId: row.org_id }, (tx) => conclude(tx, row, preview));
  }
  if (result?.grown) await db.withTenant({ orgId: row.org_id }, (tx) => sql`select analyze_findings()`.execute(tx));
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

/** What is known about the file of a failed import. Evidence packages show it. */
type Failed = Partial<Pick<Staged, 'received' | 'rejected' | 'rejections'>> & { names: string[] };

async function fail(db: Database, row: ImportRow, error: string, { received = 0, rejected = 0, rejections = [], names }: Failed): Promise<void> {
  const orgId = row.org_id;
  await db.withTenant({ orgId }, async (tx) => {
    await tx
      .updateTable('imports')
      .set({ status: 'failed', error, names, received, rejected, rejections: JSON.stringify(rejections), finished_at: sql<Date>`now()` })
      .where('org_id', '=', orgId)
      .where('id', '=', row.id)
      .execute();
    await recordAudit(tx, systemActor(orgId, 'worker'), { action: 'import.failed', objectType: 'import', objectId: row.id, after: { error } });
    await emit(tx, orgId, { type: 'import.failed', subject: row.id, data: { error } });
  });
}
