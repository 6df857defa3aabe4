import type { Check, Finding } from '@rrs/evidence-format';
import type { FinalDecision } from './final-decisions.ts';
import type { Snapshot } from './snapshot.ts';

/** Questions that auditors ask, answered from the snapshot. */
export function checksOf({ decisions, findings }: Pick<Snapshot, 'decisions' | 'findings'>): Check[] {
  return [approverDiffers(decisions), verifiedByScan(findings), withinDeadline(findings), exceptionsExpire(findings)];
}

function approverDiffers(decisions: readonly FinalDecision[]): Check {
  const id = 'approver_differs_from_author';
  const approved = decisions.filter(({ decision }) => decision === 'approved');
  const independent = approved.find((approval) => approval.independent);
  if (approved.length === 0) return { id, result: 'not_applicable', detail: 'Nobody approved the work.' };
  return independent
    ? { id, result: 'pass', detail: `${independent.name} approved the work and took no part in it.` }
    : { id, result: 'fail', detail: 'Everyone who approved the work also took part in it.' };
}

function verifiedByScan(findings: readonly Finding[]): Check {
  const id = 'verified_by_scan';
  const verified = findings.filter(({ state }) => state === 'verified');
  const proven = verified.filter(({ after }) => after.state === 'absent');
  if (verified.length === 0) return { id, result: 'not_applicable', detail: 'No finding is verified.' };
  const detail = `${proven.length} of ${verified.length} verified findings were absent from a complete scan of their asset.`;
  return { id, result: proven.length === verified.length ? 'pass' : 'fail', detail };
}

function withinDeadline(findings: readonly Finding[]): Check {
  const id = 'within_deadline';
  const due = findings.filter(({ within_sla }) => within_sla !== null);
  const late = due.filter(({ within_sla }) => within_sla === false).length;
  const pending = due.filter(({ within_sla, closed_at }) => within_sla && closed_at === null).length;
  if (due.length === 0) return { id, result: 'not_applicable', detail: 'No finding has a deadline.' };
  const closed = `${due.length - late - pending} of ${due.length} findings with a deadline were closed in time.`;
  const rest = [...(late > 0 ? [`Late: ${late}.`] : []), ...(pending > 0 ? [`Open and not yet due: ${pending}.`] : [])];
  return { id, result: late > 0 ? 'fail' : pending > 0 ? 'not_applicable' : 'pass', detail: [closed, ...rest].join(' ') };
}

function exceptionsExpire(findings: readonly Finding[]): Check {
  const id = 'exceptions_expire';
  const accepted = findings.filter(({ state }) => state === 'risk_accepted');
  if (accepted.length === 0) return { id, result: 'not_applicable', detail: `None of the ${findings.length} findings is an accepted risk.` };
  const expiring = accepted.filter(({ acceptance }) => acceptance !== null).length;
  const detail = `${expiring} of ${accepted.length} accepted risks have an expiry date.`;
  return { id, result: expiring === accepted.length ? 'pass' : 'fail', detail };
}
