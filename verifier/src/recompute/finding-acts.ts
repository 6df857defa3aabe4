import { causeOf, DECIDED, type Finding, fieldOf, type Person, type TrailEvent } from '@rrs/evidence-format';
import { type Fault, FINDINGS } from './fault.ts';

/** What the audit trail says about how a finding got into its state. A value that it does not record is undefined. */
export interface FindingActs {
  /** Reason code of the last change of the state. */
  code: string | undefined;
  assurance: unknown;
  expiresAt: unknown;
  owner: unknown;
  justification: unknown;
  /** Whether somebody claimed that it is fixed, and nothing opened it again. */
  isClaimed: boolean;
  /** By state: the person who last put the finding into it. Scans are nobody. */
  deciders: Map<string, string | null>;
  /** People who approved that its risk is accepted. */
  approvers: Set<string | null>;
  /** The last severity that a person set. Null if it was taken back. */
  override: { severity: unknown; person: string | null } | undefined;
}

/** After these changes, the finding has values of another one, or those that it had before. */
const COPIED: ReadonlySet<string | undefined> = new Set(['merged', 'split']);
/** These changes record every value that they change. Other changes can clear values without recording it. */
const COMPLETE: ReadonlySet<string | undefined> = new Set(['by_person', 'acceptance_approved']);

/** Adds the next event about a finding. */
export function addFindingEvent(acts: Map<string, FindingActs>, { object, actor, after, import_id }: TrailEvent): void {
  const known = acts.get(object.id) ?? emptyActs();
  acts.set(object.id, known);
  const [status, code, override] = ['status', 'reason_code', 'severity_override'].map((name) => fieldOf(after, name));
  if (override !== undefined) known.override = { severity: override, person: actor.person };
  if (typeof status === 'string') {
    known.code = typeof code === 'string' ? code : undefined;
    if (!COMPLETE.has(known.code)) Object.assign(known, { assurance: undefined, expiresAt: undefined, owner: undefined, justification: undefined });
    known.isClaimed = status === 'remediated' || (known.isClaimed && !OPEN.has(status));
    if (import_id === null) known.deciders.set(status, actor.person);
    if (code === 'acceptance_approved') known.approvers.add(actor.person);
  }
  for (const [key, name] of Object.entries(RECORDED)) {
    const value = fieldOf(after, name);
    if (value !== undefined) Object.assign(known, { [key]: value });
  }
}

const RECORDED = { assurance: 'assurance', expiresAt: 'acceptance_expires_at', owner: 'acceptance_owner', justification: 'justification' } as const;
const OPEN: ReadonlySet<string> = new Set(['open', 'in_progress']);

function emptyActs(): FindingActs {
  const unknown = { code: undefined, assurance: undefined, expiresAt: undefined, owner: undefined, justification: undefined, override: undefined };
  return { ...unknown, isClaimed: false, deciders: new Map(), approvers: new Set() };
}

/** Checks why a finding is in its state, and who put it there. Standing and gaps follow from it. */
export function* findingActFaults(finding: Finding, acts: FindingActs | undefined): Generator<Fault> {
  if (acts === undefined) return;
  const { id, state, cause, assurance, justification, decided_by, claimed_at, acceptance, override } = finding;
  const otherwise = (what: string, expected: unknown, actual: unknown): Fault => ({
    code: 'recorded_otherwise',
    file: FINDINGS,
    detail: `The audit trail records another ${what} for the finding ${id}.`,
    expected: String(expected),
    actual: String(actual),
  });
  if (acts.override !== undefined && acts.override.severity !== null) {
    const { severity, person } = acts.override;
    if (override?.severity !== severity) yield otherwise('severity that a person set', severity, override?.severity ?? 'none');
    const by = personOf(override?.by ?? null);
    if (override !== null && by !== person) yield otherwise('person who set the severity', person, by);
  }
  if (acts.isClaimed && claimed_at === null)
    yield { code: 'omitted', file: FINDINGS, detail: `The audit trail shows the claim that the finding ${id} is fixed, but its line does not.` };
  if (acts.code === undefined || COPIED.has(acts.code)) return;
  if (acts.assurance !== undefined && acts.assurance !== assurance) yield otherwise('assurance', acts.assurance, assurance);
  if (acts.justification !== undefined && acts.justification !== justification) yield otherwise('justification', acts.justification, justification);
  const expected = causeOf({ state, code: acts.code, assurance });
  if (cause !== expected) yield otherwise('cause of the state', expected, cause);
  const decider = DECIDED.has(expected) ? (acts.deciders.get(state) ?? null) : null;
  if (personOf(decided_by) !== decider) yield otherwise('person who decided', decider, personOf(decided_by));
  if (acceptance === null) return;
  const { approved_by, expires_at, owner } = acceptance;
  if (approved_by !== null && !acts.approvers.has(approved_by.person)) yield otherwise('approval of the accepted risk', 'none', approved_by.name);
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
