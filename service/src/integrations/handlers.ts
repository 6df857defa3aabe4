import { handle, type JobHandler } from '../jobs/jobs.ts';
import { runSync, startDueSyncs } from './jobs.ts';
import { type Conclusion, concludeRun } from './sync/conclude.ts';
import { queueScheduled, takeDue } from './sync/runs.ts';
import { isLost, type Syncing, takeRun } from './sync/sync.ts';
import { syncFindings } from './sync/sync-findings.ts';
import { syncKnowledge } from './sync/sync-knowledge.ts';

export function syncHandler(syncing: Syncing): JobHandler {
  return handle(runSync, async ({ org_id: orgId, run_id: runId }, context) => {
    const running = await takeRun(syncing, context.db, orgId, runId);
    if (!running) return;
    const conclude = (conclusion: Conclusion): Promise<void> => context.db.withTenant({ orgId }, (tx) => concludeRun(tx, running, conclusion));
    if (running.run.cancel_requested) return conclude({ status: 'cancelled' });
    try {
      await conclude(await (running.connector.kind === 'enrichment' ? syncKnowledge : syncFindings)(syncing, context, running));
    } catch (error) {
      if (isLost(error)) return;
      if (!context.lastAttempt || context.signal.aborted) throw error;
      await conclude({ status: 'failed', kind: 'service', error: 'The run failed several times because of a fault in this service; its log has the details.' });
    }
  });
}

/** Every minute. */
export const dueSyncs = handle(
  startDueSyncs,
  async (_payload, { db }) => {
    const due = await db.withSystem(takeDue);
    for (const [orgId, ids] of due) await db.withTenant({ orgId }, (tx) => queueScheduled(tx, orgId, ids));
  },
  '* * * * *',
);
