import type { Status } from '../status.ts';

/** From this risk score on, a finding is among those to fix first, whatever its deadline. */
export const FIX_FIRST_RISK = 70;

/** Statuses in which somebody still has to fix the finding. */
export const toFix = ['open', 'in_progress'] as const satisfies readonly Status[];
