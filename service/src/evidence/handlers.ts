import type { BlobStore } from '../blobs/blobs.ts';
import { eraseBytes, lockBytes } from '../blobs/erase.ts';
import { allowedInTransaction } from '../db/transaction-scope.ts';
import { handle, type JobContext, type JobHandler } from '../jobs/jobs.ts';
import { messageOf } from '../shared/errors.ts';
import { referencedBytes } from './artifacts/bytes.ts';
import { type Capturing, captureOriginal } from './artifacts/capture.ts';
import { sweepOrphans } from './artifacts/sweep.ts';
import { captureLink, logSupersededJob, sealPackageJob, sweepJob } from './jobs.ts';
import { acquireLease, LeaseLost } from './packages/lease.ts';
import { eraseUnlessPublished } from './packages/leftovers.ts';
import { logSuperseded } from './packages/package-status.ts';
import { failPackage, publishPackage } from './packages/publish.ts';
import { type Sealing, sealPackage } from './packages/seal.ts';

/**
 * Organizations share the blob store, and equal bytes are stored once. Bytes are erased only if no organization refers to them.
 * The blob store is called inside the transaction because the lock must be held until the bytes are gone.
 */
export const eraseHandler = (blobs: BlobStore): JobHandler =>
  handle(eraseBytes, async ({ sha256, stored_before }, { db, log }) => {
    const erased = await db.withSystem(async (tx) => {
      await lockBytes(tx, sha256);
      if ((await referencedBytes(tx, [sha256])).has(sha256)) return false;
      return allowedInTransaction(async () => {
        const found = stored_before === undefined ? null : await blobs.stat(sha256);
        if (stored_before !== undefined && found && found.storedAt > new Date(stored_before)) return false;
        await blobs.delete(sha256);
        return true;
      });
    });
    log.info({ sha256, erased }, 'checked unreferenced bytes');
  });

export const sweepHandler = (blobs: BlobStore): JobHandler => handle(sweepJob, (_payload, context) => sweepOrphans(blobs, context), { schedule: '53 3 * * *' });

export function captureHandler(capturing: Capturing): JobHandler {
  return handle(captureLink, ({ org_id, artifact_id }, context) => captureOriginal(capturing, context, org_id, artifact_id));
}

/** After this many attempts, the package is sealed without timestamps, and its gaps say so. */
const ATTEMPTS_WITH_TIMESTAMPS = 3;

/** An interrupted attempt can leave an entry in the transparency log. The package that is published later lists it. */
export const sealHandler = (sealing: Omit<Sealing, 'db'>): JobHandler =>
  handle(
    sealPackageJob,
    async ({ org_id: orgId, package_id: id }, { db, log, lastAttempt }) => {
      const row = await db.withTenant({ orgId }, (tx) => acquireLease(tx, orgId, id));
      if (!row) return;
      try {
        const blobs = eraseUnlessPublished(sealing.blobs, db, orgId);
        const sealed = await sealPackage({ ...sealing, db, blobs }, row, { withoutTimestamps: row.attempts > ATTEMPTS_WITH_TIMESTAMPS });
        await sealing.onStep?.('publish');
        await db.withTenant({ orgId }, (tx) => publishPackage(tx, row, sealed));
      } catch (error) {
        if (error instanceof LeaseLost) return;
        if (!lastAttempt) throw error;
        log.error({ err: error, package_id: id }, 'sealing a package failed');
        await db.withTenant({ orgId }, (tx) => failPackage(tx, row, `Sealing failed: ${messageOf(error)}.`));
      }
    },
    { abandon: abandonPackage },
  );

async function abandonPackage({ org_id: orgId, package_id: id }: { org_id: string; package_id: string }, { db }: JobContext, reason: string): Promise<void> {
  await db.withTenant({ orgId }, async (tx) => {
    const row = await acquireLease(tx, orgId, id);
    if (row) await failPackage(tx, row, `Sealing failed. ${reason}`);
  });
}

export const supersededHandler = (sealing: Pick<Sealing, 'keysDir' | 'publicUrl' | 'witnesses'>): JobHandler =>
  handle(logSupersededJob, ({ org_id }, { db }) => logSuperseded({ ...sealing, db }, org_id));
