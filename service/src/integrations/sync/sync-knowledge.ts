import type { Knowledge } from '@rrs/connectors';
import type { Database } from '../../db/database.ts';
import { rescoreFindings } from '../../findings/jobs.ts';
import { vulnerabilitiesOfFindings } from '../../findings/list/vulnerabilities.ts';
import { enqueueAll, type JobContext } from '../../jobs/jobs.ts';
import { listOrganizations } from '../../organizations/organization.ts';
import { learn, learnScores, type Score, unlistOthers } from '../../vulnerabilities/learn.ts';
import type { Conclusion } from './conclude.ts';
import { type BatchTarget, type ClaimedRun, collectBatches, type SyncDeps } from './sync.ts';

/** Learns while it collects. Then queues rescoring of all organizations. */
export async function syncKnowledge(deps: SyncDeps, context: JobContext, claimed: ClaimedRun): Promise<Conclusion> {
  const { run } = claimed;
  const { db } = context;
  let changed = 0;
  let rejected = 0;
  const target: BatchTarget = {
    wanted: (after) => listWanted(db, run.org_id, after),
    learn: async (items) => {
      changed += await apply(db, items);
    },
    unlistOthers: async (version) => {
      changed += await db.withSystem((tx) => unlistOthers(tx, version));
    },
    store: async (_tx, batch) => {
      rejected += batch.rejected;
    },
  };
  const result = await collectBatches(deps, context, claimed, target);
  if (changed > 0) await rescoreAll(db);
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

async function apply(db: Database, items: readonly Knowledge[]): Promise<number> {
  const scores = items.flatMap((item) => scoreOf(item) ?? []);
  return db.withSystem((tx) => (scores.length < items.length ? learn(tx, items) : learnScores(tx, scores)));
}

/** Null if there is more to learn than a score. */
function scoreOf({ id, epss, ...more }: Knowledge): Score | null {
  return epss && Object.keys(more).length === 0 ? { id, ...epss } : null;
}

const WANTED_PAGE = 500;

function listWanted(db: Database, orgId: string, after: string | null): Promise<string[]> {
  return db.withTenant({ orgId }, (tx) => vulnerabilitiesOfFindings(tx, orgId, { after, limit: WANTED_PAGE }));
}

async function rescoreAll(db: Database): Promise<void> {
  await db.withSystem(async (tx) => {
    const organizations = (await listOrganizations(tx)).map(({ id }) => ({ org_id: id }));
    await enqueueAll(tx, rescoreFindings, organizations, ({ org_id }) => `rescore ${org_id}`);
  });
}
