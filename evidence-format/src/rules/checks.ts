import type { Check, CheckId } from '../document/evidence.ts';
import type { Finding } from '../document/finding.ts';
import type { FinalApproval } from './approvals.ts';

type Tally = Record<CheckId, { passed: number; of: number }>;

/** Answers the questions that auditors ask. Each finding is counted once, when it is added. */
export function collectChecks(asOf: string) {
  const tally: Tally = {
    approved_independently: { passed: 0, of: 0 },
    verified_by_scan: { passed: 0, of: 0 },
    within_deadline: { passed: 0, of: 0 },
    exceptions_end: { passed: 0, of: 0 },
  };
  const count = (id: CheckId, passes: boolean): void => {
    tally[id].of++;
    if (passes) tally[id].passed++;
  };
  return {
    add({ state, standing, cause, within_sla, acceptance }: Finding): void {
      if (state === 'verified') count('verified_by_scan', standing === 'remediated' && cause === 'scan');
      if (within_sla !== null) count('within_deadline', within_sla);
      if (state === 'risk_accepted') count('exceptions_end', Date.parse(acceptance?.expires_at ?? '') > Date.parse(asOf));
    },
    checks(finals: readonly FinalApproval[]): Check[] {
      for (const { approval, independent, fresh } of finals) if (approval.decision === 'approved') count('approved_independently', independent && fresh);
      return (Object.keys(tally) as CheckId[]).map((id) => ({ id, result: resultOf(id, tally[id]), ...tally[id] }));
    },
  };
}

/** One approval that counts is enough. */
function resultOf(id: CheckId, { passed, of }: { passed: number; of: number }): Check['result'] {
  if (of === 0) return 'not_applicable';
  return (id === 'approved_independently' ? passed > 0 : passed === of) ? 'pass' : 'fail';
}
