import { declareJob } from '../jobs/jobs.ts';

/** Queued when the SLA changes. The handler belongs to the findings, which store the deadlines. */
export const applySla = declareJob<{ org_id: string }>('apply_sla', { maxAttempts: 10 });

/** Queued when the ranking of sources changes. The handler belongs to the findings, which store the severities. */
export const applyRanking = declareJob<{ org_id: string }>('apply_ranking', { maxAttempts: 10 });
