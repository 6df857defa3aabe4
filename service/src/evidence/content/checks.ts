import type { Check, Finding } from '@rrs/evidence-format';
import type { Snapshot } from './snapshot.ts';

/** Questions that auditors ask, answered from the facts. */
export function checksOf({ lastWords, findings }: Pick<Snapshot, 'lastWords' | 'findings'>): Check[] {
  return [approverDiffers(lastWords), scannedAfterClaim(findings), withinDeadline(findings), exceptionsExpire(findings)];
}

function approverDiffers(lastWords: Snapshot['lastWords']): Check {
  const approved = lastWords.filter(({ decision }) => decision === 'approved');
  const independent = approved.find((approval) => approval.independent);
  if (approved.length === 0) return { id: 'approver_differs_from_author', result: 'not_applicable', detail: 'Nobody approved the work.' };
  return independent
    ? { id: 'approver_differs_from_author', result: 'pass', detail: `${independent.actor_name} approved it and had no part in the work.` }
    : { id: 'approver_differs_from_author', result: 'fail', detail: 'Everybody who approved it also had a part in the work.' };
}

function scannedAfterClaim(findings: readonly Finding[]): Check {
  const verified = findings.filter(({ state }) => state === 'verified');
  const proven = verified.filter(({ after }) => after.state === 'absent');
  if (verified.length === 0) return { id: 'verified_by_scan', result: 'not_applicable', detail: 'No finding is verified.' };
  const detail = `${proven.length} of ${verified.length} verified findings were not found by a complete scan of their asset.`;
  return { id: 'verified_by_scan', result: proven.length === verified.length ? 'pass' : 'fail', detail };
}

function withinDeadline(findings: readonly Finding[]): Check {
  const due = findings.filter(({ within_sla }) => within_sla !== null);
  const late = due.filter(({ within_sla }) => within_sla === false).length;
  const pending = due.filter(({ within_sla, closed_at }) => within_sla && closed_at === null).length;
  if (due.length === 0) return { id: 'within_deadline', result: 'not_applicable', detail: 'No finding has a deadline.' };
  const closed = `${due.length - late - pending} of ${due.length} findings with a deadline were closed in time`;
  const rest = [...(late > 0 ? [`${late} are late`] : []), ...(pending > 0 ? [`${pending} are open and not due yet`] : [])];
  return {
    id: 'within_deadline',
    result: late > 0 ? 'fail' : pending > 0 ? 'not_applicable' : 'pass',
    detail: `${[closed, ...rest].join(', ')}.`,
  };
}

function exceptionsExpire(findings: readonly Finding[]): Check {
  const accepted = findings.filter(({ state }) => state === 'risk_accepted');
  if (accepted.length === 0) return { id: 'exceptions_expire', result: 'not_applicable', detail: `None of ${findings.length} findings is an accepted risk.` };
  const bounded = accepted.every(({ acceptance }) => acceptance !== null);
  return { id: 'exceptions_expire', result: bounded ? 'pass' : 'fail', detail: `${accepted.length} accepted risks, each with an owner and an end.` };
}
