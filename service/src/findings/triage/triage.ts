import type { Severity } from '@rrs/scan-reports';
import { type RawBuilder, sql } from 'kysely';
import { recordAudit } from '../../audit/record.ts';
import type { TenantTx } from '../../db/database.ts';
import { emit } from '../../events/emit.ts';
import { membersCalled } from '../../organizations/members/members.ts';
import type { Actor } from '../../shared/actor.ts';
import { AppError, type FieldError } from '../../shared/errors.ts';
import { newId } from '../../shared/ids.ts';
import { riskOf } from '../../vulnerabilities/risk.ts';
import type { FindingRow } from '../fields/field.ts';
import { type FindingFollower, idsSql } from '../follower.ts';
import { lockFinding } from '../list/list.ts';
import { type FindingPolicy, readPolicy } from '../policy.ts';
import { severityName, severityRank } from '../severity.ts';
import { dueAt } from '../sla.ts';
import { type Assurance, allowed, isClosed, type Justification, LONGEST_ACCEPTANCE_DAYS, mayMove, mayRestate, type Status } from '../status.ts';

export interface FindingPatch {
  status?: Status;
  severity?: Severity | null;
  reason?: string;
  owner?: string;
  expires_at?: string;
  justification?: Justification;
  tags?: string[];
}

/** What a change makes of the columns it touches. */
type Change = Partial<
  Pick<
    FindingRow,
    | 'status'
    | 'status_reason'
    | 'status_changed_by'
    | 'assurance'
    | 'acceptance_owner'
    | 'justification'
    | 'severity'
    | 'severity_override'
    | 'severity_override_by'
    | 'severity_override_reason'
    | 'reopen_count'
    | 'tags'
  >
> & { status_changed_at?: Date; acceptance_expires_at?: Date | null; closed_at?: Date | null; due_at?: Date | 'infinity' };

interface Triage {
  id: string;
  patch: FindingPatch;
  check: (current: FindingRow) => void;
}

export async function updateFinding(tx: TenantTx, actor: Actor, { id, patch, check }: Triage, follower: FindingFollower): Promise<FindingRow> {
  const finding = await lockFinding(tx, actor.orgId, id);
  check(finding);
  const updated = await applyPatch(tx, finding, patch, await readDeciding(tx, actor, patch));
  if (updated.status !== finding.status) await follower.follow(tx, actor, idsSql([id]));
  return updated;
}

async function applyPatch(tx: TenantTx, finding: FindingRow, patch: FindingPatch, deciding: Deciding): Promise<FindingRow> {
  const { actor, now } = deciding;
  const change = decide(finding, patch, deciding);
  if (Object.keys(change).length === 0) return finding;
  const asset = await tx
    .selectFrom('assets')
    .select(['criticality', 'exposure'])
    .where('org_id', '=', actor.orgId)
    .where('id', '=', finding.asset_id)
    .executeTakeFirstOrThrow();
  const after = { ...finding, ...change };
  const risk = riskOf({ ...after, ...asset });
  const updated = await tx
    .updateTable('findings')
    .set({
      ...change,
      ...(change.tags ? { search: taggedSql(finding.tags, change.tags) } : {}),
      risk_score: risk.score,
      version: finding.version + 1,
      updated_at: now,
    } as never)
    .where('org_id', '=', actor.orgId)
    .where('id', '=', finding.id)
    .returningAll()
    .executeTakeFirstOrThrow();
  await remember(tx, actor, finding, updated, patch.reason ?? null);
  return updated;
}

/** The search index holds the tags as words. */
function taggedSql(before: readonly string[], after: readonly string[]): RawBuilder<unknown> {
  const words = (tags: readonly string[]) => sql`array(select distinct 't:' || lower(tag) from unnest(${tags as string[]}::text[]) as tag)`;
  return sql`ts_delete(search::tsvector, ${words(before)}) || array_to_tsvector(${words(after)})`;
}

export interface Deciding {
  actor: Actor;
  policy: FindingPolicy;
  now: Date;
  /** The members whom an acceptance names; looked up where four eyes are asked for. */
  owners: readonly { id: string }[];
}

export async function readDeciding(tx: TenantTx, actor: Actor, { status, owner }: Pick<FindingPatch, 'status' | 'owner'>): Promise<Deciding> {
  const policy = await readPolicy(tx, actor.orgId);
  const accepting = status === 'risk_accepted' && owner !== undefined;
  const owners = policy.four_eyes && accepting ? await membersCalled(tx, actor.orgId, owner) : [];
  return { actor, policy, now: new Date(), owners };
}

/** Pure: what the patch makes of the finding, or why it may not. All that is missing is said at once. */
export function decide(finding: FindingRow, patch: FindingPatch, deciding: Deciding): Change {
  const restated = patch.status === finding.status && isRestated(finding, patch);
  const to = patch.status !== undefined && (restated || patch.status !== finding.status) ? patch.status : null;
  if (to !== null && !(restated ? mayRestate(to) : mayMove(finding.status, to, 'person'))) throw invalidTransition(finding.status, to);
  const mistakes = new Map([...missingFor(finding, to, patch), ...misplaced(patch)].map((mistake) => [mistake.path, mistake]));
  const wrongEnd = to === 'risk_accepted' && patch.expires_at !== undefined ? wrongEndOf(new Date(patch.expires_at), deciding.now) : null;
  if (wrongEnd) mistakes.set('/expires_at', { in: 'body', path: '/expires_at', ...wrongEnd });
  if (mistakes.size > 0) throw invalid([...mistakes.values()]);
  const retagged = patch.tags !== undefined && patch.tags.join('\n') !== finding.tags.join('\n');
  return {
    ...decideSeverity(finding, patch, deciding),
    ...(to === null ? {} : decideStatus(finding, to, patch, deciding)),
    ...(restated ? keptWhenRestated(finding, patch) : {}),
    ...(retagged && patch.tags ? { tags: patch.tags } : {}),
  };
}

/** Whether the patch says anything else about the decision than what is known; what it leaves out stays. */
function isRestated(finding: FindingRow, { reason, owner, expires_at, justification }: FindingPatch): boolean {
  const differs = <T>(given: T | undefined, known: T | null | undefined): boolean => given !== undefined && given !== known;
  const end = expires_at === undefined ? undefined : Date.parse(expires_at);
  return (
    differs(reason, finding.status_reason) ||
    differs(owner, finding.acceptance_owner) ||
    differs(end, finding.acceptance_expires_at?.getTime()) ||
    differs(justification, finding.justification)
  );
}

function keptWhenRestated({ status_reason, assurance, closed_at }: FindingRow, { reason }: FindingPatch): Change {
  return { status_reason: reason ?? status_reason, assurance, closed_at };
}

function wrongEndOf(end: Date, now: Date): Pick<FieldError, 'code' | 'detail'> | null {
  if (end <= now) return { code: 'in_the_past', detail: 'must be in the future' };
  if (end.getTime() - now.getTime() <= LONGEST_ACCEPTANCE_DAYS * 86_400_000) return null;
  return { code: 'too_late', detail: `must be at most ${LONGEST_ACCEPTANCE_DAYS} days (two years) ahead: no acceptance is permanent` };
}

function missingFor(finding: FindingRow, to: Status | null, patch: FindingPatch): FieldError[] {
  const { severity } = patch;
  const reranked = typeof severity === 'string' && severityRank(severity) !== finding.severity_override;
  const reopened = to === 'open' && comesBack(finding.status);
  const needed: readonly [needed: boolean, name: 'reason' | 'owner' | 'expires_at' | 'justification', why: string][] = [
    [reranked, 'reason', 'says why the severity is another than the source says'],
    [reopened, 'reason', 'says why it is open again'],
    [to === 'remediated', 'reason', 'says what was done'],
    [to === 'withdrawn', 'reason', 'says why it no longer counts'],
    [to === 'risk_accepted', 'reason', 'justifies the acceptance'],
    [to === 'risk_accepted', 'owner', 'names who answers for the risk'],
    [to === 'risk_accepted', 'expires_at', 'says until when; no acceptance is permanent'],
    [to === 'false_positive', 'justification', 'says why it does not apply'],
  ];
  return needed.flatMap(([isNeeded, name, why]) =>
    isNeeded && !patch[name]?.trim() ? [{ in: 'body', path: `/${name}`, code: 'required', detail: `is required: it ${why}` }] : [],
  );
}

function misplaced(patch: FindingPatch): FieldError[] {
  const belongs = { owner: 'risk_accepted', expires_at: 'risk_accepted', justification: 'false_positive' } as const;
  return (['owner', 'expires_at', 'justification'] as const).flatMap((name) =>
    patch[name] === undefined || patch.status === belongs[name]
      ? []
      : [{ in: 'body', path: `/${name}`, code: 'misplaced', detail: `goes with the status ${belongs[name]} only` }],
  );
}

function decideSeverity(finding: FindingRow, { severity, reason }: FindingPatch, { actor, policy }: Deciding): Change {
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

const comesBack = (from: Status): boolean => from === 'remediated' || from === 'verified' || from === 'withdrawn';

/** Who stands behind a credential: keys and sessions of one member are one person. */
export function personOf({ memberId, id }: Pick<Actor, 'memberId' | 'id'>): string | null {
  return memberId ?? id;
}

function decideStatus(finding: FindingRow, to: Status, patch: FindingPatch, deciding: Deciding): Change {
  const { actor, now } = deciding;
  const moved: Change = {
    status: to,
    status_reason: patch.reason ?? null,
    status_changed_at: now,
    status_changed_by: personOf(actor),
    assurance: null,
    acceptance_owner: null,
    acceptance_expires_at: null,
    justification: null,
    closed_at: isClosed(to) ? now : null,
  };
  if (to === 'remediated') return { ...moved, assurance: 'declared' satisfies Assurance };
  if (to === 'verified') {
    if (finding.status_changed_by !== null && finding.status_changed_by === personOf(actor)) {
      throw new AppError('conflict', 'Who claimed that it is remediated cannot be the one to verify it. Let somebody else look, or a scan.');
    }
    // Behind the claim of a connection, a ticket that was closed, may stand anybody, also who verifies it now.
    const isKnown = finding.status_changed_by !== null;
    return { ...moved, assurance: (isKnown ? 'independent' : 'declared') satisfies Assurance };
  }
  if (to === 'risk_accepted') {
    assertFourEyes(patch.owner ?? '', deciding);
    return { ...moved, acceptance_owner: patch.owner ?? null, acceptance_expires_at: new Date(patch.expires_at ?? '') };
  }
  if (to === 'false_positive') return { ...moved, justification: patch.justification ?? null };
  return to === 'open' && comesBack(finding.status) ? { ...moved, reopen_count: finding.reopen_count + 1 } : moved;
}

function assertFourEyes(owner: string, { actor, policy, owners }: Deciding): void {
  if (!policy.four_eyes) return;
  if (owner.trim().toLowerCase() === actor.name.toLowerCase() || owners.some(({ id }) => id === actor.memberId)) {
    throw new AppError('conflict', 'Your organization asks for four eyes: who accepts a risk cannot be the one who answers for it.');
  }
  if (owners.length === 0) {
    throw new AppError(
      'conflict',
      `Your organization asks for four eyes: another member answers for the risk, and no member has the e-mail or name "${owner}".`,
    );
  }
}

function invalidTransition(from: Status, to: Status): AppError {
  const ways = allowed(from, 'person');
  const known = ways.length > 0 ? `from here it may become ${ways.join(', ')}` : 'from here a person cannot change it';
  return new AppError('invalid_transition', `A finding that is ${from} cannot become ${to}; ${known}.`);
}

function invalid(errors: FieldError[]): AppError {
  return new AppError('validation_failed', errors.map(({ path, detail }) => `${path} ${detail}`).join('; '), { errors });
}

const shownInHistory = [
  'status',
  'status_reason',
  'assurance',
  'acceptance_owner',
  'acceptance_expires_at',
  'justification',
  'severity',
  'severity_override',
  'tags',
] as const;

function snapshot(finding: FindingRow): Record<string, unknown> {
  return {
    ...Object.fromEntries(shownInHistory.map((name) => [name, finding[name]])),
    severity: severityName(finding.severity),
    severity_override: finding.severity_override === null ? null : severityName(finding.severity_override),
  };
}

async function remember(tx: TenantTx, actor: Actor, before: FindingRow, after: FindingRow, reason: string | null): Promise<void> {
  const [was, is] = [snapshot(before), snapshot(after)];
  const decided = before.status_changed_at.getTime() !== after.status_changed_at.getTime();
  const names = Object.keys(is).filter((name) => JSON.stringify(was[name]) !== JSON.stringify(is[name]) || (decided && name === 'status'));
  const pick = (from: Record<string, unknown>) => Object.fromEntries(names.map((name) => [name, from[name]]));
  const changes = { before: pick(was), after: pick(is) };
  const action = before.status !== after.status ? 'status_changed' : names.includes('severity_override') ? 'severity_changed' : 'updated';
  await tx
    .insertInto('finding_history')
    .values({
      org_id: actor.orgId,
      finding_id: after.id,
      id: newId(),
      actor_type: actor.type,
      actor_id: actor.id,
      actor_name: actor.name,
      action,
      before: JSON.stringify(changes.before),
      after: JSON.stringify(changes.after),
      reason,
    })
    .execute();
  await recordAudit(tx, actor, { action: `finding.${action}`, objectType: 'finding', objectId: after.id, ...changes });
  await emit(tx, actor.orgId, { type: `finding.${action}`, subject: after.id, data: { from: before.status, to: after.status, ...changes.after } });
}
