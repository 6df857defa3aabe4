import { deleteOldEvents } from '../../events/delete-old.ts';
import { deleteOldDeliveries } from '../../events/webhooks/deliveries.ts';
import { deleteOldReportFiles } from '../../findings/import/report-files.ts';
import { thinOldRuns } from '../../findings/sources/thin-old-runs.ts';
import { deleteOldRuns } from '../../integrations/sync/delete-old-runs.ts';
import { declareJob, handle } from '../../jobs/jobs.ts';
import { listOrganizations } from '../../organizations/organization.ts';
import { policyOf } from '../../organizations/policy.ts';

/** Rows in one transaction, so that none of them holds locks for long. */
const BATCH = 1_000;
const DAY_MS = 24 * 60 * 60 * 1000;

/** Deletes what the organizations no longer want to keep. */
export const retention = handle(
  declareJob('retention', { maxAttempts: 3 }),
  async (_payload, { db, log, signal }) => {
    const inBatches = async (deleteBatch: () => Promise<number>): Promise<number> => {
      for (let deleted = 0; ; ) {
        signal.throwIfAborted();
        const count = await deleteBatch();
        deleted += count;
        if (count < BATCH) return deleted;
      }
    };
    for (const { id: orgId, policy } of await db.withSystem(listOrganizations)) {
      const { retention: ages } = policyOf(policy);
      const ago = (days: number): Date => new Date(Date.now() - days * DAY_MS);
      const deleted = {
        files: await inBatches(() => db.withTenant({ orgId }, (tx) => deleteOldReportFiles(tx, orgId, ages, BATCH))),
        scans: await inBatches(() => db.withTenant({ orgId }, (tx) => thinOldRuns(tx, orgId, { days: ages.run_days, limit: BATCH }))),
        runs: await inBatches(() => db.withTenant({ orgId }, (tx) => deleteOldRuns(tx, orgId, ages.run_days, BATCH))),
        deliveries: await inBatches(() => db.withTenant({ orgId }, (tx) => deleteOldDeliveries(tx, orgId, ago(ages.delivery_days), BATCH))),
        events: await inBatches(() => db.withSystem((tx) => deleteOldEvents(tx, orgId, ago(ages.event_days), BATCH))),
      };
      if (Object.values(deleted).some((count) => count > 0)) log.info({ org_id: orgId, ...deleted }, 'deleted what the retention policy no longer keeps');
    }
  },
  { schedule: '23 3 * * *' },
);
