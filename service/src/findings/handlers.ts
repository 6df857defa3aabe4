import { pipeline, Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { detectFormat, formats, headOf, ReportError, type ReportFormat, type ReportInput } from '@rrs/scan-reports';
import { sql } from 'kysely';
import { recordAudit } from '../audit/record.ts';
import type { BlobStore } from '../blobs/blobs.ts';
import type { Database, TenantTx } from '../db/database.ts';
import { emit } from '../events/emit.ts';
import { handle, type JobContext } from '../jobs/jobs.ts';
import { systemActor } from '../shared/actor.ts';
import { errorCodeOf } from '../shared/errors.ts';
import { closeAbsent } from './import-close.ts';
import { type Resolution, resolveRows } from './import-resolve.ts';
import { takeTurn } from './import-turn.ts';
import { type ImportRow, type ScanScope, seenAtOf } from './imports.ts';
import { runImport } from './jobs.ts';
import { readPolicy } from './policy.ts';
import { sourceOf } from './sources.ts';
import { type Staged, stageReport } from './stage-report.ts';

/** A compressed report may grow this much and no further. */
const MAX_EXPANDED_BYTES = 16 * 1024 ** 3;

export function importHandler(blobs: BlobStore, known: readonly ReportFormat[] = formats) {
  return handle(runImport, async ({ org_id: orgId, import_id: importId }, context) => {
    const row = await begin(context.db, orgId, importId);
    if (!row) return;
    try {
      const input = reportOf(blobs, row);
      const format = await chooseFormat(known, row, input);
      const staged = await stage(context, row, format, input);
      await finish(context.db, row, format, staged);
    } catch (error) {
      if (error instanceof ReportError) await fail(context.db, row, error.message);
      else if (error instanceof Superseded) return;
      else if (context.lastAttempt) await fail(context.db, row, 'The import failed several times because of a fault in the service; the log has the details.');
      else throw error;
    } finally {
      await forget(context.db, orgId, importId);
    }
  });
}

/** `null`: it is finished already, by a worker that died before it could say so. */
async function begin(db: Database, orgId: string, importId: string): Promise<ImportRow | null> {
  await forget(db, orgId, importId);
  return db.withTenant({ orgId }, async (tx) => {
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

function reportOf(blobs: BlobStore, { sha256, filename }: ImportRow): ReportInput {
  return {
    filename,
    async *open() {
      const stored = await blobs.get(sha256);
      if (!stored) throw new ReportError('The stored file of this import is gone.');
      try {
        yield* uncompressed(stored);
      } finally {
        stored.destroy();
      }
    },
  };
}

async function* uncompressed(stored: Readable): AsyncGenerator<Uint8Array> {
  const chunks = stored[Symbol.asyncIterator]() as AsyncIterator<Uint8Array>;
  const first = await chunks.next();
  if (first.done) return;
  async function* all(): AsyncGenerator<Uint8Array> {
    yield first.value;
    for (let next = await chunks.next(); !next.done; next = await chunks.next()) yield next.value;
  }
  if (first.value[0] !== 0x1f || first.value[1] !== 0x8b) {
    yield* all();
    return;
  }
  let expanded = 0;
  const gunzip = createGunzip();
  // What goes wrong arrives where it is read.
  pipeline(Readable.from(all()), gunzip, () => {});
  try {
    for await (const chunk of gunzip as AsyncIterable<Uint8Array>) {
      expanded += chunk.length;
      if (expanded > MAX_EXPANDED_BYTES) throw new ReportError(`The compressed file grows beyond ${MAX_EXPANDED_BYTES} bytes.`);
      yield chunk;
    }
  } catch (error) {
    if (errorCodeOf(error)?.startsWith('Z_')) throw new ReportError('The compressed file is damaged or ends too early.', { cause: error });
    throw error;
  }
}

async function chooseFormat(known: readonly ReportFormat[], row: ImportRow, input: ReportInput): Promise<ReportFormat> {
  const named = known.find(({ id }) => id === row.format);
  if (named) return named;
  const found = detectFormat(known, await headOf(input));
  if (found) return found;
  throw new ReportError(
    `The file is no report of a known format. Name its format, or send one of: ${known.map(({ id, expects }) => `${id} (${expects})`).join('; ')}.`,
  );
}

async function stage({ db, signal }: JobContext, row: ImportRow, format: ReportFormat, input: ReportInput): Promise<Staged> {
  const scope = row.scan_scope as ScanScope;
  return db.withCopyClient((client) =>
    stageReport(format, input, {
      client,
      signal,
      orgId: row.org_id,
      importId: row.id,
      defaultAsset: scope.asset ?? { type: format.assetType, name: 'unspecified' },
      scopeAssets: [scope.asset ?? [], scope.assets ?? []].flat(),
      onProgress: (records) => progress(db, row, records),
    }),
  );
}

async function progress(db: Database, { org_id, id }: ImportRow, records: number): Promise<void> {
  await db.withTenant({ orgId: org_id }, (tx) =>
    tx
      .updateTable('imports')
      .set({ records_read: String(records) })
      .where('org_id', '=', org_id)
      .where('id', '=', id)
      .execute(),
  );
}

class DryRun extends Error {}
/** Another worker took this one for dead and has finished the import. */
class Superseded extends Error {}

/** Everything that an import changes, in one transaction, one import of an organization after the other. */
async function finish(db: Database, row: ImportRow, format: ReportFormat, staged: Staged): Promise<void> {
  let result: Result | undefined;
  try {
    await db.withTenant({ orgId: row.org_id }, async (tx) => {
      result = await resolve(tx, row, format, staged);
      if (row.dry_run) throw new DryRun();
      await conclude(tx, row, result);
    });
  } catch (error) {
    if (!(error instanceof DryRun) || !result) throw error;
    const wouldBe = { ...result, sourceId: null };
    await db.withTenant({ orgId: row.org_id }, (tx) => conclude(tx, row, wouldBe));
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

/** Staging tables do not survive a crash of the database, and a worker that was taken for dead may write into them too. */
async function assertStaged(tx: TenantTx, { org_id, id }: ImportRow, { received, rejected }: Staged): Promise<void> {
  const { rows } = await sql<{ count: number }>`select count(*)::int as count from import_rows where org_id = ${org_id} and import_id = ${id}`.execute(tx);
  if (rows[0]?.count !== received - rejected) throw new Error(`${rows[0]?.count} of ${received - rejected} staged records are there`);
}

async function resolve(tx: TenantTx, row: ImportRow, format: ReportFormat, staged: Staged): Promise<Result> {
  const orgId = row.org_id;
  await takeTurn(tx, orgId);
  await assertStaged(tx, row, staged);
  const scope = row.scan_scope as ScanScope;
  const { sla, brake } = await readPolicy(tx, orgId);
  const resolution: Resolution = {
    orgId,
    importId: row.id,
    sourceId: await sourceOf(tx, orgId, { kind: 'import', provider: format.id, name: scope.name ?? '' }),
    seenAt: seenAtOf(row),
    sla,
    actor: row.actor as Resolution['actor'],
  };
  const outcomes = await resolveRows(tx, resolution);
  const complete = scope.coverage === 'complete' && staged.rejected === 0;
  const { closed, held } = await closeAbsent(tx, resolution, { complete, brake });
  const { received, rejected } = staged;
  const unchanged = received - rejected - outcomes.created - outcomes.updated - outcomes.reopened;
  return {
    status: held && !row.dry_run ? 'needs_confirmation' : 'succeeded',
    format: format.id,
    sourceId: resolution.sourceId,
    counts: { received, ...outcomes, unchanged, rejected, closed },
    rejections: staged.rejections,
    notes: [
      ...(held
        ? [
            `${held.count} of ${held.open} open findings of this source would be closed; ${row.dry_run ? 'the import would wait for a person to confirm it' : 'confirm or discard'}.`,
          ]
        : []),
      ...(scope.coverage === 'complete' && rejected > 0 ? ['Nothing was closed: records were rejected, so the report is not complete.'] : []),
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

/** Staged rows belong to one attempt. */
async function forget(db: Database, orgId: string, importId: string): Promise<void> {
  await db.withTenant({ orgId }, async (tx) => {
    await Promise.all(
      (['import_rows', 'import_assets', 'import_groups'] as const).map((table) =>
        tx.deleteFrom(table).where('org_id', '=', orgId).where('import_id', '=', importId).execute(),
      ),
    );
  });
}
