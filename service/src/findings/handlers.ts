import type { BlobStore } from '../blobs/blobs.ts';
import { handle } from '../jobs/jobs.ts';
import type { FindingFollower } from './follower.ts';
import { childReader } from './import/reading/read-in-child.ts';
import type { Reader } from './import/reading/read-report.ts';
import { abandonImport, importReport } from './import/run-import.ts';
import { rescoreFindings, runImport } from './jobs.ts';
import { rescoreKnown } from './scoring/rescore.ts';

export function importHandler(blobs: BlobStore, follower: FindingFollower, reader: Reader = childReader()) {
  return handle(runImport, ({ org_id: orgId, import_id: importId }, context) => importReport({ blobs, follower, reader }, context, { orgId, importId }), {
    abandon: ({ org_id: orgId, import_id: importId }, context, reason) =>
      abandonImport({ blobs, reader }, context, { orgId, importId }, `The import failed. ${reason}`),
  });
}

export const knowledgeChange = (follower: FindingFollower) => handle(rescoreFindings, ({ org_id: orgId }, { db }) => rescoreKnown(db, orgId, follower));
