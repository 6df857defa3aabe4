import type { Evidence } from '../../../../document/evidence.ts';
import { DISPOSITIONS, dispositionOf } from '../../dispositions.ts';
import { decisionWords } from '../../words/decisions.ts';
import { personWords } from '../../words/labels.ts';
import { count, grouped, second } from '../../words/numbers.ts';
import { clipped } from '../../words/printable.ts';
import { LENGTH, MOST } from '../limits.ts';
import { line, type Section, table, words } from '../model.ts';
import type { Names } from '../names.ts';

interface Event {
  at: string;
  who: string;
  what: string;
}

/** The main events, with findings that changed at the same time in one row. The audit trail has every event. */
export function timelineSection(evidence: Evidence, names: Names): Section {
  const events = eventsOf(evidence, names).sort((one, other) => (one.at < other.at ? -1 : one.at > other.at ? 1 : 0));
  const half = MOST.events / 2;
  const shown = events.length <= MOST.events ? events : [...events.slice(0, half), ...events.slice(-half)];
  const left = events.length - shown.length;
  return {
    id: 'timeline',
    heading: 'Timeline',
    blocks: [
      words(
        `${left > 0 ? `The first and the last ${half} of ${grouped(events.length)} main events. ` : 'The main events. '}data/audit-trail.jsonl has all ${count(evidence.audit_trail.events, 'event')}.`,
      ),
      ...table(
        'Timeline',
        { 'When (UTC)': 20, Who: 28, What: 52 },
        { rows: shown.map(({ at, who, what }) => [[line(second(at))], [line(clipped(who, LENGTH.name))], [line(clipped(what, LENGTH.text))]]) },
      ),
    ],
  };
}

function eventsOf(evidence: Evidence, names: Names): Event[] {
  const { work_item, approvals, artifacts, decisions, requested_by, generated_at } = evidence;
  return [
    { at: work_item.created_at, who: personWords(work_item.created_by), what: 'Created the work item' },
    ...names.scans.map(({ id, received_at, delivery, tool }) => ({
      at: received_at,
      who: delivery.connection?.name ?? personWords(delivery.by),
      what: `Delivered ${names.of(id)}, a report of ${tool}`,
    })),
    ...findingEvents(evidence),
    ...decisions.map(({ at, by, kind, findings }) => ({
      at,
      who: by.name,
      what: `${decisionWords(kind)}${findings.count > 0 ? ` (${count(findings.count, 'finding')})` : ''}`,
    })),
    ...artifacts.map(({ id, added_at, added_by, title }) => ({ at: added_at, who: personWords(added_by), what: `Added ${names.of(id)}: ${title}` })),
    ...approvals.map(({ id, at, by, decision }) => ({
      at,
      who: personWords(by),
      what: `${decision === 'approved' ? 'Approved' : 'Rejected'} the work (${names.of(id)})`,
    })),
    ...(work_item.closed_at === null ? [] : [{ at: work_item.closed_at, who: 'The service', what: 'Closed the work item' }]),
    { at: generated_at, who: personWords(requested_by), what: 'Requested this package, which the service generated' },
  ];
}

/** A scan that closes a finding is named as such, not the person who claimed the fix. */
function findingEvents({ findings }: Evidence): Event[] {
  const numbers = new Map<string, Event & { number: number }>();
  const add = (event: Event) => {
    const key = `${event.at} ${event.who} ${event.what}`;
    const known = numbers.get(key) ?? { ...event, number: 0 };
    numbers.set(key, { ...known, number: known.number + 1 });
  };
  for (const finding of findings) {
    const { first_seen, claimed_at, claimed_by, closed_at, state_changed_at, cause, decided_by } = finding;
    add({ at: first_seen, who: 'A scan', what: 'first seen' });
    if (claimed_at !== null) add({ at: claimed_at, who: claimed_by === null ? 'Unknown' : personWords(claimed_by), what: 'claimed as fixed' });
    const who = cause === 'scan' ? 'A scan' : decided_by === null ? 'The service' : personWords(decided_by);
    if (closed_at !== null) add({ at: state_changed_at, who, what: DISPOSITIONS[dispositionOf(finding)].phrase });
  }
  return [...numbers.values()].map(({ at, who, what, number }) => ({ at, who, what: `${count(number, 'finding')} ${what}` }));
}
