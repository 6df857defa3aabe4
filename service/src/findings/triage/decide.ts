import type { Static } from 'typebox';
import type { OrganizationPolicy } from '../../organizations/policy.ts';
import type { Actor } from '../../shared/actor.ts';
import { AppError, type FieldError } from '../../shared/errors.ts';
import type { FindingRow } from '../fields/field.ts';
import { changedBy } from '../reason-codes.ts';
import type { FindingPatch as FindingPatchSchema } from '../schemas-triage.ts';
import { severityName, severityRank } from '../severity.ts';
import { dueAt } from '../sla.ts';
import { type Assurance, allowed, isClosed, LONGEST_ACCEPTANCE_DAYS, mayMove, mayRestate, type Status } from '../status.ts';
import { comesBack, type Needed, neededFor } from './needed.ts';

export type FindingPatch = Static<typeof FindingPatchSchema>;

/** New values of the columns that a decision changes. */
export type Change = Partial<
  Pick<
    FindingRow,
    | 'status'
    | 'status_reason'
    | 'reason_code'
    | 'status_changed_by'
    | 'assurance'
    | 'acceptance_owner'
    | 'compensating_control'
    | 'justification'
    | 'severity'
    | 'severity_override'
    | 'severity_override_by'
    | 'severity_override_reason'
    | 'reopen_count'
    | 'tags'
  >
> & { status_changed_at?: Date; acceptance_expires_at?: Date | null; closed_at?: Date | null; due_at?: Date | 'infinity' };

/** The columns that a decision reads. Bulk changes decide for a sample row, which must supply all of them. */
export type Decidable = Pick<
  FindingRow,
  | 'status'
  | 'status_reason'
  | 'status_changed_by'
  | 'assurance'
  | 'acceptance_owner'
  | 'acceptance_expires_at'
  | 'compensating_control'
  | 'justification'
  | 'closed_at'
  | 'reopen_count'
  | 'severity_override'
  | 'source_severity'
  | 'clock_from'
  | 'kev'
  | 'tags'
> & {
  /** Scope of the active decision. Null if there is none, or if the request does not set a scope. */
  scope: 'places' | 'finding' | null;
};

export interface Deciding {
  actor: Actor;
  policy: OrganizationPolicy;
  now: Date;
}

/** Returns the change that the patch makes, or throws with all mistakes of the request. Pure. */
export function decide(finding: Decidable, patch: FindingPatch, deciding: Deciding): Change {
  const { to, restated } = targetOf(finding, patch);
  if (to !== null && !(restated ? mayRestate(to) : mayMove(finding.status, to, 'person'))) throw invalidTransition(finding.status, to);
  const mistakes = new Map([...missingFor(finding, to, patch), ...misplaced(patch)].map((mistake) => [mistake.path, mistake]));
  const wrongEnd = to === 'risk_accepted' && patch.expires_at !== undefined ? wrongEndOf(new Date(patch.expires_at), deciding.now) : null;
  if (wrongEnd) mistakes.set('/expires_at', { in: 'body', path: '/expires_at', ...wrongEnd });
  if (mistakes.size > 0) throw invalid([...mistakes.values()]);
  const retagged = patch.tags !== undefined && patch.tags.join('\n') !== finding.tags.join('\n');
  const decided = to === null || asksForApproval(finding, patch, deciding) ? null : decideStatus(finding, to, patch, deciding);
  return {
    ...decideSeverity(finding, patch, deciding),
    ...decided,
    ...(restated && decided ? keptWhenRestated(finding, patch) : {}),
    ...(retagged && patch.tags ? { tags: patch.tags } : {}),
  };
}

/** The status that the patch decides on, which is the current one if only its reason or details change. Null: the patch does not decide on a status. */
function targetOf(finding: Decidable, patch: FindingPatch): { to: Status | null; restated: boolean } {
  const restated = patch.status === finding.status && isRestated(finding, patch);
  return { to: patch.status !== undefined && (restated || patch.status !== finding.status) ? patch.status : null, restated };
}

/** Under the four-eyes policy, accepting a risk is a request that a second person must approve. */
export function asksForApproval(finding: Decidable, patch: FindingPatch, { policy }: Deciding): boolean {
  return policy.four_eyes && targetOf(finding, patch).to === 'risk_accepted';
}

/** Whether the patch keeps the status but changes its reason or details. Fields that it leaves out stay. */
function isRestated(finding: Decidable, { reason, owner, expires_at, compensating_control, justification, scope }: FindingPatch): boolean {
  const differs = <T>(given: T | undefined, known: T | null | undefined): boolean => given !== undefined && given !== known;
  const end = expires_at === undefined ? undefined : Date.parse(expires_at);
  return (
    differs(reason, finding.status_reason) ||
    differs(owner, finding.acceptance_owner) ||
    differs(end, finding.acceptance_expires_at?.getTime()) ||
    differs(compensating_control, finding.compensating_control) ||
    differs(justification, finding.justification) ||
    differs(scope, finding.scope)
  );
}

function keptWhenRestated({ status_reason, assurance, closed_at }: Decidable, { reason }: FindingPatch): Change {
  return { status_reason: reason ?? status_reason, assurance, closed_at };
}

function wrongEndOf(end: Date, now: Date): Pick<FieldError, 'code' | 'detail'> | null {
  if (end <= now) return { code: 'in_the_past', detail: 'must be in the future' };
  if (end.getTime() - now.getTime() <= LONGEST_ACCEPTANCE_DAYS * 86_400_000) return null;
  return { code: 'too_late', detail: `must be at most ${LONGEST_ACCEPTANCE_DAYS} days (two years) from now` };
}

const EXPLAIN_SEVERITY = 'explain why the severity differs from the source';
export const SEVERITY_UNEXPLAINED = `\`reason\` is required: ${EXPLAIN_SEVERITY}.`;

function missingFor(finding: Decidable, to: Status | null, patch: FindingPatch): FieldError[] {
  const { severity } = patch;
  const reranked = typeof severity === 'string' && severityRank(severity) !== finding.severity_override;
  const needed: Needed[] = [...(reranked ? [['reason', EXPLAIN_SEVERITY] as const] : []), ...(to === null ? [] : neededFor(finding.status, to))];
  return needed.flatMap(([name, why]) => (patch[name]?.trim() ? [] : [{ in: 'body', path: `/${name}`, code: 'required', detail: `is required: ${why}` }]));
}

/** Why this person cannot move the finding to a status that others can move it to. */
export function refusedTo({ status_changed_by }: Pick<Decidable, 'status_changed_by'>, to: Status, { person }: Pick<Actor, 'person'>): string | null {
  if (to !== 'verified' || status_changed_by === null || status_changed_by !== person?.id) return null;
  return 'You cannot verify a finding that you marked as remediated. Another person or a scan must verify it.';
}

/** The fields that belong to a decision, and the statuses they are allowed with. */
const belongs = {
  owner: ['risk_accepted'],
  expires_at: ['risk_accepted'],
  compensating_control: ['risk_accepted'],
  justification: ['false_positive'],
  scope: ['risk_accepted', 'false_positive'],
} as const satisfies Partial<Record<keyof FindingPatch, readonly Status[]>>;

function misplaced(patch: FindingPatch): FieldError[] {
  return Object.entries(belongs).flatMap(([name, allowedWith]) =>
    patch[name as keyof typeof belongs] === undefined || (allowedWith as readonly (Status | undefined)[]).includes(patch.status)
      ? []
      : [{ in: 'body', path: `/${name}`, code: 'misplaced', detail: `is only allowed with the status ${allowedWith.join(' or ')}` }],
  );
}

function decideSeverity(finding: Decidable, { severity, reason }: FindingPatch, { actor, policy }: Deciding): Change {
  const rank = severity === undefined ? finding.severity_override : severity === null ? null : severityRank(severity);
  if (rank === finding.severity_override || severity === undefined) return {};
  const effective = rank ?? finding.source_severity;
  return {
    severity_override: rank,
    severity_override_by: rank === null ? null : actor.name,
    severity_override_reason: rank === null ? null : (reason ?? null),
    severity: effective,
    due_at: dueAt(policy.sla, finding.clock_from, severityName(effective), finding.kev) ?? 'infinity',
  };
}

function decideStatus(finding: Decidable, to: Status, patch: FindingPatch, deciding: Deciding): Change {
  const { actor, now } = deciding;
  const person = actor.person?.id ?? null;
  const moved: Change = {
    status: to,
    status_reason: patch.reason ?? null,
    reason_code: changedBy(actor),
    status_changed_at: now,
    status_changed_by: person,
    assurance: null,
    acceptance_owner: null,
    acceptance_expires_at: null,
    compensating_control: null,
    justification: null,
    closed_at: isClosed(to) ? now : null,
  };
  if (to === 'remediated') return { ...moved, assurance: 'declared' satisfies Assurance };
  if (to === 'verified') {
    const refused = refusedTo(finding, to, actor);
    if (refused !== null) throw new AppError('conflict', refused);
    // A claim that came from a connection, such as a closed ticket, may have been made by the same person.
    const isKnown = finding.status_changed_by !== null && person !== null;
    return { ...moved, assurance: (isKnown ? 'independent' : 'declared') satisfies Assurance };
  }
  if (to === 'risk_accepted') {
    const { owner = null, expires_at = '', compensating_control = finding.compensating_control } = patch;
    return { ...moved, acceptance_owner: owner, acceptance_expires_at: new Date(expires_at), compensating_control };
  }
  if (to === 'false_positive') return { ...moved, justification: patch.justification ?? null };
  return to === 'open' && comesBack(finding.status) ? { ...moved, reopen_count: finding.reopen_count + 1 } : moved;
}

function invalidTransition(from: Status, to: Status): AppError {
  const ways = allowed(from, 'person');
  return new AppError('invalid_transition', `A finding that is ${from} cannot become ${to}. Allowed: ${ways.length > 0 ? ways.join(', ') : 'none'}.`);
}

export function invalid(errors: FieldError[]): AppError {
  return new AppError('validation_failed', errors.map(({ path, detail }) => `\`${path.slice(1)}\` ${detail}.`).join(' '), { errors });
}
