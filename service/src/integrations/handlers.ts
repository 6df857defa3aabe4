import { handle, type JobContext, type JobHandler } from '../jobs/jobs.ts';
import { runSync, startDueSyncs } from './jobs.ts';
import { type Conclusion, concludeRun } from './sync/conclude.ts';
import { claimDueConnections, queueScheduled } from './sync/runs.ts';
import { claimRun, isTakenOver, type SyncDeps } from './sync/sync.ts';
import { abandonCollected, syncFindings } from './sync/sync-findings.ts';
import { syncKnowledge } from './sync/sync-knowledge.ts';

export function syncHandler(deps: SyncDeps): JobHandler {
  const run = async ({ org_id: orgId, run_id: runId }: RunId, context: JobContext): Promise<void> => {
    const claimed = await claimRun(deps, context.db, orgId, runId);
    if (!claimed) return;
    const conclude = (conclusion: Conclusion): Promise<void> => context.db.withTenant({ orgId }, (tx) => concludeRun(tx, claimed, conclusion));
    if (claimed.run.cancel_requested) {
      await abandonCollected(deps, context, claimed, 'The run was cancelled.');
      return conclude({ status: 'cancelled' });
    }
    try {
      await conclude(await (claimed.connector.kind === 'enrichment' ? syncKnowledge : syncFindings)(deps, context, claimed));
    } catch (error) {
      if (isTakenOver(error)) return;
      if (!context.lastAttempt || context.signal.aborted) throw error;
      const reason = 'Internal error: all attempts of the run failed. See the service log.';
      await abandonCollected(deps, context, claimed, reason);
      await conclude({ status: 'failed', kind: 'service', error: reason });
    }
  };
  const abandon = async ({ org_id: orgId, run_id: runId }: RunId, context: JobContext, reason: string): Promise<void> => {
    const claimed = await claimRun(deps, context.db, orgId, runId);
    if (!claimed) return;
    await abandonCollected(deps, context, claimed, `The import failed. ${reason}`);
    const error = `The run failed. ${reason}`;
    await context.db.withTenant({ orgId }, (tx) => concludeRun(tx, claimed, { status: 'failed', kind: 'service', error }));
  };
  return handle(runSync, run, { abandon });
}

interface RunId {
  org_id: string;
  run_id: string;
}

export const dueSyncs = handle(
  startDueSyncs,
  async (_payload, { db }) => {
    const due = await db.withSystem(claimDueConnections);
    for (const [orgId, ids] of due) await db.withTenant({ orgId }, (tx) => queueScheduled(tx, orgId, ids));
  },
  { schedule: '* * * * *' },
);
