import { declareJob } from '../jobs/jobs.ts';

/** Asked for by a change of the SLA; carried out by whoever keeps deadlines. */
export const applySla = declareJob<{ org_id: string }>('apply_sla', { maxAttempts: 10 });
