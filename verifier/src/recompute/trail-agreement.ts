import type { EvidenceDocument, Finding, Person } from '@rrs/evidence-format';
import { EVIDENCE, type Fault, FINDINGS, TRAIL } from './fault.ts';
import { recordedFaults } from './recorded-values.ts';
import { later } from './time-order.ts';
import type { Act, TrailFacts } from './trail-facts.ts';

/** Checks that the trail shows the acts that the document states, and that the document states the acts that the trail shows. */
export function* trailFaults(document: EvidenceDocument, facts: TrailFacts): Generator<Fault> {
  const { as_of, work_item, unlinked, scans } = document;
  if (facts.disorder !== null) yield { code: 'time_order', file: TRAIL, detail: `Event ${facts.disorder} is earlier than the event before it.` };
  if (facts.last > later(as_of))
    yield { code: 'time_order', file: TRAIL, detail: 'The last event is later than as_of.', expected: `at or before ${as_of}`, actual: facts.last };
  if (isOther(facts.created, work_item.created_by)) yield unproven(EVIDENCE, 'that this person created the work item');
  yield* recordedFaults(document, facts.recorded);
  yield* approvalFaults(document, facts);
  yield* artifactFaults(document, facts);
  for (const { id, by } of unlinked) if (isOther(facts.unlinked.get(id), by)) yield unproven(EVIDENCE, `that this person removed the finding ${id}`);
  for (const { id, confirmed } of scans) {
    const act = facts.confirmed.get(id);
    if (act !== undefined && confirmed === null) yield omitted(`the confirmation of the scan ${id}`);
    if (confirmed !== null && (act === undefined || isOther(act, confirmed.by))) yield unproven(EVIDENCE, `that this person confirmed the scan ${id}`);
  }
}

/** Whether the trail names another person. An act without an event proves nothing. */
function isOther(act: Act | null | undefined, { person }: Person): boolean {
  return act !== null && act !== undefined && act.person !== person;
}

function* approvalFaults({ approvals }: EvidenceDocument, facts: TrailFacts): Generator<Fault> {
  const stated = new Set(approvals.map(({ id }) => id));
  for (const { id, decision, by, at, comment, state_sha256 } of approvals) {
    const act = facts.approvals.get(id);
    const isSame = act?.decision === decision && act.person === by.person && act.at === at && act.comment === comment;
    if (!isSame || (act.digest !== undefined && act.digest !== state_sha256))
      yield unproven(EVIDENCE, `the approval ${id} with this decision, person, time and comment`);
  }
  for (const id of facts.approvals.keys()) if (!stated.has(id)) yield omitted(`the approval or rejection ${id}`);
}

function* artifactFaults(document: EvidenceDocument, facts: TrailFacts): Generator<Fault> {
  const listed = new Set(document.artifacts.map(({ id }) => id));
  for (const id of facts.artifacts.keys()) if (!listed.has(id)) yield omitted(`the artifact ${id}`);
  for (const { id, added_by, removed } of document.artifacts) {
    const acts = facts.artifacts.get(id);
    if (isOther(acts?.added, added_by)) yield unproven(EVIDENCE, `that this person added the artifact ${id}`);
    if (removed === null && acts?.removed) yield omitted(`the removal of the artifact ${id}`);
    if (removed !== null && (!acts?.removed || isOther(acts.removed, removed.by))) yield unproven(EVIDENCE, `that this person removed the artifact ${id}`);
  }
}

/** The same for one finding. */
export function* findingTrailFaults({ id, state, claimed_at, claimed_by }: Finding, facts: TrailFacts): Generator<Fault> {
  const last = facts.states.get(id) ?? 'open';
  if (last !== state)
    yield { code: 'state_false', file: FINDINGS, detail: `The finding ${id} is in another state by the audit trail.`, expected: last, actual: state };
  if (claimed_at === null && claimed_by === null) return;
  const isShown = (facts.claims.get(id) ?? []).some(({ at, person }) => at === claimed_at && person === (claimed_by?.person ?? null));
  if (!isShown) yield unproven(FINDINGS, `the claim that the finding ${id} is fixed`);
}

/** Removed findings that the document lists nowhere. `listed` has the findings of the package and those merged into them. */
export function* unlinkedFaults({ unlinked }: EvidenceDocument, facts: TrailFacts, listed: ReadonlySet<string>): Generator<Fault> {
  const stated = new Set(unlinked.map(({ id }) => id));
  for (const id of facts.unlinked.keys()) if (!stated.has(id) && !listed.has(id)) yield omitted(`the removal of the finding ${id} from the work item`);
}

function omitted(what: string): Fault {
  return { code: 'omitted', file: EVIDENCE, detail: `The audit trail shows ${what}, but the document does not.` };
}

function unproven(file: string, what: string): Fault {
  return { code: 'unproven', file, detail: `The audit trail does not show ${what}.` };
}
