import type { Evidence, TrailEvent } from '@rrs/evidence-format';
import type { Recipe } from '../../src/testing/build.ts';
import { AT, edsger, grace, IDS } from '../../src/testing/sample.ts';
import { trailEvent } from '../../src/testing/sample-trail.ts';
import { atLeast, failing, sealed, type Vector } from '../vector.ts';
import { lie, withoutFirst } from './lie.ts';

/** Grace was an auditor first, and the policy was changed once. */
const eventful: Recipe = {
  facts: ({ policies, people }, events) => {
    const [first] = policies;
    Object.assign(people[1] ?? {}, { credential_from: IDS.edsger });
    if (first === undefined) return;
    const after = { ...first, effective_from: AT.claimed, changed_by: edsger, sla: { ...first.sla, high: 60 } };
    policies.push(after);
    const recorded = ({ sla, four_eyes, brake: { findings: count, share }, source_ranking, retention: { reports, runs } }: typeof first) => ({
      policy: { sla, four_eyes, brake: { count, share }, source_ranking, retention: { report_days: reports, run_days: runs }, frameworks: [] },
    });
    const organization = { type: 'organization', id: IDS.organization };
    insert(events, { at: AT.claimed, action: 'organization.updated', object: organization, before: recorded(first), after: recorded(after) });
    const member = { email: 'grace@acme.example', name: 'Grace' };
    insert(events, { at: AT.policy, action: 'member.added', object: { type: 'member', id: IDS.grace }, after: { ...member, role: 'auditor' } });
    insert(events, { at: AT.seen, action: 'member.updated', object: { type: 'member', id: IDS.grace }, after: { ...member, role: 'owner' } });
  },
};

function insert(events: TrailEvent[], event: Parameters<typeof trailEvent>[1]): void {
  const at = events.findIndex((other) => other.at > event.at);
  events.splice(at === -1 ? events.length : at, 0, trailEvent(50 + events.length, { by: edsger, ...event }));
}

const lies: Record<string, (evidence: Evidence) => void> = {
  'another title': ({ work_item }) => void Object.assign(work_item, { title: 'Update everything' }),
  'another description': ({ work_item }) => void Object.assign(work_item, { description: 'All hosts' }),
  'another assignee': ({ work_item }) => void Object.assign(work_item, { assignee: 'Grace' }),
  'a deadline that nobody set': ({ work_item }) => void Object.assign(work_item, { due_at: AT.sealed }),
  'another status': ({ work_item }) => void Object.assign(work_item, { status: 'closed_with_exceptions' }),
  'closed earlier': ({ work_item }) => void Object.assign(work_item, { closed_at: AT.rescanned }),
  'created earlier': ({ work_item }) => void Object.assign(work_item, { created_at: AT.received }),
  'a note that the request does not have': (evidence) => void Object.assign(evidence, { note: 'final' }),
  'an artifact with another name': ({ artifacts }) => void Object.assign(artifacts[0] ?? {}, { filename: 'approval.txt' }),
  'an artifact that was added earlier': ({ artifacts }) => void Object.assign(artifacts[0] ?? {}, { added_at: AT.claimed }),
  'a scan that was received earlier': ({ scans }) => void Object.assign(scans[0] ?? {}, { received_at: AT.seen }),
  'a report with another name': ({ scans }) => void Object.assign(scans[1] ?? {}, { filename: 'complete.json' }),
  'nobody else gave a credential': ({ people }) => void Object.assign(people[1] ?? {}, { credential_from: null }),
  'another role': ({ people }) => void Object.assign(people[1] ?? {}, { role: 'auditor' }),
  'another e-mail address': ({ people }) => void Object.assign(people[1] ?? {}, { email: 'grace@auditor.example' }),
  'a policy that was never in force': ({ policies }) => void Object.assign(policies[1]?.sla ?? {}, { low: 400 }),
  'another first policy': ({ policies }) => void Object.assign(policies[0]?.sla ?? {}, { low: 400 }),
  'other frameworks than those of the last policy': (evidence) => void Object.assign(evidence, { frameworks: ['PCI DSS 4.0.1'] }),
  'a change of the policy is left out': ({ policies }) => void policies.pop(),
  'a change of the policy at another time': ({ policies }) => void Object.assign(policies[1] ?? {}, { effective_from: AT.created }),
};

/** Statements that differ from what the audit trail records about the same thing. */
export const recorded: Vector[] = [
  { name: 'good: members and policies that changed', verdict: 'verified', codes: [], make: sealed(eventful) },
  ...Object.entries(lies).map(([name, change]) => lie(name, ['recorded_otherwise'], change, eventful)),
  lie('an approval with another comment', ['unproven'], ({ approvals }) => void Object.assign(approvals[0] ?? {}, { comment: 'Checked on site' })),
  lie('another person requested the package', ['unproven'], (evidence) => void Object.assign(evidence, { requested_by: grace })),
  atLeast(failing('false: a package that nobody requested', ['unproven'], sealed({ trail: withoutFirst(({ object }) => object.id === IDS.package) }))),
  lie('an upload that is called a connection', ['collection'], ({ collection }) => void Object.assign(collection[0] ?? {}, { method: 'upload' })),
  lie('a file that was collected from elsewhere', ['collection'], ({ collection }) => void Object.assign(collection[1] ?? {}, { source: 'scanner-2.example' })),
  lie('a collected file is left out', ['collection'], ({ collection }) => void collection.shift()),
];
