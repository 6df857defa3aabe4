import { hash } from 'node:crypto';
import type { Enrichment, KnowledgeBatch, KnowledgeResult } from '@rrs/connectors';
import type { Database } from '../../db/database.ts';
import { rescoreFindings } from '../../findings/jobs.ts';
import { enqueueAll, type JobContext } from '../../jobs/jobs.ts';
import { learn, unlistOthers } from '../../vulnerabilities/learn.ts';
import type { Conclusion } from './conclude.ts';
import { type BatchSource, type ClaimedRun, collectBatches, type SyncDeps } from './sync.ts';

/** Applies each batch as soon as it arrives, because single records are valid on their own. Then queues rescoring of all organizations. */
export async function syncKnowledge(deps: SyncDeps, context: JobContext, claimed: ClaimedRun): Promise<Conclusion> {
  const { run, connector, settings } = claimed;
  const { db } = context;
  let changed = 0;
  let asOf = '';
  let rejected = 0;
  const source: BatchSource<KnowledgeBatch, KnowledgeResult> = {
    async *start(start) {
      const batches = (connector as Enrichment).knowledge({ ...settings, ...start, wanted: (after) => listWanted(db, run.org_id, after) });
      for (;;) {
        const next = await batches.next();
        if (next.done) {
          const { complete, asOf: version } = next.value;
          if (complete === 'kev') changed += await db.withSystem((tx) => unlistOthers(tx, version));
          return next.value;
        }
        rejected += next.value.rejected?.length ?? 0;
        changed += await db.withSystem((tx) => learn(tx, next.value.items));
        yield next.value;
      }
    },
    store: async (_tx, batch) => ({ records: batch.items.length, checkpoint: batch.checkpoint }),
    digest: (batch) => (batch.items.length === 0 ? null : hash('sha256', JSON.stringify(batch.items))),
    end(last) {
      asOf = last.asOf;
      return { end: 'changes', cursor: last.cursor, notes: [] };
    },
  };
  const result = await collectBatches(deps, context, claimed, source);
  if (changed > 0) await rescoreAll(db);
  if (result.end === 'cancelled') return { status: 'cancelled' };
  const counts = { learned: changed, rejected };
  if (result.end !== 'broken')
    return {
      status: 'succeeded',
      counts,
      notes: [`Data as of ${asOf}.`, ...(rejected > 0 ? [`${rejected} records could not be read.`] : [])],
      cursor: result.cursor,
      full: true,
      knowledgeAsOf: asOf,
    };
  const { kind, message } = result;
  return changed > 0 ? { status: 'partial', kind, error: message, counts } : { status: 'failed', kind, error: message };
}

const WANTED_PAGE = 500;

/** Vulnerability ids of the organization's findings, in pages. */
async function listWanted(db: Database, orgId: string, after: string | null): Promise<string[]> {
  const rows = await db.withTenant({ orgId }, (tx) =>
    tx
      .selectFrom('findings')
      .select('weakness')
      .distinct()
      .where('org_id', '=', orgId)
      .where('weakness', '>', after ?? '')
      .where((where) => where.or([where('weakness', 'like', 'CVE-%'), where('weakness', 'like', 'GHSA-%')]))
      .orderBy('weakness')
      .limit(WANTED_PAGE)
      .execute(),
  );
  return rows.map(({ weakness }) => weakness);
}

async function rescoreAll(db: Database): Promise<void> {
  await db.withSystem(async (tx) => {
    const organizations = await tx.selectFrom('organizations').select('id as org_id').execute();
    await enqueueAll(tx, rescoreFindings, organizations, ({ org_id }) => `rescore ${org_id}`);
  });
}
