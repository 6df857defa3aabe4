import { type EvidenceDocument, type Finding, recordedAt } from '@rrs/evidence-format';
import { EVIDENCE, type Fault, FINDINGS } from './fault.ts';

/** A transaction that began just after `as_of` can still be part of the state that was read. */
const SNAPSHOT_MS = 1000;
/** A finding is closed at the time of the scan, and the clock of a scanner may be ahead. */
export const SCANNER_CLOCK_MS = 15 * 60_000;

interface Event {
  what: string;
  at: string | null;
}

/** Checks that the times of the document can have happened in their order. */
export function* timeFaults(document: EvidenceDocument): Generator<Fault> {
  const { as_of, generated_at, work_item: item, log } = document;
  yield* inOrder(EVIDENCE, [
    { what: 'as_of', at: as_of },
    { what: 'generated_at', at: generated_at },
  ]);
  yield* inOrder(EVIDENCE, [
    { what: 'The start of the log', at: log.started_at },
    { what: 'generated_at', at: generated_at },
  ]);
  yield* inOrder(EVIDENCE, [
    { what: 'The creation of the work item', at: item.created_at },
    { what: 'its end', at: item.closed_at },
  ]);
  for (const event of eventsOf(document)) yield* notAfter(EVIDENCE, event, as_of);
  yield* chains(document);
  yield* policyFaults(document);
}

function* eventsOf({ work_item: item, unlinked, scans, artifacts, approvals, collection, sources, assets }: EvidenceDocument): Generator<Event> {
  yield { what: 'The creation of the work item', at: item.created_at };
  yield { what: 'The end of the work item', at: item.closed_at };
  for (const { id, at } of unlinked) yield { what: `The removal of the finding ${id}`, at };
  for (const { id, received_at, imported_at, confirmed } of scans) {
    yield { what: `The receipt of the scan ${id}`, at: received_at };
    yield { what: `The import of the scan ${id}`, at: imported_at };
    yield { what: `The confirmation of the scan ${id}`, at: confirmed?.at ?? null };
  }
  for (const { id, added_at, removed } of artifacts) {
    yield { what: `The artifact ${id}`, at: added_at };
    yield { what: `The removal of the artifact ${id}`, at: removed?.at ?? null };
  }
  for (const { id, at } of approvals) yield { what: `The approval ${id}`, at };
  for (const { file, collected_at } of collection) yield { what: `The collection of ${file}`, at: collected_at };
  for (const { source, removed_at, last_scan_at } of sources) {
    yield { what: `The removal of the source ${source}`, at: removed_at };
    yield { what: `The last scan of the source ${source}`, at: last_scan_at };
  }
  for (const { id, retired_at } of assets) yield { what: `The end of the asset ${id}`, at: retired_at };
}

function* chains({ work_item: item, scans, artifacts, approvals, sources }: EvidenceDocument): Generator<Fault> {
  for (const { id, received_at, imported_at, confirmed } of scans) {
    const received = { what: `The receipt of the scan ${id}`, at: received_at };
    yield* inOrder(EVIDENCE, [received, { what: 'its import', at: imported_at }]);
    yield* inOrder(EVIDENCE, [received, { what: 'its confirmation', at: confirmed?.at ?? null }]);
  }
  for (const { id, added_at, removed } of artifacts)
    yield* inOrder(EVIDENCE, [
      { what: `The artifact ${id}`, at: added_at },
      { what: 'its removal', at: removed?.at ?? null },
    ]);
  for (const { id, at } of approvals)
    yield* inOrder(EVIDENCE, [
      { what: 'The creation of the work item', at: item.created_at },
      { what: `the approval ${id}`, at },
    ]);
  for (const { source, last_complete_at, last_scan_at } of sources)
    yield* inOrder(EVIDENCE, [
      { what: `The last complete scan of the source ${source}`, at: last_complete_at },
      { what: 'its last scan', at: last_scan_at },
    ]);
}

/** Deadlines follow from the policies, so a version that is out of place would change them. */
function* policyFaults({ policies, as_of }: EvidenceDocument): Generator<Fault> {
  if (policies.length === 0) yield { code: 'policy_order', file: EVIDENCE, detail: '`policies` is empty, but a policy was always in force.' };
  for (const [index, { effective_from, changed_by }] of policies.entries()) {
    const before = policies[index - 1];
    if (before !== undefined && before.effective_from >= effective_from)
      yield { code: 'policy_order', file: EVIDENCE, detail: `Policy ${index + 1} is not later than the one before it.`, actual: effective_from };
    if (before !== undefined && changed_by === null)
      yield { code: 'policy_order', file: EVIDENCE, detail: `Policy ${index + 1} does not name who changed it.` };
    if (effective_from > later(as_of))
      yield { code: 'policy_order', file: EVIDENCE, detail: `Policy ${index + 1} is later than as_of.`, actual: effective_from };
  }
}

/** The same for one finding. */
export function* findingTimeFaults(finding: Finding, { as_of }: Pick<EvidenceDocument, 'as_of'>): Generator<Fault> {
  const { id, first_seen, last_seen, clock_started_at, closed_at, claimed_at, state_changed_at, override, work_items, occurrences, merged, kev_since } =
    finding;
  const named = (what: string, at: string | null): Event => ({ what: `${what} of the finding ${id}`, at });
  yield* inOrder(FINDINGS, [named('first_seen', first_seen), { what: 'its last_seen', at: last_seen }]);
  yield* inOrder(FINDINGS, [named('first_seen', first_seen), { what: 'its clock_started_at', at: clock_started_at }]);
  yield* inOrder(FINDINGS, [named('first_seen', first_seen), { what: 'its closed_at', at: closed_at }]);
  // The service knows a finding at the latest when it records it, and its deadline starts then at the latest.
  for (const one of [id, ...merged.map((other) => other.id)])
    yield* inOrder(FINDINGS, [named('first_seen', first_seen), { what: `the time in the ID ${one}`, at: recordedAt(one) }]);
  if (finding.state === 'verified') yield* inOrder(FINDINGS, [named('claimed_at', claimed_at), { what: 'its verification', at: state_changed_at }]);
  const events = [
    named('clock_started_at', clock_started_at),
    named('claimed_at', claimed_at),
    named('state_changed_at', state_changed_at),
    named('The severity override', override?.at ?? null),
    named('last_seen', last_seen),
    named('kev_since', kev_since),
  ];
  for (const { linked_at, unlinked_at } of work_items) {
    yield* inOrder(FINDINGS, [named('A link', linked_at), { what: 'its end', at: unlinked_at }]);
    events.push(named('A link', linked_at), named('The end of a link', unlinked_at));
  }
  for (const occurrence of occurrences) {
    yield* inOrder(FINDINGS, [named('first_seen', first_seen), { what: 'the start of an occurrence', at: occurrence.first_seen }]);
    yield* inOrder(FINDINGS, [named('The start of an occurrence', occurrence.first_seen), { what: 'its end', at: occurrence.last_seen }]);
  }
  for (const event of events) yield* notAfter(FINDINGS, event, as_of);
  yield* notAfter(FINDINGS, named('closed_at', closed_at), later(as_of, SCANNER_CLOCK_MS));
}

/** Times have one fixed form, so their texts sort like the times. */
function* inOrder(file: string, [first, second]: [Event, Event]): Generator<Fault> {
  if (first.at === null || second.at === null || first.at <= second.at) return;
  yield { code: 'time_order', file, detail: `${first.what} is later than ${second.what}.`, expected: `at or before ${second.at}`, actual: first.at };
}

function* notAfter(file: string, { what, at }: Event, asOf: string): Generator<Fault> {
  if (at === null || at <= later(asOf)) return;
  yield { code: 'time_order', file, detail: `${what} is later than as_of.`, expected: `at or before ${asOf}`, actual: at };
}

export function later(asOf: string, by = SNAPSHOT_MS): string {
  return new Date(Date.parse(asOf) + by).toISOString();
}
