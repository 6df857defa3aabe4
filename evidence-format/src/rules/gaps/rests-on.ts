import type { Finding } from '../../document/finding.ts';
import type { FinalApproval } from '../approvals.ts';
import { dueByLastPolicy } from '../findings/deadlines.ts';
import type { Loosened, PackageFacts } from './package-gaps.ts';

/** Tells whether an outcome would be different if a part of the policy had not been loosened. */
export function restsOnLoosened({ policies, scans, as_of }: PackageFacts) {
  const savedSeverities = new Set<string>();
  let lastException = '';
  return {
    add(finding: Finding): void {
      const { standing, state_changed_at, within_sla, severity_source, kev, closed_at } = finding;
      if (standing === 'excepted' && state_changed_at > lastException) lastException = state_changed_at;
      if (within_sla !== false) return;
      const due = dueByLastPolicy(finding, policies);
      if (due === null || Date.parse(closed_at ?? as_of) <= Date.parse(due))
        for (const key of [severity_source, ...(kev ? ['kev'] : [])]) savedSeverities.add(`sla.${key}`);
    },
    on({ part, effectiveFrom }: Loosened, finals: readonly FinalApproval[]): boolean {
      if (part === 'brake') return scans.some(({ phase, received_at, confirmed }) => phase === 'after' && confirmed === null && received_at >= effectiveFrom);
      if (part !== 'four_eyes') return savedSeverities.has(part);
      const approved = finals.some(({ approval, independent, fresh }) => approval.decision === 'approved' && independent && fresh);
      return !approved || lastException >= effectiveFrom;
    },
  };
}
