import { hash } from 'node:crypto';
import type { Enrichment, KnowledgeBatch, KnowledgeResult } from '@rrs/connectors';
import type { Database } from '../../db/database.ts';
import { rescoreFindings } from '../../findings/jobs.ts';
import { enqueueAll, type JobContext } from '../../jobs/jobs.ts';
import { learn, unlistOthers } from '../../vulnerabilities/learn.ts';
import type { Conclusion } from './conclude.ts';
import { type Batches, type Running, runBatches, type Syncing } from './sync.ts';

/** Learned batch by batch: knowledge is true as soon as it is there. The findings of all organizations follow afterwards. */
export async function syncKnowledge(syncing: Syncing, context: JobContext, running: Running): Promise<Conclusion> {
  const { run, connector, settings } = running;
  const { db } = context;
  let changed = 0;
  let asOf = '';
  let rejected = 0;
  const batches: Batches<KnowledgeBatch, KnowledgeResult> = {
    async *start(given) {
      const told = (connector as Enrichment).knowledge({ ...settings, ...given, wanted: (after) => wantedOf(db, run.org_id, after) });
      for (;;) {
        const next = await told.next();
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
    keep: async (_tx, batch) => ({ records: batch.items.length, checkpoint: batch.checkpoint }),
    digest: (batch) => (batch.items.length === 0 ? null : hash('sha256', JSON.stringify(batch.items))),
    end(result) {
      asOf = result.asOf;
      return { end: 'changes', cursor: result.cursor, notes: [] };
    },
  };
  const ending = await runBatches(syncing, context, running, batches);
  if (changed > 0) await rescoreAll(db);
  if (ending.end === 'cancelled') return { status: 'cancelled' };
  const counts = { learned: changed, rejected };
  if (ending.end !== 'broken')
    return {
      status: 'succeeded',
      counts,
      notes: [`Knowledge of ${asOf}.`, ...(rejected > 0 ? [`${rejected} records could not be read.`] : [])],
      cursor: ending.cursor,
      full: true,
      knowledgeAsOf: asOf,
    };
  const { kind, message } = ending;
  return changed > 0 ? { status: 'partial', kind, error: message, counts } : { status: 'failed', kind, error: message };
}

const ASKED_AT_ONCE = 500;

async function wantedOf(db: Database, orgId: string, after: string | null): Promise<string[]> {
  const rows = await db.withTenant({ orgId }, (tx) =>
    tx
      .selectFrom('findings')
      .select('weakness')
      .distinct()
      .where('org_id', '=', orgId)
      .where('weakness', '>', after ?? '')
      .where((where) => where.or([where('weakness', 'like', 'CVE-%'), where('weakness', 'like', 'GHSA-%')]))
      .orderBy('weakness')
      .limit(ASKED_AT_ONCE)
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
