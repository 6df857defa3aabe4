import type { BlobStore } from '../../blobs/blobs.ts';
import { eraseBytes } from '../../blobs/erase.ts';
import { enqueueAll, type JobContext } from '../../jobs/jobs.ts';
import { referencedBytes } from './bytes.ts';

/** Longer than any upload or sealing takes between storing bytes and adding the row that refers to them. */
const ERASE_AFTER_MS = 24 * 60 * 60 * 1000;
const BATCH = 500;
/** A few orphans are erased whatever their share is. */
const ALWAYS_ERASED = 100;

type Sweeping = Pick<JobContext, 'db' | 'log' | 'signal'>;

/**
 * Erases bytes that nothing refers to, such as those of an upload whose row was never written. Compares the store with the tables in batches.
 * Threat: a service that is started with another database on the same store knows none of the files. If most files are orphans, none is erased.
 */
export async function sweepOrphans(blobs: BlobStore, { db, log, signal }: Sweeping): Promise<void> {
  const stored_before = new Date(Date.now() - ERASE_AFTER_MS).toISOString();
  const orphans = async function* (): AsyncGenerator<{ batch: readonly string[]; unreferenced: string[] }> {
    for await (const batch of oldBlobs(blobs, new Date(stored_before))) {
      signal.throwIfAborted();
      const referenced = await db.withSystem((tx) => referencedBytes(tx, batch));
      yield { batch, unreferenced: batch.filter((sha256) => !referenced.has(sha256)) };
    }
  };
  const found = { files: 0, orphans: 0 };
  for await (const { batch, unreferenced } of orphans()) {
    found.files += batch.length;
    found.orphans += unreferenced.length;
  }
  if (found.orphans === 0) return;
  if (found.orphans > ALWAYS_ERASED && found.orphans > found.files / 2) {
    log.error(
      found,
      'nothing in the database refers to most of the stored files, so none was erased. Check that the database and the object store belong together',
    );
    return;
  }
  for await (const { unreferenced } of orphans()) {
    const erasures = unreferenced.map((sha256) => ({ sha256, stored_before }));
    await db.withSystem((tx) => enqueueAll(tx, eraseBytes, erasures, ({ sha256 }) => `orphan ${sha256}`));
  }
  log.info(found, 'queued the erasure of stored files that nothing refers to');
}

async function* oldBlobs(blobs: BlobStore, before: Date): AsyncGenerator<string[]> {
  let batch: string[] = [];
  for await (const { sha256, storedAt } of blobs.list()) {
    if (storedAt >= before) continue;
    batch.push(sha256);
    if (batch.length < BATCH) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}
