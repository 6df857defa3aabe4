import type { Knowledge } from '@rrs/connectors';
import type { Database, SystemTx } from '../../db/database.ts';
import { rescoreFindings } from '../../findings/jobs.ts';
import { vulnerabilitiesOfFindings } from '../../findings/list/vulnerabilities.ts';
import { enqueueAll, type JobContext } from '../../jobs/jobs.ts';
import { listOrganizations } from '../../organizations/organization.ts';
import { learn, learnScores, type Score, unlistOthers } from '../../vulnerabilities/learn.ts';
import type { Conclusion } from './conclude.ts';
import { type BatchTarget, type ClaimedRun, collectBatches, type SyncDeps } from './sync.ts';

/** When findings are rescored after something was learned, if the run does not come to its end. */
const RESCORE_AFTER_MS = 15 * 60_000;
/** Learning can take long, and what comes later must be rescored as well. */
const POSTPONED_EVERY_MS = 5 * 60_000;

/**
 * Learns while it collects. Then queues rescoring of all organizations. It is queued for later together with the first change, because a run that was
 * killed continues where it was, does not know what it had learned before, and may find nothing else.
 */
export async function syncKnowledge(deps: SyncDeps, context: JobContext, claimed: ClaimedRun): Promise<Conclusion> {
  const { run } = claimed;
  const { db } = context;
  let changed = 0;
  let rejected = 0;
  let postponedAt = Number.NEGATIVE_INFINITY;
  const learned = async (change: (tx: SystemTx) => Promise<number>): Promise<void> => {
    const isDue = Date.now() - postponedAt >= POSTPONED_EVERY_MS;
    const count = await db.withSystem(async (tx) => {
      const made = await change(tx);
      if (made > 0 && isDue) await queueRescoring(tx, new Date(Date.now() + RESCORE_AFTER_MS));
      return made;
    });
    if (count > 0 && isDue) postponedAt = Date.now();
    changed += count;
  };
  const target: BatchTarget = {
    wanted: (after) => listWanted(db, run.org_id, after),
    learn: (items) => learned((tx) => apply(tx, items)),
    unlistOthers: (version) => learned((tx) => unlistOthers(tx, version)),
    store: async () => {},
    onStored: (batch) => {
      rejected += batch.rejected;
    },
  };
  const result = await collectBatches(deps, context, claimed, target);
  if (changed > 0 || run.attempt > 1) await db.withSystem((tx) => queueRescoring(tx, null));
  if (result.end === 'cancelled') return { status: 'cancelled' };
  const counts = { learned: changed, rejected };
  if (result.end !== 'broken') {
    const { asOf } = result;
    return {
      status: 'succeeded',
      counts,
      notes: [`Data as of ${asOf}.`, ...(rejected > 0 ? [`${rejected} records could not be read.`] : [])],
      cursor: result.cursor,
      full: true,
      knowledgeAsOf: asOf,
    };
  }
  const { kind, message } = result;
  return changed > 0 ? { status: 'partial', kind, error: message, counts } : { status: 'failed', kind, error: message };
}

async function apply(tx: SystemTx, items: readonly Knowledge[]): Promise<number> {
  const scores = items.flatMap((item) => scoreOf(item) ?? []);
  return scores.length < items.length ? learn(tx, items) : learnScores(tx, scores);
}

/** Null if there is more to learn than a score. */
function scoreOf({ id, epss, ...more }: Knowledge): Score | null {
  return epss && Object.keys(more).length === 0 ? { id, ...epss } : null;
}

const WANTED_PAGE = 500;

function listWanted(db: Database, orgId: string, after: string | null): Promise<string[]> {
  return db.withTenant({ orgId }, (tx) => vulnerabilitiesOfFindings(tx, orgId, { after, limit: WANTED_PAGE }));
}

/** At once, unless a time is given. A later call replaces the time. */
async function queueRescoring(tx: SystemTx, at: Date | null): Promise<void> {
  const organizations = (await listOrganizations(tx)).map(({ id }) => ({ org_id: id }));
  await enqueueAll(tx, rescoreFindings, organizations, ({ org_id }) => `rescore ${org_id}`, at);
}
