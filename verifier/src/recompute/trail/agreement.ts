import { type EvidenceDocument, type Finding, scansAfter } from '@rrs/evidence-format';
import { EVIDENCE, type Fault, FINDINGS } from '../fault.ts';
import { actorsIn, actorsOf, type Known } from '../references.ts';
import { later } from '../time-order.ts';
import { isOther, omitted, unproven } from './act.ts';
import { actingNameFaults, actorFaults } from './actors.ts';
import { artifactFaults } from './artifacts.ts';
import { assetFaults, sourceFaults } from './assets.ts';
import { credentialFaults } from './credentials.ts';
import { deliveryFaults } from './deliveries.ts';
import type { TrailFacts } from './facts.ts';
import { findingActFaults } from './finding-acts.ts';
import { packageFaults } from './packages.ts';
import { recordedFaults } from './recorded-values.ts';
import { sequenceFaults } from './sequence.ts';

/** Checks that the trail shows the acts that the document states, and that the document states the acts that the trail shows. */
export function* trailFaults(document: EvidenceDocument, facts: TrailFacts, { people }: Known): Generator<Fault> {
  const { work_item, unlinked, scans } = document;
  yield* sequenceFaults(document, facts.sequence);
  for (const [, person] of actorsIn(document)) yield* actorFaults(person, EVIDENCE, { people, actors: facts.actors });
  yield* actingNameFaults(facts.actors, people);
  if (isOther(facts.created, work_item.created_by)) yield unproven(EVIDENCE, 'that this person created the work item');
  yield* recordedFaults(document, facts.recorded);
  yield* credentialFaults(document, facts.credentials);
  yield* approvalFaults(document, facts);
  yield* artifactFaults(document, facts.artifacts);
  yield* assetFaults(document, facts.assets);
  yield* sourceFaults(document, facts.removals);
  yield* packageFaults(document, facts.packages);
  for (const removed of unlinked) yield* removalFaults(removed, facts);
  for (const scan of scans) {
    yield* deliveryFaults(scan, facts.deliveries);
    const { id, confirmed } = scan;
    const act = facts.confirmed.get(id);
    if (act !== undefined && confirmed === null) yield omitted(`the confirmation of the scan ${id}`);
    if (confirmed !== null && (act === undefined || isOther(act, confirmed.by))) yield unproven(EVIDENCE, `that this person confirmed the scan ${id}`);
  }
}

/** Only a merge removes a finding without an act of its own. */
function* removalFaults({ id, by, at, reason, severity }: EvidenceDocument['unlinked'][number], facts: TrailFacts): Generator<Fault> {
  const act = facts.unlinked.get(id);
  if (act === undefined && !facts.merged.has(id)) yield unproven(EVIDENCE, `that the finding ${id} was removed from the work item`);
  if (act === undefined) return;
  if (isOther(act, by) || act.at !== at || (act.reason !== undefined && act.reason !== reason))
    yield unproven(EVIDENCE, `that this person removed the finding ${id} at this time and for this reason`);
  if (act.severity !== undefined && act.severity !== severity)
    yield { ...unproven(EVIDENCE, `that the finding ${id} had this severity when it was removed`), expected: String(act.severity), actual: severity };
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

/** The same for one finding. */
export function* findingTrailFaults(finding: Finding, facts: TrailFacts, { people, itemId }: Known): Generator<Fault> {
  const { id, state, claimed_at, claimed_by } = finding;
  for (const link of finding.work_items)
    if (link.id === itemId && !isShown(facts.linkedAt, link.linked_at)) yield unproven(FINDINGS, `that the finding ${id} was added to the work item then`);
  const last = facts.sequence.states.get(id) ?? 'open';
  if (last !== state)
    yield { code: 'state_false', file: FINDINGS, detail: `The finding ${id} is in another state by the audit trail.`, expected: last, actual: state };
  else yield* findingActFaults(finding, facts.acts.get(id));
  for (const person of actorsOf(finding)) yield* actorFaults(person, FINDINGS, { people, actors: facts.actors });
  if (claimed_at === null && claimed_by === null) return;
  const isClaimed = (facts.claims.get(id) ?? []).some(({ at, person }) => at === claimed_at && person === (claimed_by?.person ?? null));
  if (!isClaimed) yield unproven(FINDINGS, `the claim that the finding ${id} is fixed`);
}

/** Findings are added while the transaction of the event runs. */
const LINKING_MS = 600_000;

/** A package can have a hundred thousand findings that were added one by one. */
function isShown(times: readonly string[], linkedAt: string): boolean {
  let [low, high] = [0, times.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((times[middle] ?? '') <= linkedAt) low = middle + 1;
    else high = middle;
  }
  const last = times[low - 1];
  return last !== undefined && linkedAt <= later(last, LINKING_MS);
}

/** What the verifier keeps of the findings. */
export interface Population {
  /** The findings of the package, and those merged into them as well. */
  ids: Set<string>;
  listed: Set<string>;
  /** Their assets. */
  assets: Set<string>;
  /** Scans that showed a finding, and those that no longer did. */
  before: Set<string | null>;
  after: Set<string | null>;
  /** When the first of them was claimed as fixed, or closed. */
  firstEnd: string | null;
}

export function emptyPopulation(): Population {
  return { ids: new Set(), listed: new Set(), assets: new Set(), before: new Set(), after: new Set(), firstEnd: null };
}

export function addToPopulation(population: Population, { id, merged, asset, before, after, claimed_at, closed_at }: Finding): void {
  population.ids.add(id);
  population.assets.add(asset.id);
  for (const one of [id, ...merged.map((other) => other.id)]) population.listed.add(one);
  population.before.add(before.scan);
  if (after.state === 'absent') for (const scan of scansAfter({ after })) population.after.add(scan);
  const end = claimed_at ?? closed_at;
  if (end !== null && (population.firstEnd === null || end < population.firstEnd)) population.firstEnd = end;
}

/** Findings of the trail, or of a state that was approved, that the document lists nowhere, or in another state. */
export function* populationFaults(
  { unlinked }: EvidenceDocument,
  facts: TrailFacts,
  { listed, approved }: Population & { approved: ReadonlySet<string> },
): Generator<Fault> {
  const stated = new Set(unlinked.map(({ id }) => id));
  const isListed = (id: string): boolean => stated.has(id) || listed.has(id);
  for (const id of facts.unlinked.keys()) if (!isListed(id)) yield omitted(`the removal of the finding ${id} from the work item`);
  // The trail has no other findings than those that were ever on the work item.
  for (const id of new Set([...facts.linked, ...facts.acts.keys()]))
    if (!isListed(id) && !facts.merged.has(id) && !facts.unlinked.has(id)) yield omitted(`that the finding ${id} was on the work item`);
  for (const id of approved)
    if (!isListed(id) && !facts.merged.has(id)) yield { ...omitted(''), detail: `An approved state has the finding ${id}, but the document does not.` };
  for (const { id, state } of unlinked) {
    const last = facts.sequence.states.get(id) ?? 'open';
    if (last !== state)
      yield { code: 'state_false', file: EVIDENCE, detail: `The removed finding ${id} is in another state by the audit trail.`, expected: last, actual: state };
  }
}

/** Every scan that failed, or arrived since the first finding was called fixed, is listed, because it may still show one. Their phases follow from the findings. */
export function* scanListFaults({ scans }: EvidenceDocument, facts: TrailFacts, { before, after, firstEnd }: Population): Generator<Fault> {
  for (const { id, phase } of scans) {
    const expected = after.has(id) ? 'after' : before.has(id) ? 'before' : 'other';
    if (phase !== expected)
      yield { code: 'reference', file: EVIDENCE, detail: `The findings do not refer to the scan ${id} in this way.`, expected, actual: phase };
  }
  const stated = new Set(scans.map(({ id }) => id));
  const isNeeded = (id: string, at: string): boolean => facts.deliveries.outcomes.get(id) === 'failed' || (firstEnd !== null && at > later(firstEnd));
  for (const [id, { at }] of facts.deliveries.imported) if (!stated.has(id) && isNeeded(id, at)) yield omitted(`the scan ${id}`);
}
