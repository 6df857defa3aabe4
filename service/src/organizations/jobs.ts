import { declareJob } from '../jobs/jobs.ts';

/** Queued when the SLA changes. The handler belongs to the findings, which store the deadlines. */
export const applySla = declareJob<{ org_id: string }>('apply_sla', { maxAttempts: 10 });
