import type { Finding } from '@rrs/evidence-format';
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
      ...facts,
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
  facts: { acceptance: { owner: 'Ada', expires_at: END, requested_by: ada, approved_by: null } },
  recorded: { acceptance_owner: 'Ada', acceptance_expires_at: '2026-06-01T00:00:00+00:00' },
});

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
