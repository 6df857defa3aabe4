import { handle, type JobHandler } from '../jobs/jobs.ts';
import { type Capturing, captureOriginal } from './artifacts/capture.ts';
import { captureLink } from './jobs.ts';

export function captureHandler(capturing: Capturing): JobHandler {
  return handle(captureLink, ({ org_id, artifact_id }, context) => captureOriginal(capturing, context, org_id, artifact_id));
}
