import { handle, type JobHandler } from '../jobs/jobs.ts';
import { messageOf } from '../shared/errors.ts';
import { sealPackage as sealJob } from './jobs.ts';
import { Superseded } from './packages/attempts.ts';
import { erasedUnlessPublished } from './packages/leftovers.ts';
import { beginAttempt, failPackage, publishPackage } from './packages/publish.ts';
import { type Sealing, sealPackage } from './packages/seal.ts';

/** An authority that does not answer is waited for this many times; then the package is sealed without it and says so. */
const STAMPED_ATTEMPTS = 3;

/** An attempt that breaks off leaves nothing but perhaps an entry in the log, which the package of the next one explains. */
export const sealHandler = (sealing: Omit<Sealing, 'db'>): JobHandler =>
  handle(sealJob, async ({ org_id: orgId, package_id: id }, { db, log, lastAttempt }) => {
    const row = await db.withTenant({ orgId }, (tx) => beginAttempt(tx, orgId, id));
    if (!row) return;
    try {
      const blobs = erasedUnlessPublished(sealing.blobs, db, orgId);
      const sealed = await sealPackage({ ...sealing, db, blobs }, row, { withoutStamp: row.attempts > STAMPED_ATTEMPTS });
      await sealing.onStep?.('publish');
      await db.withTenant({ orgId }, (tx) => publishPackage(tx, row, sealed));
    } catch (error) {
      if (error instanceof Superseded) return;
      if (!lastAttempt) throw error;
      log.error({ err: error, package_id: id }, 'a package could not be sealed');
      await db.withTenant({ orgId }, (tx) => failPackage(tx, row, `It could not be sealed: ${messageOf(error)}.`));
    }
  });
