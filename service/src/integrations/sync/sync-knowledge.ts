import { hash } from 'node:crypto';
import type { Enrichment, Knowledge, KnowledgeBatch, KnowledgeResult } from '@rrs/connectors';
import type { Database } from '../../db/database.ts';
import { rescoreFindings } from '../../findings/jobs.ts';
import { vulnerabilitiesOfFindings } from '../../findings/list/vulnerabilities.ts';
import { enqueueAll, type JobContext } from '../../jobs/jobs.ts';
import { listOrganizations } from '../../organizations/organization.ts';
import { learn, learnScores, type Score, unlistOthers } from '../../vulnerabilities/learn.ts';
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
        changed += await apply(db, storable(next.value.items));
        yield next.value;
      }
    },
    store: async (_tx, batch) => ({ records: batch.items.length, checkpoint: batch.checkpoint }),
    // The digest of a whole file would block the process, and a file is not followed by another page.
    digest: ({ items }) => (items.length === 0 || items.length > MANY ? null : hash('sha256', JSON.stringify(items))),
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

/** Beyond this many records, a batch is a whole file of scores, which contain no text. */
const MANY = 20_000;
/** Rows of one statement. Writing down more of them at once would keep others waiting, in this process and in the database. */
const ROWS = 5_000;

async function apply(db: Database, items: readonly Knowledge[]): Promise<number> {
  let changed = 0;
  for (let from = 0; from < items.length; from += ROWS) {
    const some = items.slice(from, from + ROWS);
    const scores = some.flatMap((item) => scoreOf(item) ?? []);
    changed += await db.withSystem((tx) => (scores.length < some.length ? learn(tx, some) : learnScores(tx, scores)));
  }
  return changed;
}

/** Null if there is more to learn than a score. */
function scoreOf({ id, epss, ...more }: Knowledge): Score | null {
  return epss && Object.keys(more).length === 0 ? { id, ...epss } : null;
}

/** Vendors' texts without U+0000 and halves of surrogate pairs, which PostgreSQL refuses. */
function storable(items: readonly Knowledge[]): readonly Knowledge[] {
  if (items.length > MANY) return items;
  const text = JSON.stringify(items);
  return /\\u(?:0000|d[89a-f])/.test(text) ? (JSON.parse(text.replaceAll(/\\u(?:0000|d[89a-f][0-9a-f]{2})/g, '')) as Knowledge[]) : items;
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
