import { deriveEvidence, type Evidence, type Finding, fieldOf, type TrailEvent } from '@rrs/evidence-format';
import { pipelineRun } from '@rrs/evidence-format/samples';
import type { Recipe } from '../../src/testing/build.ts';
import { AT, ada, edsger, findingId, grace, IDS } from '../../src/testing/sample.ts';
import { item, trailEvent } from '../../src/testing/sample-trail.ts';
import { failing, sealed, type Vector } from '../vector.ts';
import { about, add, againstTrail, collect, good, store } from './lie.ts';

type Truth = NonNullable<Recipe['facts']>;

const [first, second] = IDS.findings;
const object = { type: 'finding', id: first };
const OTHER = findingId(999);
const TRUST = '01900000-0000-7000-8000-000000007777';
const nothing: Truth = () => {};
const change = (by: typeof ada | undefined, before: object, after: object, reason: string | null = null) => ({
  at: AT.sealed,
  action: 'finding.status_changed',
  ...(by && { by }),
  object,
  before,
  after,
  reason,
});

/** A scan opened the first finding again, and a later one closed it. */
const reopened: Truth = ({ findings }, events) => {
  const reason = 'A scan reports the finding again.';
  const opened = { status: 'open', reason_code: 'scan_seen_again', scanned_at: '2026-02-25T08:00:00+00:00', clock_started_at: '2026-02-25T08:00:00+00:00' };
  const closed = { status: 'verified', reason_code: 'scan_absent', assurance: 'scan_only', scanned_at: '2026-03-01T08:00:00+00:00' };
  add(events, { ...change(undefined, { status: 'verified' }, opened, reason), action: 'finding.reopened', import_id: IDS.before });
  add(events, { ...change(undefined, { status: 'open' }, closed, 'Gone.'), import_id: IDS.after });
  const [clock, end] = ['2026-02-25T08:00:00.000Z', '2026-03-01T08:00:00.000Z'];
  const state = { state_changed_at: end, closed_at: end, state_reason: 'Gone.', clock_started_at: clock, reopen_count: 1 };
  Object.assign(findings[0] ?? {}, { ...state, assurance: 'scan_only', claimed_at: null, claimed_by: null });
};

/** People merged an open finding into the first one. */
const OPEN = { id: OTHER, state: 'open', title: 'OpenSSL 3', severity: 'critical' } as const;
const merged: Truth = ({ findings }, events) => {
  const { state, title, severity } = OPEN;
  if (findings[0]) findings[0].merged = [OPEN];
  const act = { at: AT.sealed, action: 'finding.merged', by: edsger };
  add(events, { ...act, object, after: { merged_from: OTHER, merged: { kind: 'by_person', state, title, severity } } });
  const from = { type: 'finding', id: OTHER };
  add(events, { ...act, object: from, before: { status: 'open' }, after: { status: 'withdrawn', reason_code: 'merged', merged_into: first } });
};

/** Ada asked to accept the risk of the first finding, and Grace approved it. */
const approved: Truth = ({ findings }, events) => {
  add(events, { ...change(ada, {}, { owner: 'Ada' }), action: 'finding.acceptance_requested' });
  const after = { status: 'risk_accepted', reason_code: 'acceptance_approved', status_reason: 'Behind a proxy', assurance: null, acceptance_owner: 'Ada' };
  add(events, change(grace, { status: 'verified' }, after));
  Object.assign(findings[0] ?? {}, {
    ...{ state: 'risk_accepted', cause: 'person', decided_by: grace, assurance: null, state_changed_at: AT.sealed, closed_at: AT.sealed },
    ...{ state_reason: 'Behind a proxy', acceptance: { owner: 'Ada', expires_at: null, compensating_control: null, requested_by: ada, approved_by: grace } },
  });
};

const removed: Truth = ({ unlinked }, events) => {
  unlinked.push({ id: OTHER, title: 'OpenSSL 3', severity: 'critical', state: 'open', at: AT.sealed, by: ada, reason: null });
  add(events, { at: AT.sealed, action: 'work_item.finding_unlinked', by: ada, object: item, after: { finding_id: OTHER, severity: 'critical', reason: null } });
};

/** A pipeline on a ref that anybody can change uploaded the scans. Somebody trusted it. */
const piped: Truth = ({ scans, collection, sources }, events) => {
  store(scans, sources);
  for (const scan of scans) scan.delivery = { method: 'pipeline', by: ada, connection: null, pipeline: { ...pipelineRun, ref_protected: false } };
  collect(scans, collection);
  const { proof: _, ...claims } = pipelineRun;
  send(events, { filename: 'report.json', pipeline: { trust_id: TRUST, ...claims, ref_protected: false } });
};

const uploaded: Truth = ({ scans, collection, sources }, events) => {
  store(scans, sources);
  for (const scan of scans) scan.delivery = { method: 'upload', by: ada, connection: null, pipeline: null };
  collect(scans, collection);
  send(events, { filename: 'report.json' });
};

/** Ada sent the scans, in this way. */
function send(events: TrailEvent[], after: object): void {
  events.unshift(trailEvent(90, { at: AT.policy, action: 'pipeline_trust.created', by: edsger, object: { type: 'pipeline_trust', id: TRUST } }));
  const { kind: type, id, name, person } = ada;
  for (const event of events) if (event.action === 'import.created') Object.assign(event, { actor: { type, id, name, person }, after });
}

/** Says that a trusted pipeline on a protected ref sent the scans. */
function trusted({ scans, collection }: Evidence): void {
  const by = { created_by: edsger, changed_by: edsger, changed_at: AT.policy };
  const connection = { id: TRUST, name: 'ci main', provider: 'CI', host: 'ci.example', settings_sha256: '4'.repeat(64), ...by };
  for (const scan of scans) scan.delivery = { method: 'pipeline', by: ada, connection, pipeline: pipelineRun };
  collect(scans, collection);
}

const connected =
  (differs: object) =>
  ({ scans }: Evidence): void => {
    for (const { delivery } of scans) Object.assign(delivery.connection ?? {}, differs);
  };

const occurring = (times: Partial<Finding['occurrences'][number]>) => (evidence: Evidence) => {
  for (const occurrence of evidence.findings[0]?.occurrences ?? []) Object.assign(occurrence, times);
};

/** A third scan, of another tool, which shows no finding. */
const unrelated: Truth = ({ scans }, events) => {
  const [scan] = scans;
  const times = { received_at: AT.created, imported_at: AT.created };
  if (scan) scans.push({ ...scan, ...times, id: OTHER, phase: 'other', tool: 'linter', file: null, sha256: '7'.repeat(64) });
  const { at: _, ...imported } = events.find(({ action }) => action === 'import.created') ?? trailEvent(0, { at: '', action: '', object });
  const at = events.findIndex((event) => event.at > AT.created);
  events.splice(at, 0, { ...trailEvent(91, { ...imported, at: AT.created, object: { type: 'import', id: OTHER } }) });
};

/** The second finding and everything that the audit trail says about it are left out. The approved state still has it. */
function dropped(): Recipe {
  let kept: TrailEvent[] = [];
  return {
    trail: (events) => {
      const linked = events.find(({ action }) => action === 'work_item.findings_linked');
      Object.assign(linked ?? {}, { after: { linked: 1, finding_ids: [first], filter: fieldOf(linked?.after, 'filter') } });
      kept = events.filter((event) => event.object.id !== second);
      return kept;
    },
    evidence: (evidence) => {
      evidence.findings.splice(1);
      Object.assign(evidence, deriveEvidence(evidence, kept));
    },
  };
}

const otherwise = 'recorded_otherwise';

/** What happened to findings and how scans arrived, told better than it was. */
export const falseHistories: Vector[] = [
  againstTrail('first seen after it was recorded', ['time_order'], nothing, (evidence) => {
    about({ first_seen: AT.created, last_seen: AT.created, clock_started_at: AT.created })(evidence);
    occurring({ first_seen: AT.created, last_seen: AT.created })(evidence);
  }),
  againstTrail('first seen later than at its place', ['time_order'], nothing, (evidence) => {
    about({ first_seen: AT.received, last_seen: AT.received, clock_started_at: AT.received })(evidence);
    occurring({ last_seen: AT.received })(evidence);
  }),
  againstTrail('a deadline that starts later', [otherwise], nothing, about({ clock_started_at: AT.created })),
  againstTrail('closed earlier', [otherwise], nothing, about({ closed_at: AT.claimed })),
  againstTrail('not closed', [otherwise], nothing, about({ closed_at: null })),
  againstTrail('a reason that nobody gave', [otherwise], nothing, about({ state_reason: 'Checked on site' })),
  againstTrail('a state that is older', [otherwise], nothing, about({ state_changed_at: AT.rescanned })),
  againstTrail('a reopening that did not happen', [otherwise], nothing, about({ reopen_count: 1 })),
  good('a finding that was reopened', reopened),
  againstTrail('a reopening is left out', [otherwise], reopened, about({ reopen_count: 0 })),
  againstTrail('a reopening at another time', [otherwise], reopened, about({ clock_started_at: AT.sealed })),
  againstTrail('closed before the scan', [otherwise], reopened, about({ closed_at: '2026-02-26T08:00:00.000Z' })),
  good('a merged finding', merged),
  againstTrail('a merge is left out', [otherwise], merged, about({ merged: [] })),
  againstTrail('a merged finding was fixed', [otherwise], merged, about({ merged: [{ ...OPEN, state: 'verified' }] })),
  againstTrail('another finding was merged', [otherwise], merged, about({ merged: [{ ...OPEN, id: second }] })),
  good('an accepted risk that a second person approved', approved),
  againstTrail('somebody else asked to accept the risk', [otherwise], approved, ({ findings }) => {
    Object.assign(findings[0]?.acceptance ?? {}, { requested_by: edsger });
  }),
  againstTrail('the approval of an accepted risk is left out', [otherwise], approved, ({ findings }) => {
    Object.assign(findings[0]?.acceptance ?? {}, { approved_by: null });
  }),
  good('a finding that was removed while it was open', removed),
  againstTrail('a removed finding was less severe', ['unproven'], removed, ({ unlinked }) => void Object.assign(unlinked[0] ?? {}, { severity: 'low' })),
  againstTrail('a finding was removed earlier', ['unproven'], removed, ({ unlinked }) => void Object.assign(unlinked[0] ?? {}, { at: AT.created })),
  againstTrail('a finding was removed that was not', ['unproven'], nothing, ({ findings, unlinked }) => {
    const [gone] = findings.splice(1);
    if (gone) unlinked.push({ id: gone.id, title: gone.title, severity: gone.severity, state: gone.state, at: AT.sealed, by: ada, reason: null });
  }),
  good('a pipeline that nobody protects', piped),
  againstTrail('a pipeline that nobody protects is trusted', ['unproven'], piped, trusted),
  againstTrail('another commit of the pipeline', ['unproven'], piped, ({ scans }) => {
    for (const { delivery } of scans) if (delivery.pipeline) delivery.pipeline.sha = '9'.repeat(40);
  }),
  againstTrail('a pipeline without a run', ['reference', 'unproven'], piped, ({ scans }) => {
    for (const { delivery } of scans) delivery.pipeline = null;
  }),
  good('scans that a person sent', uploaded),
  againstTrail('a scan of a person is called a pipeline', ['unproven'], uploaded, trusted),
  againstTrail('somebody else created the connection', ['unproven'], nothing, connected({ created_by: grace })),
  againstTrail('somebody else changed the connection', ['unproven'], nothing, connected({ changed_by: grace })),
  againstTrail('the connection was changed earlier', ['unproven'], nothing, connected({ changed_at: '2025-11-01T00:00:00.000Z' })),
  againstTrail('another connection', ['contradiction', 'unproven'], nothing, connected({ id: TRUST })),
  againstTrail('a connection with other settings', ['unproven'], nothing, connected({ settings_sha256: '5'.repeat(64) })),
  good('a scan of another tool', unrelated),
  againstTrail('another tool showed the finding', ['scan_unfit', 'contradiction'], unrelated, (evidence) => {
    about({ before: { state: 'present', scan: OTHER } })(evidence);
    Object.assign(evidence.scans[2] ?? {}, { phase: 'before' });
  }),
  againstTrail('a scan that shows nothing is called a scan before the fix', ['reference'], unrelated, ({ scans }) => {
    Object.assign(scans[2] ?? {}, { phase: 'before' });
  }),
  failing('false: a finding is left out with all its events, although it was approved', ['omitted'], sealed(dropped())),
];
