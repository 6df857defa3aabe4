import { canonicalJson, type EvidenceDocument, fieldOf, isClosedItem, type TrailEvent } from '@rrs/evidence-format';
import { EVIDENCE, type Fault } from '../fault.ts';

/** What the audit trail says about one object: the last value of each field. */
interface Recorded {
  /** Time and person of the first event. */
  at: string;
  person: string | null;
  values: Map<string, unknown>;
}

export interface RecordedValues {
  /** By the ID of the object. */
  objects: Map<string, Recorded>;
  /** Changes of the policy, oldest first. */
  policies: { at: string; person: string | null; before: unknown; after: unknown }[];
}

/** Events whose `after` has fields of the object. Other events have facts of their own there. */
const RECORDING = new Set([
  'artifact.added',
  'import.created',
  'member.added',
  'member.updated',
  'member.removed',
  'organization.updated',
  'package.requested',
  'work_item.created',
  'work_item.updated',
  'work_item.status_changed',
]);

/** Adds the next event. */
export function recordValues(recorded: RecordedValues, { at, action, actor, object, before, after }: TrailEvent): void {
  if (!RECORDING.has(action)) return;
  const known = recorded.objects.get(object.id) ?? { at, person: actor.person, values: new Map() };
  recorded.objects.set(object.id, known);
  for (const [name, value] of Object.entries(after !== null && typeof after === 'object' ? after : {})) known.values.set(name, value);
  if (action === 'work_item.created') known.values.set('created_at', at).set('status', 'open').set('closed_at', null);
  if (action === 'work_item.status_changed') known.values.set('closed_at', isClosedItem(known.values.get('status')) ? at : null);
  if (action === 'artifact.added') known.values.set('added_at', at);
  if (action === 'import.created') known.values.set('received_at', at);
  if (action === 'organization.updated' && fieldOf(after, 'policy') !== undefined)
    recorded.policies.push({ at, person: actor.person, before: fieldOf(before, 'policy'), after: fieldOf(after, 'policy') });
  if (action === 'member.removed') known.values.set('role', null);
}

/** Statements of the document that differ from what the trail says about the same field. */
export function* recordedFaults(document: EvidenceDocument, recorded: RecordedValues): Generator<Fault> {
  const { work_item, organization, artifacts, people, scans, package_id, sequence, note } = document;
  if (!recorded.objects.has(work_item.id)) yield missing('the creation of the work item');
  const request = recorded.objects.get(package_id);
  if (request === undefined) yield missing('the request for this package');
  else if (request.person !== document.requested_by.person) yield missing('that this person requested the package');
  yield* differences(recorded, 'the work item', work_item);
  yield* differences(recorded, 'the organization', organization);
  yield* differences(recorded, 'the package', { id: package_id, sequence, note });
  yield* policyFaults(document, recorded);
  yield* frameworkFaults(document, recorded);
  for (const artifact of artifacts) yield* differences(recorded, `the artifact ${artifact.id}`, artifact);
  for (const person of people) yield* differences(recorded, `the person ${person.id}`, person);
  for (const { id, filename, sha256, received_at } of scans) yield* differences(recorded, `the scan ${id}`, { id, filename, sha256, received_at });
}

/** The first policy is what the first change found. Each further one is a change. */
function* policyFaults({ policies: [first, ...changed] }: EvidenceDocument, { policies: recorded }: RecordedValues): Generator<Fault> {
  if (first === undefined) return;
  const changes = recorded.filter(({ at }) => at > first.effective_from);
  const expected = [
    ...changes.slice(0, 1).map(({ before }) => inForce(before)),
    ...changes.map(({ at, person, after }) => `${at} ${person} ${inForce(after)}`),
  ];
  const actual = [
    ...(changes.length > 0 ? [inForce(first)] : []),
    ...changed.map((policy) => `${policy.effective_from} ${policy.changed_by?.person ?? null} ${inForce(policy)}`),
  ];
  const at = [...expected, ...actual].findIndex((_, index) => expected[index] !== actual[index]);
  if (at !== -1 && at < Math.max(expected.length, actual.length))
    yield { ...otherwise(`of policy ${at + 1}`), expected: expected[at] ?? 'no change', actual: actual[at] ?? 'no change' };
}

/** The policy has the frameworks too, but a package states only those of the last one. */
function* frameworkFaults({ frameworks }: EvidenceDocument, { policies }: RecordedValues): Generator<Fault> {
  const chosen = fieldOf(policies.at(-1)?.after, 'frameworks');
  const [expected, actual] = [canonicalJson(chosen ?? frameworks), canonicalJson(frameworks)];
  if (expected !== actual) yield { ...otherwise('of `frameworks`'), expected, actual };
}

/** What counts for packages. The audit trail calls the number of findings of the brake `count`, and the retention is in `…_days`. */
function inForce(policy: unknown): string {
  const brake = fieldOf(policy, 'brake');
  const limits = { findings: fieldOf(brake, 'findings') ?? fieldOf(brake, 'count'), share: fieldOf(brake, 'share') };
  const retention = fieldOf(policy, 'retention');
  const days = {
    reports: fieldOf(retention, 'reports') ?? fieldOf(retention, 'report_days'),
    runs: fieldOf(retention, 'runs') ?? fieldOf(retention, 'run_days'),
  };
  return canonicalJson({
    sla: fieldOf(policy, 'sla'),
    four_eyes: fieldOf(policy, 'four_eyes'),
    brake: limits,
    source_ranking: fieldOf(policy, 'source_ranking'),
    retention: days,
  });
}

function* differences<T extends { id: string }>(recorded: RecordedValues, what: string, stated: T): Generator<Fault> {
  const values = recorded.objects.get(stated.id)?.values;
  if (values === undefined) return;
  for (const [field, actual] of Object.entries(stated)) {
    const expected = values.get(field);
    if (!values.has(field) || expected === actual) continue;
    yield { ...otherwise(`of \`${field}\` for ${what}`), expected: JSON.stringify(expected), actual: JSON.stringify(actual) };
  }
}

function otherwise(what: string): Fault {
  return { code: 'recorded_otherwise', file: EVIDENCE, detail: `The audit trail records another value ${what}.` };
}

function missing(what: string): Fault {
  return { code: 'unproven', file: EVIDENCE, detail: `The audit trail does not show ${what}.` };
}
