import type { Evidence, Facts, Finding } from '@rrs/evidence-format';
import type { Recipe } from '../../src/testing/build.ts';
import { AT, ada, grace, IDS } from '../../src/testing/sample.ts';
import { item } from '../../src/testing/sample-trail.ts';
import type { Vector } from '../vector.ts';
import { about, add, againstTrail, collect, good, store } from './lie.ts';

const [first, second] = IDS.findings;
const REMOVED = '01900000-0000-7000-8000-000000008888';

interface Decision {
  status: Finding['state'];
  reason_code: string;
  by?: typeof ada;
  facts: Partial<Finding>;
  /** What the audit trail records besides. */
  recorded?: object;
}

/** The first finding was not fixed: somebody decided something about it. */
function decided({ status, reason_code, by = ada, facts, recorded }: Decision): NonNullable<Recipe['facts']> {
  return ({ findings }, events) => {
    Object.assign(findings[0] ?? {}, {
      state: status,
      cause: 'person',
      decided_by: by,
      assurance: null,
      state_changed_at: AT.sealed,
      closed_at: AT.sealed,
      ...structuredClone(facts),
    });
    const after = { status, reason_code, assurance: null, ...recorded };
    add(events, { at: AT.sealed, action: 'finding.status_changed', by, object: { type: 'finding', id: first ?? '' }, before: { status: 'verified' }, after });
  };
}

const withdrawn = decided({ status: 'withdrawn', reason_code: 'by_person', facts: {} });
const declared = decided({
  status: 'verified',
  reason_code: 'by_person',
  facts: { assurance: 'declared', closed_at: AT.verified },
  recorded: { assurance: 'declared' },
});
const END = '2026-06-01T00:00:00.000Z';
const accepted = decided({
  status: 'risk_accepted',
  reason_code: 'by_person',
  facts: { acceptance: { owner: 'Ada', expires_at: END, compensating_control: null, requested_by: ada, approved_by: null } },
  recorded: { acceptance_owner: 'Ada', acceptance_expires_at: '2026-06-01T00:00:00+00:00' },
});

const CONTROL = 'The proxy filters requests';
const controlled = (compensating_control: string | null) => (facts: Pick<Evidence, 'findings'> | Facts) => {
  const [finding] = facts.findings;
  if (finding?.acceptance) finding.acceptance = { ...finding.acceptance, compensating_control };
};
const compensated: NonNullable<Recipe['facts']> = (facts, events) => {
  accepted(facts, events);
  controlled(CONTROL)(facts);
  Object.assign(Object(events.at(-1)?.after), { compensating_control: CONTROL });
};
/** Somebody asked for an acceptance with a control, and nobody has approved it. */
const requestedWithControl: NonNullable<Recipe['facts']> = (facts, events) => {
  accepted(facts, events);
  const object = { type: 'finding', id: first ?? '' };
  add(events, { at: AT.sealed, action: 'finding.acceptance_requested', by: grace, object, after: { owner: 'Ada', compensating_control: CONTROL } });
};
/** The acceptance ended with the finding, and was made again without a control. */
const compensatedOnce: NonNullable<Recipe['facts']> = (facts, events) => {
  compensated(facts, events);
  const object = { type: 'finding', id: first ?? '' };
  const gone = { status: 'verified', reason_code: 'acceptance_fixed', assurance: 'scan_only' };
  add(events, { at: AT.sealed, action: 'finding.status_changed', object, before: { status: 'risk_accepted' }, after: gone, import_id: IDS.after });
  accepted(facts, events);
};
/** The acceptance is that of another finding, which was merged into the first one. */
const compensatedByMerge: NonNullable<Recipe['facts']> = (facts, events) => {
  compensated(facts, events);
  Object.assign(Object(events.at(-1)?.after), { reason_code: 'merged' });
};

const lowered: NonNullable<Recipe['facts']> = ({ findings }, events) => {
  const [finding] = findings;
  if (finding) Object.assign(finding, { severity: 'low', override: { severity: 'low', by: ada, at: AT.sealed, reason: null } });
  const change = { before: { severity: finding?.severity_source, severity_override: null }, after: { severity: 'low', severity_override: 'low' } };
  add(events, { at: AT.sealed, action: 'finding.severity_changed', by: ada, object: { type: 'finding', id: first ?? '' }, ...change });
};

const removed: NonNullable<Recipe['facts']> = ({ unlinked }, events) => {
  unlinked.push({ id: REMOVED, title: 'OpenSSL 3', severity: 'high', state: 'false_positive', at: AT.sealed, by: ada, reason: null });
  const object = { type: 'finding', id: REMOVED };
  add(events, { at: AT.sealed, action: 'work_item.finding_unlinked', by: ada, object: item, after: { finding_id: REMOVED } });
  add(events, { at: AT.sealed, action: 'finding.status_changed', by: ada, object, after: { status: 'false_positive', reason_code: 'by_person' } });
};

const uploaded: NonNullable<Recipe['facts']> = ({ scans, collection, sources }, events) => {
  store(scans, sources);
  for (const scan of scans) scan.delivery = { method: 'upload', by: ada, connection: null, pipeline: null };
  collect(scans, collection);
  const { kind: type, id, name, person } = ada;
  for (const event of events)
    if (event.action === 'import.created') Object.assign(event, { actor: { type, id, name, person }, after: { filename: 'report.json' } });
};

/** One more scan arrived after the findings were called fixed. */
const later: NonNullable<Recipe['facts']> = ({ scans }, events) => {
  const [scan] = scans;
  if (scan) scans.push({ ...scan, id: REMOVED, phase: 'other', file: null, sha256: '7'.repeat(64), received_at: AT.sealed, imported_at: AT.sealed });
  const after = events.find(({ action }) => action === 'import.created')?.after;
  add(events, { at: AT.sealed, action: 'import.created', object: { type: 'import', id: REMOVED }, after });
};

const otherwise = 'recorded_otherwise';

/** What people did, told differently than the audit trail tells it. */
export const falseDecisions: Vector[] = [
  good('a finding that a person withdrew', withdrawn),
  againstTrail('the source withdrew a finding that a person withdrew', ['recorded_otherwise'], withdrawn, about({ cause: 'source', decided_by: null })),
  againstTrail('somebody else withdrew a finding', ['recorded_otherwise'], withdrawn, about({ decided_by: grace })),
  good('a finding that is only declared fixed', declared),
  againstTrail('a second person verified it', ['recorded_otherwise'], declared, about({ assurance: 'independent', cause: 'second_person', decided_by: grace })),
  againstTrail('a scan verified it', ['recorded_otherwise'], declared, about({ assurance: 'scan_after_claim', cause: 'scan', decided_by: null })),
  good('an accepted risk', accepted),
  againstTrail('a longer acceptance', ['recorded_otherwise'], accepted, ({ findings }) => {
    Object.assign(findings[0]?.acceptance ?? {}, { expires_at: '2027-06-01T00:00:00.000Z' });
  }),
  againstTrail('an acceptance that nobody approved', ['recorded_otherwise'], accepted, ({ findings }) => {
    Object.assign(findings[0]?.acceptance ?? {}, { approved_by: grace });
  }),
  againstTrail('a compensating control that nobody named', [otherwise], accepted, controlled(CONTROL)),
  good('an accepted risk with a compensating control', compensated),
  againstTrail('another compensating control', [otherwise], compensated, controlled('Two proxies filter requests')),
  againstTrail('a compensating control is left out', [otherwise], compensated, controlled(null)),
  good('an accepted risk with a request to name a compensating control', requestedWithControl),
  againstTrail('a compensating control that was only requested', [otherwise], requestedWithControl, controlled(CONTROL)),
  good('a risk that is accepted again without a compensating control', compensatedOnce),
  againstTrail('the compensating control of an earlier acceptance', [otherwise], compensatedOnce, controlled(CONTROL)),
  good('the accepted risk of a merged finding', compensatedByMerge),
  againstTrail('another compensating control of a merged finding', [otherwise], compensatedByMerge, controlled('Two proxies filter requests')),
  good('a lowered severity', lowered),
  againstTrail('a lowered severity is left out', ['recorded_otherwise'], lowered, about({ override: null })),
  againstTrail('somebody else lowered the severity', ['recorded_otherwise'], lowered, ({ findings }) => {
    Object.assign(findings[0]?.override ?? {}, { by: grace });
  }),
  good('a removed finding', removed),
  againstTrail('a removed finding was fixed', ['state_false'], removed, ({ unlinked }) => void Object.assign(unlinked[0] ?? {}, { state: 'verified' })),
  againstTrail(
    'a finding is left out',
    ['omitted'],
    () => {},
    (evidence) => {
      evidence.findings = evidence.findings.filter(({ id }) => id !== second);
    },
  ),
  againstTrail('a claim is left out', ['omitted'], () => {}, about({ claimed_at: null, claimed_by: null })),
  good('a scan that confirms nothing', later),
  againstTrail('a later scan is left out', ['omitted'], later, ({ scans }) => void scans.pop()),
  good('scans that a person uploaded', uploaded),
  againstTrail('somebody else uploaded the scans', ['unproven'], uploaded, ({ scans, collection }) => {
    for (const scan of scans) scan.delivery.by = grace;
    collect(scans, collection);
  }),
];
