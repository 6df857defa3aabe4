import { type RawBuilder, sql } from 'kysely';
import type { Status } from '../status.ts';

/** From this risk score on, a finding is among those to fix first, whatever its deadline. */
export const FIX_FIRST_RISK = 70;

/** Statuses in which somebody still has to fix the finding. */
export const toFix = ['open', 'in_progress'] as const satisfies readonly Status[];

/** All columns are in the index of statuses, so that counting and looking up read no rows. */
export const fixFirstSql: RawBuilder<boolean> = sql`(findings.status = any(${toFix as readonly string[]}::text[])
  and (findings.kev or findings.risk_score >= ${sql.lit(FIX_FIRST_RISK)} or findings.due_at < now()))`;
