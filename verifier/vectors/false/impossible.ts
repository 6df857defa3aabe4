import type { Evidence, Finding, TrailEvent } from '@rrs/evidence-format';
import { AT, ada, edsger, grace, IDS, id } from '../../src/testing/sample.ts';
import { trailEvent } from '../../src/testing/sample-trail.ts';
import type { Vector } from '../vector.ts';
import { add, againstTrail, lie, lieAboutFinding, lieInTrail } from './lie.ts';

const LATE = '2026-12-01T00:00:00.000Z';
const NOBODY = id(9999);
const object = { type: 'asset', id: IDS.asset };
/** An ID that was made at `LATE`. */
const MADE_LATE = '01a22ee6-b000-7000-8000-000000000001';

type Change<T> = (change: Partial<T>) => (evidence: Evidence) => void;
const before: Change<Evidence['scans'][number]> = (change) => (evidence) => void Object.assign(evidence.scans[0] ?? {}, change);
const after: Change<Evidence['scans'][number]> = (change) => (evidence) => void Object.assign(evidence.scans[1] ?? {}, change);
const asset: Change<Evidence['assets'][number]> = (change) => (evidence) => void Object.assign(evidence.assets[0] ?? {}, change);
const source: Change<Evidence['sources'][number]> = (change) => (evidence) => void Object.assign(evidence.sources[0] ?? {}, change);
const earlier: Change<Evidence['earlier'][number]> = (change) => (evidence) => void Object.assign(evidence.earlier[0] ?? {}, change);
const places = (change: Partial<Finding['occurrences'][number]>) => (evidence: Evidence) =>
  void Object.assign(evidence.findings[0]?.occurrences[0] ?? {}, change);

const against: Vector[] = [
  lie('a scan that ended before it began', ['contradiction'], before({ started_at: AT.created })),
  lie('verified by a scan that ended after it was received', ['scan_unfit'], after({ ended_at: AT.sealed })),
  lie('verified by a scan that ended before its knowledge', ['scan_unfit'], after({ original: 'bytes', knowledge_at: AT.sealed })),
  lie('verified by a scan of a tool that never showed the finding', ['scan_unfit', 'contradiction'], after({ tool: 'other scanner' })),
  lie('a scan without records that showed a finding', ['contradiction'], before({ records: 0 })),
  lie('a complete scan with doubts about what it covered', ['contradiction'], after({ doubts: ['partial_coverage'] })),
  lie('an incomplete scan without doubts', ['contradiction'], after({ complete: false })),
  lie('rejected records of which the doubts say nothing', ['contradiction'], after({ rejected: 1 })),
  lie('a scan that was applied at no time', ['contradiction'], after({ imported_at: null })),
  lie('a scan that is a copy of itself', ['contradiction'], after({ copy_of: IDS.after })),
  lie('a scan that was applied and names vulnerabilities', ['contradiction'], after({ names: ['CVE-2026-1001'] })),
  lie('what a connection collected is called the original', ['unproven'], after({ original: 'bytes' })),
  lie('somebody else than the connection delivered the scan', ['contradiction'], ({ scans }) => {
    Object.assign(scans[1]?.delivery.by ?? {}, { name: 'Another scanner' });
  }),
  lie('a scan that nobody received', ['unproven'], ({ scans }) => {
    scans.push(...scans.slice(1).map((scan) => ({ ...scan, id: NOBODY, phase: 'other' as const, file: null, sha256: '7'.repeat(64) })));
  }),
  lieAboutFinding('more places than are listed', ['contradiction'], { occurrence_count: 3 }),
  lie('a place that another source saw', ['contradiction'], places({ source: 'other scanner' })),
  lie('gone, and still at a place', ['contradiction'], places({ state: 'present' })),
  lieAboutFinding('gone, and suppressed', ['contradiction'], { suppressed: true }),
  lieAboutFinding('seen after as_of', ['time_order'], { last_seen: LATE }),
  lieAboutFinding('one CVE twice', ['contradiction'], { cves: ['CVE-2026-1001', 'CVE-2026-1001'] }),
  lieAboutFinding('a CVSS vector of another version', ['contradiction'], { cvss: { version: '4.0', vector: 'CVSS:3.1/AV:N', score: 7.5 } }),
  lieAboutFinding('a date of a catalog that does not have the finding', ['contradiction'], { kev: false, kev_since: AT.seen }),
  lieAboutFinding('added to a catalog after as_of', ['time_order'], { kev: true, kev_since: LATE }),
  lieAboutFinding('an EPSS rating of the future', ['contradiction'], { epss: { score: 0.1, date: '2031-01-01' } }),
  lieAboutFinding('a fix of the future', ['contradiction'], { fix_published_date: '2031-01-01' }),
  lie('an organization whose name reverses text', ['schema'], ({ organization }) => void Object.assign(organization, { name: 'Acme \u202Eetihw' })),
  lie('an asset whose name has an invisible character', ['schema'], (evidence) => {
    const name = 'web\u200B-1';
    asset({ name })(evidence);
    for (const finding of evidence.findings) finding.asset.name = name;
  }),
  lie('a person whose name has an invisible joiner', ['schema'], ({ people }) => void Object.assign(people[1] ?? {}, { name: 'Gra\u200Dce' })),
  lie('a tool whose name has a filler', ['schema'], before({ tool: 'scanner\u3164' })),
  lieAboutFinding('claimed by a name with an isolate', ['schema'], { claimed_by: { ...ada, name: 'Ada\u2066' } }),
  lieAboutFinding('fixed, and justified as not affected', ['reference'], { justification: 'code_not_present' }),
  lieAboutFinding('linked twice', ['reference'], {
    work_items: [0, 1].map(() => ({ id: IDS.workItem, linked_at: AT.created, unlinked_at: null })),
  }),
  lieAboutFinding('work items in another order', ['reference'], {
    work_items: [AT.created, AT.seen].map((linked_at, at) => ({ id: at === 0 ? IDS.workItem : NOBODY, linked_at, unlinked_at: null })),
  }),
  lieAboutFinding('linked at another time', ['unproven'], { work_items: [{ id: IDS.workItem, linked_at: AT.verified, unlinked_at: null }] }),
  lie('an asset without findings', ['contradiction'], ({ assets }) => void assets.push(...assets.map((one) => ({ ...one, id: NOBODY, name: 'web-2' })))),
  lie('fewer other open findings than are named', ['contradiction'], asset({ other_open_alike: [NOBODY] })),
  lie('a finding of the package is called another one', ['contradiction'], (evidence) => {
    const [one] = evidence.assets;
    if (one) Object.assign(one, { other_open: { ...one.other_open, high: 1 }, other_open_alike: [IDS.findings[0]] });
  }),
  lie('an asset that will be retired', ['time_order'], asset({ retired_at: LATE })),
  lie('an asset that nobody retired', ['unproven'], asset({ retired_at: AT.verified })),
  lie('no source', ['contradiction'], (evidence) => void Object.assign(evidence, { sources: [] })),
  lie('a source of another kind', ['contradiction'], source({ kind: 'import' })),
  lie('a source that nobody removed', ['unproven'], source({ removed_at: AT.verified, removed_by: grace })),
  lie('a source that somebody removed at no time', ['contradiction'], source({ removed_by: grace })),
  lie('a source that will be scanned', ['time_order'], source({ last_scan_at: LATE })),
  lie('an earlier package that nobody requested', ['unproven', 'omitted'], earlier({ package_id: NOBODY })),
  lie('an earlier package that failed', ['recorded_otherwise'], earlier({ outcome: 'failed', tagmanifest_sha256: null, log: null })),
  lie('an earlier package that still counts', ['recorded_otherwise'], earlier({ outcome: 'ready' })),
  lie('an earlier package with another hash', ['recorded_otherwise'], earlier({ tagmanifest_sha256: '8'.repeat(64) })),
  lie('an earlier package at another place of the log', ['recorded_otherwise'], earlier({ log: { epoch: 1, index: 1 } })),
  lie('an approver by another name', ['recorded_otherwise'], ({ approvals }) => void Object.assign(approvals[0]?.by ?? {}, { name: 'The auditor' })),
  againstTrail(
    'an approver by the name of a key of hers',
    ['recorded_otherwise'],
    (_, events) => {
      const key = { type: 'api_key', id: NOBODY };
      add(events, { at: AT.sealed, action: 'api_key.created', by: grace, object: key, after: { name: 'The auditor' } });
      add(events, { at: AT.sealed, action: 'asset.updated', by: { ...grace, kind: 'api_key', id: NOBODY, name: 'The auditor' }, object, after: { tags: [] } });
    },
    ({ approvals }) => void Object.assign(approvals[0]?.by ?? {}, { name: 'The auditor' }),
  ),
  lie('an approver with another credential', ['recorded_otherwise'], ({ approvals }) => {
    Object.assign(approvals[0]?.by ?? {}, { kind: 'api_key', id: NOBODY });
  }),
  lieAboutFinding('a claim by another name', ['recorded_otherwise'], { claimed_by: { ...ada, name: 'The auditor' } }),
  lie('an approval that was recorded later', ['time_order'], ({ approvals }) => void Object.assign(approvals[0] ?? {}, { id: MADE_LATE })),
  lie('redacted content of no artifact', ['contradiction'], ({ redactions, scans }) => {
    redactions.push({ file: scans[0]?.file ?? '', pointer: '/0', reason: 'a secret' });
  }),
  lie('an artifact that was collected before there was a work item', ['contradiction'], ({ collection }) => {
    for (const entry of collection) if (entry.file.startsWith('data/artifacts/')) entry.collected_at = AT.seen;
  }),
];

/** An event before the last one. */
const added =
  (event: Parameters<typeof trailEvent>[1]) =>
  (events: TrailEvent[]): TrailEvent[] => [...events.slice(0, -1), trailEvent(600, event), ...events.slice(-1)];

/** The first event of a kind occurs again, as another event. */
const repeated =
  (action: string) =>
  (events: TrailEvent[]): TrailEvent[] =>
    events.flatMap((event, at) => (at === events.findIndex((one) => one.action === action) ? [event, { ...event, id: id(700 + at) }] : [event]));

const inTrail: Vector[] = [
  lieInTrail('a member who acts by a name that reverses text', ['schema'], (events) =>
    events.map((event) => (event.action === 'artifact.added' ? { ...event, actor: { ...event.actor, name: '\u202EadA' } } : event)),
  ),
  lieInTrail('a member who acts by another name', ['recorded_otherwise'], (events) =>
    events.map((event) => (event.action === 'artifact.added' ? { ...event, actor: { ...event.actor, name: 'The auditor' } } : event)),
  ),
  lieInTrail('a key that acts by another name', ['recorded_otherwise'], (events) => {
    const key = { type: 'api_key', id: NOBODY };
    const [made, used] = [
      { at: AT.sealed, action: 'api_key.created', by: ada, object: key, after: { name: 'pipeline' } },
      { at: AT.sealed, object },
    ];
    const by = { kind: 'api_key' as const, id: NOBODY, name: 'The auditor', person: IDS.ada };
    return [...events.slice(0, -1), trailEvent(600, made), trailEvent(601, { ...used, action: 'asset.updated', by, after: { tags: [] } }), ...events.slice(-1)];
  }),
  ...['package.requested', 'package.ready', 'work_item.created', 'work_item.approved', 'import.created', 'artifact.added'].map((action) =>
    lieInTrail(`the same ${action} twice`, ['time_order'], repeated(action)),
  ),
  lieInTrail('an event that was recorded later', ['time_order'], (events) => events.map((event, at) => (at === 5 ? { ...event, id: MADE_LATE } : event))),
  lieInTrail('two events with one ID', ['time_order'], (events) => events.map((event, at) => ({ ...event, id: events[at === 5 ? 4 : at]?.id ?? '' }))),
  lieInTrail('a finding that changes from a state that it did not have', ['time_order'], (events) =>
    events.map((event) => (event.object.id === IDS.findings[0] ? { ...event, before: { status: 'false_positive' } } : event)),
  ),
  lieInTrail(
    'somebody who acted before being a member',
    ['time_order'],
    added({ at: AT.sealed, action: 'member.added', by: edsger, object: { type: 'member', id: IDS.ada }, after: { name: 'Ada' } }),
  ),
  lieInTrail(
    'another package with the same sequence',
    ['omitted'],
    added({ at: AT.sealed, action: 'package.requested', by: ada, object: { type: 'evidence_package', id: NOBODY }, after: { sequence: 2 } }),
  ),
  lieInTrail(
    'a retired asset that is shown as in use',
    ['recorded_otherwise'],
    added({ at: AT.sealed, action: 'asset.updated', by: ada, object, after: { retired: true } }),
  ),
  lieInTrail(
    'an asset that is more critical by the audit trail',
    ['recorded_otherwise'],
    added({ at: AT.sealed, action: 'asset.updated', by: ada, object, after: { criticality: 'critical' } }),
  ),
];

/** Values that exclude each other, and acts that cannot have happened in this way. */
export const impossible: Vector[] = [...against, ...inTrail];
