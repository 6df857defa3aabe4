import type { FindingBatch, RunResult, Scanner } from '@rrs/connectors';
import type { Asset } from '@rrs/scan-reports';
import type { Database } from '../../db/database.ts';
import { type ImportRow, readImport, recordImport } from '../../findings/import/manage-imports.ts';
import { type Collected, importReport } from '../../findings/import/run-import.ts';
import type { JobContext } from '../../jobs/jobs.ts';
import { systemActor } from '../../shared/actor.ts';
import type { Conclusion } from './conclude.ts';
import { digestOf, keepBatch, keptLines, linesIn, linesOf, RECORDED, recordedRun } from './run-record.ts';
import { type Batches, type Ending, type Running, runBatches, type Syncing } from './sync.ts';

/** What a scanner has, brought batch by batch and then imported at once: a run that breaks closes nothing, and one that is killed goes on. */
export async function syncFindings(syncing: Syncing, context: JobContext, running: Running): Promise<Conclusion> {
  const ending = await bring(syncing, context, running);
  if (ending.end === 'cancelled') return { status: 'cancelled' };
  const imported = await importCollected(syncing, context, running, ending);
  if (!imported) {
    if (ending.end === 'broken') return { status: 'failed', kind: ending.kind, error: ending.message };
    return { status: 'succeeded', counts: {}, cursor: ending.cursor, full: ending.end === 'complete' };
  }
  const { received, created, updated, unchanged, reopened, rejected, closed } = imported;
  const counts = { received, created, updated, unchanged, reopened, rejected, closed };
  const notes = imported.notes as string[];
  if (imported.status === 'failed') return { status: 'failed', kind: 'service', error: imported.error ?? 'What the run brought could not be imported.' };
  if (ending.end === 'broken') return { status: 'partial', kind: ending.kind, error: ending.message, counts, notes };
  if (imported.status === 'needs_confirmation') return { status: 'needs_confirmation', counts, notes, cursor: ending.cursor, full: ending.end === 'complete' };
  if (rejected > 0)
    return {
      status: 'partial',
      kind: 'invalid_answer',
      error: `${rejected} of ${received} records could not be read; nothing was closed. The import has the first of them with their reasons.`,
      counts,
      notes,
    };
  return { status: 'succeeded', counts, notes, cursor: ending.cursor, full: ending.end === 'complete' };
}

async function bring(syncing: Syncing, context: JobContext, running: Running): Promise<Ending> {
  const { run, connector, settings } = running;
  if (run.ending !== null) return run.ending as unknown as Ending;
  const scanner = connector as Scanner;
  const batches: Batches<FindingBatch, RunResult> = {
    start: (given) => scanner.findings({ ...settings, ...given }),
    async keep(tx, batch, n, requests) {
      await keepBatch(tx, { orgId: run.org_id, runId: run.id, n }, linesOf(batch, requests));
      return { records: batch.items.length, checkpoint: batch.checkpoint };
    },
    digest: (batch) => (batch.items.length === 0 ? null : digestOf(batch)),
    end: ({ coverage, cursor }) => ({ end: coverage, cursor, notes: [] }),
  };
  const ending = await runBatches(syncing, context, running, batches);
  await context.db.withTenant({ orgId: run.org_id }, (tx) =>
    tx
      .updateTable('sync_runs')
      .set({ ending: JSON.stringify(ending) })
      .where('org_id', '=', run.org_id)
      .where('id', '=', run.id)
      .where('attempt', '=', run.attempt)
      .execute(),
  );
  return ending;
}

/** Null: nothing was brought. */
async function importCollected(
  syncing: Syncing,
  context: JobContext,
  running: Running,
  ending: Exclude<Ending, { end: 'cancelled' }>,
): Promise<ImportRow | null> {
  const { run, connection } = running;
  const { blobs, follower } = syncing;
  const orgId = run.org_id;
  const importId = run.import_id ?? (await recordCollected(syncing, context.db, running, ending));
  if (importId === null) return null;
  const source = { kind: 'connection', provider: connection.provider, tool: '', name: connection.id } as const;
  const looked = await lookedAt(syncing, context.db, orgId, importId);
  await importReport(
    { blobs, follower, known: [recordedRun] },
    context,
    { orgId, importId },
    { source, ...looked, cautious: await settingsChanged(context.db, running) },
  );
  return context.db.withTenant({ orgId }, (tx) => readImport(tx, orgId, importId));
}

async function recordCollected(
  { blobs }: Syncing,
  db: Database,
  { run, connection }: Running,
  ending: Exclude<Ending, { end: 'cancelled' }>,
): Promise<string | null> {
  const orgId = run.org_id;
  const read = (after: number) =>
    db.withTenant({ orgId }, (tx) =>
      tx
        .selectFrom('sync_run_batches')
        .select(['n', 'content'])
        .where('org_id', '=', orgId)
        .where('run_id', '=', run.id)
        .where('n', '>', after)
        .orderBy('n')
        .limit(1)
        .executeTakeFirst(),
    );
  if (!(await read(-1))) return null;
  const { sha256, size } = await blobs.put(keptLines(read));
  return db.withTenant({ orgId }, async (tx) => {
    const { id } = await recordImport(tx, systemActor(orgId, connection.name), {
      format: RECORDED,
      filename: `${connection.provider}-${run.id}.ndjson`,
      sha256,
      bytes: size,
      scan_scope: {
        coverage: ending.end === 'complete' ? 'complete' : 'partial',
        name: connection.id,
        started_at: (run.started_at ?? run.created_at).toISOString(),
      },
      dry_run: false,
      connection_id: connection.id,
    });
    const { numUpdatedRows } = await tx
      .updateTable('sync_runs')
      .set({ import_id: id })
      .where('org_id', '=', orgId)
      .where('id', '=', run.id)
      .where('attempt', '=', run.attempt)
      .executeTakeFirst();
    if (numUpdatedRows === 0n) throw new Error('another worker has taken the run over');
    return id;
  });
}

/** What was brought under other settings may be missing because of them. */
async function settingsChanged(db: Database, { run, connection }: Running): Promise<boolean> {
  if (connection.full_at !== null) return false;
  const earlier = await db.withTenant({ orgId: run.org_id }, (tx) =>
    tx
      .selectFrom('sync_runs')
      .select('id')
      .where('org_id', '=', run.org_id)
      .where('connection_id', '=', connection.id)
      .where('status', '=', 'succeeded')
      .limit(1)
      .executeTakeFirst(),
  );
  return earlier !== undefined;
}

async function lookedAt({ blobs }: Syncing, db: Database, orgId: string, importId: string): Promise<Pick<Collected, 'covers' | 'partiallyCovered'>> {
  const { sha256 } = await db.withTenant({ orgId }, (tx) => readImport(tx, orgId, importId));
  const stored = await blobs.get(sha256);
  const looked = { covers: [] as Asset[], partiallyCovered: [] as Asset[] };
  if (!stored) return looked;
  for await (const line of linesIn(stored)) {
    if ('covers' in line) looked.covers.push(line.covers);
    else if ('partly' in line) looked.partiallyCovered.push(line.partly);
  }
  return looked;
}
