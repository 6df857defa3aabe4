import { hash } from 'node:crypto';
import type { Scanner, Unread } from '@rrs/connectors';
import { canonicalJson } from '@rrs/evidence-format';
import type { Asset } from '@rrs/scan-reports';
import type { Database } from '../../db/database.ts';
import type { Collected } from '../../findings/import/apply-report.ts';
import { type CollectionSettings, type ImportRow, readImport, recordImport } from '../../findings/import/manage-imports.ts';
import { uncompressed } from '../../findings/import/reading/open-report.ts';
import { childReader } from '../../findings/import/reading/read-in-child.ts';
import { abandonImport, importReport } from '../../findings/import/run-import.ts';
import type { JobContext } from '../../jobs/jobs.ts';
import { systemActor } from '../../shared/actor.ts';
import type { Conclusion } from './conclude.ts';
import { coverageOf, RUN_RECORD_FORMAT, storeBatch, storedBatches } from './run-record.ts';
import { type BatchTarget, type ClaimedRun, type CollectResult, collectBatches, type SyncDeps } from './sync.ts';

/** Collects all batches first and imports them at once: a run that breaks closes nothing, and one that is killed resumes at its checkpoint. */
export async function syncFindings(deps: SyncDeps, context: JobContext, claimed: ClaimedRun): Promise<Conclusion> {
  const collected = await collectFindings(deps, context, claimed);
  if (collected.end === 'cancelled') return { status: 'cancelled' };
  const stored = await importCollected(deps, context, claimed, collected);
  const isFull = claimed.run.mode === 'full' || collected.end === 'complete';
  if (!stored) {
    if (collected.end === 'broken') return { status: 'failed', kind: collected.kind, error: collected.message };
    return { status: 'succeeded', counts: {}, cursor: collected.cursor, full: isFull };
  }
  const { imported, unread } = stored;
  const { received, created, updated, unchanged, reopened, rejected, closed } = imported;
  const counts = { received, created, updated, unchanged, reopened, rejected, closed };
  const notes = [...(imported.notes as string[]), ...unread.map(({ what, reason }) => `Could not be read: ${what}. ${reason}`)];
  if (imported.status === 'failed') return { status: 'failed', kind: 'service', error: imported.error ?? 'The collected records could not be imported.' };
  if (collected.end === 'broken' && received === 0) return { status: 'failed', kind: collected.kind, error: collected.message };
  if (collected.end === 'broken') return { status: 'partial', kind: collected.kind, error: collected.message, counts, notes };
  const next = { cursor: collected.cursor, full: isFull };
  if (imported.status === 'needs_confirmation') return { status: 'needs_confirmation', counts, notes, ...next };
  if (rejected > 0)
    return {
      status: 'partial',
      kind: 'invalid_answer',
      error: `${rejected} of ${received} records could not be read, so no findings were closed. The import lists the first of them with the reasons.`,
      counts,
      notes,
    };
  const [first] = unread;
  if (first) return { status: 'partial', kind: first.kind, error: unreadError(unread), counts, notes, ...next };
  return { status: 'succeeded', counts, notes, ...next };
}

const NAMED = 3;

function unreadError(unread: readonly Unread[]): string {
  const named = unread.slice(0, NAMED).map(({ what, reason }) => `${what}: ${reason}`);
  const more = unread.length > NAMED ? ` The notes of the run list ${unread.length - NAMED} more.` : '';
  return `${unread.length === 1 ? '1 part' : `${unread.length} parts`} could not be read. Nothing is closed there. ${named.join(' ')}${more}`;
}

async function collectFindings(deps: SyncDeps, context: JobContext, claimed: ClaimedRun): Promise<CollectResult> {
  const { run } = claimed;
  // An earlier attempt collected everything and stopped before or during the import.
  if (run.ending !== null) return run.ending as CollectResult;
  const nothing = async (): Promise<never> => {
    throw new Error('a scanner collects findings, not knowledge');
  };
  const target: BatchTarget = {
    store: (tx, { content }, n) => storeBatch(tx, { orgId: run.org_id, runId: run.id, n }, content ?? new Uint8Array()),
    onStored: () => {},
    wanted: nothing,
    learn: nothing,
    unlistOthers: nothing,
  };
  const collected = await collectBatches(deps, context, claimed, target);
  await context.db.withTenant({ orgId: run.org_id }, (tx) =>
    tx
      .updateTable('sync_runs')
      .set({ ending: JSON.stringify(collected) })
      .where('org_id', '=', run.org_id)
      .where('id', '=', run.id)
      .where('attempt', '=', run.attempt)
      .execute(),
  );
  return collected;
}

/** Reads the records of runs in the child processes that read reports. */
const runReader = childReader(new URL('./run-record.ts', import.meta.url));

type Importable = Exclude<CollectResult, { end: 'cancelled' }>;

interface StoredRun {
  imported: ImportRow;
  unread: readonly Unread[];
}

/** Returns null if nothing was collected. */
async function importCollected(deps: SyncDeps, context: JobContext, claimed: ClaimedRun, collected: Importable): Promise<StoredRun | null> {
  const { run, connection } = claimed;
  const { blobs, follower } = deps;
  const orgId = run.org_id;
  const importId = run.import_id ?? (await storeCollected(deps, context.db, claimed, collected));
  if (importId === null) return null;
  const source = { kind: 'connection', provider: connection.provider, tool: '', name: connection.id, path: '' } as const;
  const { unread, ...coverage } = await readCoverage(deps, context.db, orgId, importId);
  await importReport(
    { blobs, follower, reader: runReader },
    context,
    { orgId, importId },
    { source, ...coverage, cautious: await settingsChanged(context.db, claimed) },
  );
  return { imported: await context.db.withTenant({ orgId }, (tx) => readImport(tx, orgId, importId)), unread };
}

/** Ends the import of a run that ends without it. Does nothing if the run has none, or if it has ended. */
export async function abandonCollected({ blobs }: Pick<SyncDeps, 'blobs'>, context: JobContext, { run }: ClaimedRun, reason: string): Promise<void> {
  const orgId = run.org_id;
  const current = await context.db.withTenant({ orgId }, (tx) =>
    tx.selectFrom('sync_runs').select('import_id').where('org_id', '=', orgId).where('id', '=', run.id).executeTakeFirst(),
  );
  if (current?.import_id) await abandonImport({ blobs, reader: runReader }, context, { orgId, importId: current.import_id }, reason);
}

/** Stores the collected batches as one file and creates the import. */
async function storeCollected({ blobs }: SyncDeps, db: Database, claimed: ClaimedRun, collected: Importable): Promise<string | null> {
  const { run, connection } = claimed;
  const orgId = run.org_id;
  const readBatch = (after: number) =>
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
  if (!(await readBatch(-1))) return null;
  const { sha256, size } = await blobs.put(storedBatches(readBatch));
  return db.withTenant({ orgId }, async (tx) => {
    const { id } = await recordImport(tx, systemActor(orgId, connection.name), {
      format: RUN_RECORD_FORMAT,
      filename: `${connection.provider}-${run.id}.ndjson.gz`,
      sha256,
      bytes: size,
      scan_scope: {
        coverage: collected.end === 'complete' ? 'complete' : 'partial',
        name: connection.id,
        started_at: (run.started_at ?? run.created_at).toISOString(),
      },
      dry_run: false,
      connection_id: connection.id,
      settings: settingsOf(claimed),
    });
    const { numUpdatedRows } = await tx
      .updateTable('sync_runs')
      .set({ import_id: id })
      .where('org_id', '=', orgId)
      .where('id', '=', run.id)
      .where('attempt', '=', run.attempt)
      .executeTakeFirst();
    if (numUpdatedRows === 0n) throw new Error('another worker has taken over the run');
    return id;
  });
}

/** What evidence says about the settings of a run. Credentials take no part: their digest would help to guess them. */
function settingsOf({ connector, connection, settings }: ClaimedRun): CollectionSettings {
  const { host } = new URL((connector as Scanner).baseUrl(settings));
  return { host, sha256: hash('sha256', canonicalJson({ provider: connection.provider, config: settings.config }), 'hex') };
}

/** Whether this is the first full run after a change of the settings. A finding may then be missing because of the change, so closures need confirmation. */
async function settingsChanged(db: Database, { run, connection }: ClaimedRun): Promise<boolean> {
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

/** Covered assets come from the stored file, because an earlier attempt may have collected them. */
interface RecordedCoverage extends Pick<Collected, 'covers' | 'partiallyCovered'> {
  unread: readonly Unread[];
}

async function readCoverage({ blobs }: SyncDeps, db: Database, orgId: string, importId: string): Promise<RecordedCoverage> {
  const { sha256 } = await db.withTenant({ orgId }, (tx) => readImport(tx, orgId, importId));
  const stored = await blobs.get(sha256);
  const coverage = { covers: [] as Asset[], partiallyCovered: [] as Asset[], unread: [] as Unread[] };
  if (!stored) return coverage;
  for await (const line of coverageOf(uncompressed(stored))) {
    if ('covers' in line) coverage.covers.push(line.covers);
    else if ('partially_covers' in line) coverage.partiallyCovered.push(line.partially_covers);
    else coverage.unread.push(line.unread);
  }
  return coverage;
}
