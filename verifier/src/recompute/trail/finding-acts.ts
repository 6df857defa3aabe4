import {
  causeOf,
  DECIDED,
  type Finding,
  type FindingHistory,
  fieldOf,
  newFinding,
  nextHistory,
  type Person,
  severityRank,
  statedFrom,
  type TrailEvent,
} from '@rrs/evidence-format';
import { type Fault, FINDINGS } from '../fault.ts';

/** What the audit trail says about how a finding got into its state. A value that it does not record is undefined. */
export interface FindingActs {
  history: FindingHistory;
  /** Reason code of the last change of the state. */
  code: string | undefined;
  assurance: unknown;
  expiresAt: unknown;
  owner: unknown;
  /** Null if no control was named, or the risk is not accepted. */
  control: unknown;
  justification: unknown;
  /** Whether somebody claimed that it is fixed, and nothing opened it again. */
  isClaimed: boolean;
  /** By state: the person who last put the finding into it. Scans are nobody. */
  deciders: Map<string, string | null>;
  /** Who last asked that its risk is accepted. */
  asker: string | null | undefined;
  /** Who decided that its risk is accepted. The approver is undefined if there was none. */
  accepted: { requester: string | null | undefined; approver: string | null | undefined } | undefined;
  /** The last severity that a person set. Null if it was taken back. */
  override: { severity: unknown; person: string | null; at: string; reason: string | null } | undefined;
  /** The worst severity that the sources stated when a person set another one. Unknown after findings were separated. */
  source: unknown;
}

/** After these changes, the finding has values of another one, or those that it had before. */
const COPIED: ReadonlySet<string | undefined> = new Set(['merged', 'split']);
/** These changes record every value that they change. Other changes can clear values without recording it. */
const COMPLETE: ReadonlySet<string | undefined> = new Set(['by_person', 'acceptance_approved']);

/** Adds the next event about a finding. */
export function addFindingEvent(acts: Map<string, FindingActs>, event: TrailEvent): void {
  const { action, object, actor, after, import_id } = event;
  const known = acts.get(object.id) ?? emptyActs();
  acts.set(object.id, known);
  known.history = nextHistory(known.history, event);
  if (action === 'finding.acceptance_requested') known.asker = actor.person;
  const [status, code, override] = ['status', 'reason_code', 'severity_override'].map((name) => fieldOf(after, name));
  if (override !== undefined) known.override = { severity: override, person: actor.person, at: event.at, reason: event.reason };
  addSource(known, event);
  if (typeof status === 'string') {
    known.code = typeof code === 'string' ? code : undefined;
    if (!COMPLETE.has(known.code)) Object.assign(known, { assurance: undefined, expiresAt: undefined, owner: undefined, justification: undefined });
    known.isClaimed = status === 'remediated' || (known.isClaimed && !OPEN.has(status));
    known.control = status === 'risk_accepted' ? recorded(after, 'compensating_control', known.control) : null;
    if (import_id === null) known.deciders.set(status, actor.person);
    if (code === 'acceptance_approved') known.accepted = { requester: known.asker, approver: actor.person };
    else if (status === 'risk_accepted' && COMPLETE.has(known.code)) known.accepted = { requester: actor.person, approver: undefined };
  }
  for (const [key, name] of Object.entries(RECORDED)) {
    const value = fieldOf(after, name);
    if (value !== undefined) Object.assign(known, { [key]: value });
  }
}

/** The value that an event records, else the one that was known. */
function recorded(after: unknown, name: string, known: unknown): unknown {
  const value = fieldOf(after, name);
  return value === undefined ? known : value;
}

function addSource(known: FindingActs, { action, before }: TrailEvent): void {
  if (action === 'finding.split') known.source = undefined;
  const stated = fieldOf(before, 'severity_override') === null ? fieldOf(before, 'severity') : undefined;
  if (stated !== undefined && severityRank(stated) > severityRank(known.source)) known.source = stated;
}

const RECORDED = { assurance: 'assurance', expiresAt: 'acceptance_expires_at', owner: 'acceptance_owner', justification: 'justification' } as const;
const OPEN: ReadonlySet<string> = new Set(['open', 'in_progress']);

function emptyActs(): FindingActs {
  const unknown = {
    code: undefined,
    assurance: undefined,
    expiresAt: undefined,
    owner: undefined,
    justification: undefined,
    override: undefined,
    source: undefined,
  };
  return { ...unknown, control: null, history: newFinding, isClaimed: false, deciders: new Map(), asker: undefined, accepted: undefined };
}

/** Checks why a finding is in its state, and who put it there. Standing and gaps follow from it. */
export function* findingActFaults(finding: Finding, acts: FindingActs = emptyActs()): Generator<Fault> {
  const { id, state, cause, assurance, justification, decided_by, claimed_at, acceptance, override } = finding;
  const otherwise = (what: string, expected: unknown, actual: unknown): Fault => ({
    code: 'recorded_otherwise',
    file: FINDINGS,
    detail: `The audit trail records another ${what} for the finding ${id}.`,
    expected: String(expected),
    actual: String(actual),
  });
  for (const [field, expected] of Object.entries(statedFrom(acts.history, finding.first_seen)))
    if (finding[field as keyof Finding] !== expected) yield otherwise(`\`${field}\``, expected, finding[field as keyof Finding]);
  if (acts.override !== undefined && acts.override.severity !== null) {
    const { severity, person, at, reason } = acts.override;
    if (override?.severity !== severity) yield otherwise('severity that a person set', severity, override?.severity ?? 'none');
    const by = personOf(override?.by ?? null);
    if (override !== null && by !== person) yield otherwise('person who set the severity', person, by);
    if (override !== null && override.at !== at) yield otherwise('time at which the severity was set', at, override.at);
    if (override !== null && override.reason !== reason) yield otherwise('reason for the severity', reason, override.reason);
  }
  if (severityRank(finding.severity_source) < severityRank(acts.source)) yield otherwise('severity of the sources', acts.source, finding.severity_source);
  if (acts.isClaimed && claimed_at === null)
    yield { code: 'omitted', file: FINDINGS, detail: `The audit trail shows the claim that the finding ${id} is fixed, but its line does not.` };
  const control = acceptance?.compensating_control ?? null;
  if (control !== acts.control) yield otherwise('compensating control', acts.control, control);
  if (acts.code === undefined || COPIED.has(acts.code)) return;
  if (acts.assurance !== undefined && acts.assurance !== assurance) yield otherwise('assurance', acts.assurance, assurance);
  if (acts.justification !== undefined && acts.justification !== justification) yield otherwise('justification', acts.justification, justification);
  const expected = causeOf({ state, code: acts.code, assurance });
  if (cause !== expected) yield otherwise('cause of the state', expected, cause);
  const decider = DECIDED.has(expected) ? (acts.deciders.get(state) ?? null) : null;
  if (personOf(decided_by) !== decider) yield otherwise('person who decided', decider, personOf(decided_by));
  if (acceptance === null) return;
  const { requested_by, approved_by, expires_at, owner } = acceptance;
  if (acts.accepted !== undefined) {
    const { requester, approver } = acts.accepted;
    if (approved_by?.person !== approver) yield otherwise('approval of the accepted risk', approver ?? 'none', approved_by?.name ?? 'none');
    if (requester !== undefined && personOf(requested_by) !== requester) yield otherwise('request to accept the risk', requester, personOf(requested_by));
  }
  if (acts.owner !== undefined && acts.owner !== owner) yield otherwise('owner of the accepted risk', acts.owner, owner);
  if (acts.expiresAt !== undefined && timeOf(acts.expiresAt) !== timeOf(expires_at)) yield otherwise('end of the accepted risk', acts.expiresAt, expires_at);
}

function personOf(by: Person | null): string | null {
  return by?.person ?? null;
}

/** The audit trail writes times in another form. */
function timeOf(value: unknown): number | null {
  return typeof value === 'string' ? Date.parse(value) : null;
}
