import { fieldOf, topFolder, utf8 } from '@rrs/evidence-format';
import { approvalPath } from '../../src/recompute/files.ts';
import { buildPackage, type Recipe, zipOf } from '../../src/testing/build.ts';
import { linkTicket } from '../../src/testing/eventful.ts';
import { AT, ada, edsger, grace, IDS, PATHS } from '../../src/testing/sample.ts';
import { item, trailEvent } from '../../src/testing/sample-trail.ts';
import { failing, sealed, type Vector } from '../vector.ts';
import { add, lie, lieAboutFinding, lieInTrail, withoutFirst } from './lie.ts';

const LATE = '2026-12-01T00:00:00.000Z';
const EARLY = '2020-01-01T00:00:00.000Z';
const NOBODY = '01900000-0000-7000-8000-000000009999';

/** Grace rejected the work later. */
const rejected: Recipe = {
  facts: ({ approvals }, events) => {
    const id = IDS.connection;
    approvals.push({ id, decision: 'rejected', by: grace, at: AT.sealed, comment: 'no', state_sha256: '' });
    events.push(trailEvent(20, { at: AT.sealed, action: 'work_item.rejected', by: grace, object: item, after: { approval_id: id, comment: 'no' } }));
  },
};

/** The service made a ticket for the work item. */
const withTicket: Recipe = { facts: (facts, events) => linkTicket(facts, (event) => add(events, event)) };

/** A report that still named the finding could not be read, before anybody called the finding fixed. */
const failed: Recipe = {
  facts: ({ scans }, events) => {
    const [, after] = scans;
    if (after === undefined) return;
    const [at, object] = [AT.created, { type: 'import', id: NOBODY }];
    const delivery = { method: 'upload', by: ada, connection: null, pipeline: null } as const;
    scans.push({ ...after, id: NOBODY, phase: 'other', status: 'failed', names: ['CVE-2026-1001'], received_at: at, imported_at: null, file: null, delivery });
    const first = events.findIndex((event) => event.at > at);
    const created = trailEvent(21, { at, action: 'import.created', by: ada, object, after: { filename: 'report.json' } });
    events.splice(first, 0, created, trailEvent(22, { at, action: 'import.failed', object }));
  },
};

/** The scan, approval, artifact and policy that the work rests on are not as they look. */
const acts: Vector[] = [
  lieAboutFinding('fixed although the scan still shows it', ['standing'], { after: { state: 'present', scan: IDS.after, others: [], doubts: [] } }),
  lieAboutFinding('fixed although no scan says so', ['standing'], { after: { state: 'unknown', scan: null, others: [], doubts: [] } }),
  lieAboutFinding('fixed although it was only declared', ['standing'], { assurance: 'declared' }),
  lieAboutFinding('fixed although only an artifact says so', ['standing'], { assurance: 'artifact' }),
  lieAboutFinding('fixed although another scan shows it', ['standing'], { contradicted_by: IDS.before }),
  lieAboutFinding('fixed although the version was not scanned again', ['standing'], { version_rescanned: false }),
  lieAboutFinding('the scan before and after is the same', ['same_scan'], { after: { state: 'absent', scan: IDS.before, others: [], doubts: [] } }),
  failing(
    'false: the report before and after is the same',
    ['same_scan'],
    sealed({ originals: (files) => void files.set(PATHS.after, files.get(PATHS.before) ?? utf8('')) }),
  ),
  lie('a scan that failed is left out', ['omitted'], ({ scans }) => void scans.pop(), failed),
  lie('the scan after the fix was discarded', ['scan_unfit'], ({ scans }) => void Object.assign(scans[1] ?? {}, { status: 'discarded' })),
  lie('the scan after the fix is older than the claim', ['scan_unfit'], ({ scans }) => void Object.assign(scans[1] ?? {}, { ended_at: AT.created })),
  lie('the scan after the fix is older than the one before', ['scan_unfit'], ({ scans }) => void Object.assign(scans[0] ?? {}, { ended_at: AT.sealed })),
  lieAboutFinding('absent by no scan', ['scan_unfit'], { after: { state: 'absent', scan: null, others: [], doubts: [] } }),
  lie('another person created the work item', ['unproven'], (evidence) => {
    evidence.work_item.created_by = grace;
  }),
  lie('another person added the artifact', ['unproven'], ({ artifacts }) => void Object.assign(artifacts[0] ?? {}, { added_by: grace })),
  lie('a scan that nobody confirmed', ['unproven'], ({ scans }) => void Object.assign(scans[1] ?? {}, { confirmed: { by: grace, at: AT.sealed } })),
  lie('a package without HTML', ['file_reference'], ({ formats }) => void formats.splice(formats.indexOf('html'), 1)),
  lie('the scan after the fix is a copy', ['standing'], ({ scans }) => void Object.assign(scans[1] ?? {}, { copy_of: IDS.before })),
  lie('the scan after the fix names no tool', ['standing'], ({ scans }) => void Object.assign(scans[1] ?? {}, { self_described: true })),
  lie('the scan after the fix is not kept', ['gap_missing'], ({ scans }) => void Object.assign(scans[1] ?? {}, { file: null })),
  lie('an approval turned into a rejection', ['unproven'], ({ approvals }) => void Object.assign(approvals[0] ?? {}, { decision: 'rejected' })),
  lie('a rejection turned into an approval', ['unproven'], ({ approvals }) => void Object.assign(approvals[1] ?? {}, { decision: 'approved' }), rejected),
  lie('a rejection is left out', ['omitted'], ({ approvals }) => void approvals.pop(), rejected),
  lie('an approval by somebody else', ['unproven'], ({ approvals }) => void Object.assign(approvals[0] ?? {}, { by: edsger })),
  lie('an approval at another time', ['unproven'], ({ approvals }) => void Object.assign(approvals[0] ?? {}, { at: AT.verified })),
  lie(
    'an approval of another state',
    ['approval_state', 'unproven'],
    ({ approvals }) => void Object.assign(approvals[0] ?? {}, { state_sha256: '0'.repeat(64) }),
  ),
  lieInTrail(
    'an approval without its event',
    ['unproven'],
    withoutFirst(({ action }) => action === 'work_item.approved'),
  ),
  lieInTrail('approvals next to an empty audit trail', ['unproven'], () => []),
  failing('false: an approval without its state', ['file_reference'], sealed({ payload: (files) => void files.delete(approvalPath(IDS.approval)) })),
  failing(
    'false: the state of another work item was approved',
    ['approval_state'],
    sealed({ payload: (files) => void files.set(approvalPath(IDS.approval), utf8('{"organization_id":"x","work_item_id":"y"}\n')) }),
  ),
  failing(
    'false: the approved state is nothing',
    ['approval_state'],
    sealed({ payload: (files) => void files.set(approvalPath(IDS.approval), utf8('null\n')) }),
  ),
  lieInTrail(
    'a claim without its event',
    ['unproven'],
    withoutFirst(({ action }) => action === 'finding.status_changed'),
  ),
  lieAboutFinding('a claim by somebody else', ['unproven'], { claimed_by: grace }),
  lieAboutFinding('a claim at another time', ['unproven'], { claimed_at: AT.created }),
  lieInTrail(
    'verified although the audit trail says claimed',
    ['state_false'],
    withoutFirst(({ after }) => fieldOf(after, 'status') === 'verified'),
  ),
  lieInTrail('verified although it was reopened', ['state_false'], (events) => [
    ...events,
    trailEvent(20, { at: AT.sealed, action: 'finding.reopened', object: { type: 'finding', id: IDS.findings[0] }, after: { status: 'open' } }),
  ]),
  lieInTrail('a finding that was removed from the work item is left out', ['omitted'], (events) => [
    ...events,
    trailEvent(20, { at: AT.sealed, action: 'work_item.finding_unlinked', by: ada, object: item, after: { finding_id: NOBODY } }),
  ]),
  lie('an artifact is left out', ['file_reference', 'omitted'], (evidence) => {
    Object.assign(evidence, { artifacts: [], collection: [] });
  }),
  { name: 'good: a ticket of the work item', verdict: 'verified', codes: [], make: sealed(withTicket) },
  lie('a ticket of the work item is left out', ['omitted'], ({ artifacts }) => void artifacts.pop(), withTicket),
  lie('a ticket that a person added', ['unproven'], ({ artifacts: [, ticket] }) => void Object.assign(ticket ?? {}, { added_by: grace }), withTicket),
  lie('a ticket that is called a test', ['unproven'], ({ artifacts: [, ticket] }) => void Object.assign(ticket ?? {}, { type: 'test_result' }), withTicket),
  lie(
    'an artifact was superseded',
    ['unproven'],
    ({ artifacts: [first, ticket] }) => void Object.assign(first ?? {}, { superseded_by: ticket?.id }),
    withTicket,
  ),
  lieInTrail('a superseded artifact is shown as the current one', ['omitted'], (events) => [
    ...events,
    trailEvent(20, {
      at: AT.sealed,
      action: 'artifact.superseded',
      by: ada,
      object: { type: 'artifact', id: IDS.artifact },
      after: { work_item_id: IDS.workItem, superseded_by: NOBODY },
    }),
  ]),
  lieInTrail('a removed artifact is still shown', ['omitted'], (events) => [
    ...events,
    trailEvent(20, {
      at: AT.sealed,
      action: 'artifact.removed',
      by: ada,
      object: { type: 'artifact', id: IDS.artifact },
      after: { work_item_id: IDS.workItem },
    }),
  ]),
  lieInTrail('the confirmation of a scan is left out', ['omitted'], (events) => [
    ...events,
    trailEvent(20, { at: AT.sealed, action: 'import.confirmed', by: ada, object: { type: 'import', id: IDS.after } }),
  ]),
];

const order: Vector[] = [
  lie('sealed before its scans', ['time_order'], (evidence) => {
    evidence.generated_at = AT.created;
    evidence.as_of = AT.created;
  }),
  lie('as_of after generated_at', ['time_order'], (evidence) => {
    evidence.as_of = '2026-03-04T05:07:00.000Z';
  }),
  lie('a scan that was received later', ['time_order'], ({ scans }) => void Object.assign(scans[1] ?? {}, { received_at: LATE })),
  lie('a scan that was imported before it was received', ['time_order'], ({ scans }) => void Object.assign(scans[1] ?? {}, { imported_at: AT.created })),
  lie('an artifact from the future', ['time_order'], ({ artifacts }) => void Object.assign(artifacts[0] ?? {}, { added_at: LATE })),
  lieAboutFinding('closed before it was seen', ['time_order'], { closed_at: EARLY }),
  lieAboutFinding('verified before the claim', ['time_order'], { state_changed_at: AT.created }),
  lieAboutFinding('last seen before it was first seen', ['time_order'], { last_seen: EARLY }),
  lieInTrail('events in another order', ['time_order'], (events) => events.toReversed()),
  lieInTrail('an event from the future', ['time_order'], (events) => [...events, trailEvent(20, { at: LATE, action: 'package.viewed', object: item })]),
  lie('no policy', ['policy_order'], (evidence) => {
    evidence.policies = [];
  }),
  lie('policies in another order', ['policy_order'], ({ policies }) => {
    policies.push(...policies.map((policy) => ({ ...policy, effective_from: EARLY, changed_by: edsger })));
  }),
  lie('a changed policy without a person', ['policy_order'], ({ policies }) => {
    policies.push(...policies.map((policy) => ({ ...policy, effective_from: AT.created })));
  }),
];

const references: Vector[] = [
  lie('no earlier package although this is the second', ['earlier'], (evidence) => {
    evidence.earlier = [];
  }),
  lie('an earlier package with the wrong sequence', ['earlier'], ({ earlier }) => void Object.assign(earlier[0] ?? {}, { sequence: 3 })),
  lie('a failed package with a hash', ['earlier'], ({ earlier }) => void Object.assign(earlier[0] ?? {}, { outcome: 'failed' })),
  lie('an earlier package that is later in the log', ['log_facts'], ({ earlier }) => void Object.assign(earlier[0] ?? {}, { log: { epoch: 1, index: 40 } })),
  lieAboutFinding('a scan that is not in the package', ['reference'], { before: { state: 'present', scan: NOBODY } }),
  lieAboutFinding('an asset that is not in the package', ['reference'], { asset: { id: NOBODY, type: 'host', name: 'web-1' } }),
  lieAboutFinding('an asset with another name', ['reference'], { asset: { id: IDS.asset, type: 'host', name: 'web-2' } }),
  lieAboutFinding('a finding of another work item', ['reference'], { work_items: [{ id: NOBODY, linked_at: AT.created, unlinked_at: null }] }),
  lie('a person who is not in the package', ['reference'], ({ requested_by }) => void Object.assign(requested_by, { person: NOBODY })),
  lie('an artifact that is not in the package', ['reference'], ({ artifacts }) => void Object.assign(artifacts[0] ?? {}, { superseded_by: NOBODY })),
  lie('a scan that is listed twice', ['reference'], ({ scans }) => void scans.push(...scans.slice(1))),
  lie('a scan with another file', ['file_reference'], ({ scans }) => void Object.assign(scans[0] ?? {}, { file: 'data/scans/before/none' })),
  lie('a scan with another hash', ['file_reference'], ({ scans }) => void Object.assign(scans[0] ?? {}, { sha256: '0'.repeat(64) })),
  failing('false: the folder of another package', ['folder'], async () => {
    const built = await buildPackage();
    return { zip: await zipOf({ ...built, folder: topFolder(IDS.workItem, 3) }), trust: built.trust };
  }),
  failing('false: a file that nothing names', ['file_reference'], sealed({ payload: (files) => void files.set('data/scans/after/more', utf8('more')) })),
  failing('false: no findings.csv although it is listed', ['file_reference'], sealed({ payload: (files) => void files.delete('data/findings.csv') })),
  lie('another log', ['log_facts'], ({ log }) => void Object.assign(log, { origin: `elsewhere.example/orgs/${IDS.organization}` })),
  lie('a log that started earlier', ['log_facts'], ({ log }) => void Object.assign(log, { started_at: EARLY })),
  lie('another epoch of the log', ['log_facts'], ({ log }) => void Object.assign(log, { epoch: 2 })),
  lie('a timestamp that is not there', ['gap_false', 'log_facts'], (evidence) => {
    evidence.timestamped = true;
  }),
  lie('an abandoned log entry that is not in the log', ['gap_missing', 'log_facts'], ({ abandoned_leaves }) => {
    abandoned_leaves.push({ index: 2, leaf_sha256: '0'.repeat(64) });
  }),
];

export const falseFacts: Vector[] = [...acts, ...order, ...references];
