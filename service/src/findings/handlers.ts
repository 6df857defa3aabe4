import { formats, type ReportFormat } from '@rrs/scan-reports';
import type { BlobStore } from '../blobs/blobs.ts';
import { handle } from '../jobs/jobs.ts';
import type { FindingFollower } from './follower.ts';
import { abandonImport, importReport } from './import/run-import.ts';
import { rescoreFindings, runImport } from './jobs.ts';
import { rescoreKnown } from './triage/rescore.ts';

export function importHandler(blobs: BlobStore, follower: FindingFollower, known: readonly ReportFormat[] = formats) {
  return handle(runImport, ({ org_id: orgId, import_id: importId }, context) => importReport({ blobs, follower, known }, context, { orgId, importId }), {
    abandon: ({ org_id: orgId, import_id: importId }, { db }, reason) => abandonImport({ db, blobs }, { orgId, importId }, `The import failed. ${reason}`),
  });
}

export const knowledgeChange = (follower: FindingFollower) =>
  handle(rescoreFindings, async ({ org_id: orgId }, { db }) => {
    await db.withTenant({ orgId }, (tx) => rescoreKnown(tx, orgId, follower));
  });
