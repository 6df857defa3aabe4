import type { Conclusion, Grade } from '../document/evidence.ts';
import type { FindingFacts } from '../document/finding.ts';
import { ada, type Case, event, grace, H, IDS, id, ofFinding, olga, on, ownerlessKey, scanFacts } from './sample-facts.ts';

export const change = (number: number, overrides: Partial<FindingFacts>) => (given: Case) => {
  given.facts.findings = given.facts.findings.map((finding) => (finding.id === id(100 + number) ? { ...finding, ...overrides } : finding));
};
export const all =
  (...changes: ((given: Case) => void)[]) =>
  (given: Case): void => {
    for (const each of changes) each(given);
  };
export const facts =
  (overrides: Partial<Case['facts']>) =>
  (given: Case): unknown =>
    Object.assign(given.facts, overrides);
const trail =
  (...events: Case['trail']) =>
  (given: Case): unknown =>
    given.trail.push(...events);
const afterScan = (overrides: Parameters<typeof scanFacts>[1]) => facts({ scans: [scanFacts('before'), scanFacts('after', overrides)] });
const upload = (by: typeof ada) => ({ delivery: { method: 'upload' as const, by, connection: null, pipeline: null } });

const withdrawn: Partial<FindingFacts> = {
  state: 'withdrawn',
  assurance: null,
  cause: 'person',
  decided_by: ada,
  after: { state: 'unknown', scan: null, others: [], doubts: [] },
};
const decide = (number: number, status: string, more: object = {}) =>
  event('finding.status_changed', ada, { object: ofFinding(number), before: { status: 'open' }, after: { status, reason_code: 'by_person', ...more } });

/** The routes to a flattering package that auditors found, and what the package says. */
export const routes: [string, (given: Case) => void, Conclusion, Grade, string[]][] = [
  [
    'a: the asset of an open finding is retired',
    all(
      change(2, { ...withdrawn, cause: 'asset_retired' }),
      trail(event('asset.updated', ada, { object: { type: 'asset', id: IDS.asset }, before: { retired: false }, after: { retired: true } })),
    ),
    'partially_remediated',
    'C',
    ['withdrawn_by_person M'],
  ],
  ['b: a finding is withdrawn by hand', all(change(2, withdrawn), trail(decide(2, 'withdrawn'))), 'partially_remediated', 'C', ['withdrawn_by_person M']],
  [
    'c: a finding is unlinked and then dismissed',
    all(
      facts({ unlinked: [{ id: id(109), title: 'Old', severity: 'critical', state: 'false_positive', at: on('03-05'), by: ada, reason: null }] }),
      trail(event('work_item.finding_unlinked', ada, { after: { finding_id: id(109), reason: null } })),
    ),
    'remediated',
    'C',
    ['unlinked_excepted M'],
  ],
  [
    'd: the severity is lowered',
    all(
      change(1, { severity: 'info', severity_source: 'critical', override: { severity: 'info', by: ada, at: on('03-05'), reason: null } }),
      trail(
        event('finding.severity_changed', ada, {
          object: ofFinding(1),
          before: { severity: 'critical', severity_override: null },
          after: { severity: 'info', severity_override: 'info' },
        }),
      ),
    ),
    'remediated',
    'C',
    ['severity_lowered M'],
  ],
  [
    'e: an older report stands in for the rescan',
    all(afterScan({ started_at: on('02-20'), ended_at: on('02-20') }), change(1, { cause: 'second_person', assurance: 'independent', decided_by: olga })),
    'remediated',
    'C',
    ['scan_older_than_claim M'],
  ],
  [
    'f: the deadlines are stretched before sealing',
    all(change(1, { first_seen: on('01-05'), clock_started_at: on('01-05') }), ({ facts: given }) => {
      const [first] = given.policies;
      if (first) given.policies.push({ ...first, effective_from: on('03-11'), changed_by: olga, sla: { ...first.sla, high: 3650 } });
    }),
    'remediated',
    'D',
    ['sla_missed M', 'policy_loosened M'],
  ],
  [
    'g: another state was approved',
    facts({ approvals: [{ id: IDS.approval, decision: 'approved', by: grace, at: on('03-03'), comment: null, state_sha256: H }] }),
    'remediated',
    'C',
    ['approval_stale M'],
  ],
  [
    'h: a second key of the worker approves',
    facts({
      approvals: [
        {
          id: IDS.approval,
          decision: 'approved',
          by: { ...ada, kind: 'api_key', id: id(77), name: 'Head of Security' },
          at: on('03-11'),
          comment: null,
          state_sha256: '',
        },
      ],
    }),
    'remediated',
    'C',
    ['approver_took_part M'],
  ],
  [
    'i: the approver lowered a severity',
    trail(
      event('finding.severity_changed', grace, {
        object: ofFinding(1),
        before: { severity: 'critical' },
        after: { severity: 'low', severity_override: 'low' },
      }),
    ),
    'remediated',
    'C',
    ['approver_took_part M'],
  ],
  [
    'j: an empty report by the worker, confirmed by the worker',
    all(
      afterScan({ ...upload(ada), confirmed: { by: ada, at: on('03-10') }, self_described: true }),
      trail(event('import.confirmed', ada, { object: { type: 'import', id: IDS.after } })),
    ),
    'not_remediated',
    'D',
    ['unfinished M', 'scan_by_worker M', 'scan_self_described M', 'brake_confirmed M'],
  ],
  [
    'k: the report declares the findings fixed',
    all(change(1, { assurance: 'declared' }), change(2, { assurance: 'declared' })),
    'not_remediated',
    'C',
    ['unfinished M'],
  ],
  [
    'l: the other findings of the host are left out',
    ({ facts: given }) => {
      Object.assign(given.assets[0] ?? {}, { other_open: { ...given.assets[0]?.other_open, critical: 4 }, other_open_alike: [id(200)] });
    },
    'remediated',
    'C',
    ['other_open_on_asset M'],
  ],
  ['m: the scan after the fix repeats the one before', afterScan({ copy_of: IDS.before }), 'not_remediated', 'D', ['unfinished M', 'scan_copied M']],
  ['n: a discarded import shows the finding', change(1, { contradicted_by: id(60) }), 'partially_remediated', 'D', ['unfinished M', 'scan_contradicts M']],
  [
    'o: the second scanner that still sees it is removed',
    all(
      change(1, {
        sources: ['other', 'scanner'],
        occurrence_count: 1,
        occurrences: [
          { place: 'a', component_version: null, state: 'unknown', source: 'other', track: 'main', first_seen: on('03-01'), last_seen: on('03-01') },
        ],
      }),
      ({ facts: given }) =>
        void given.sources.push({
          asset_id: IDS.asset,
          source: 'other',
          kind: 'connection',
          last_scan_at: on('03-01'),
          last_complete_at: null,
          removed_at: on('03-09'),
          removed_by: ada,
        }),
      trail(event('connection.deleted', ada, { object: { type: 'connection', id: id(51) } })),
    ),
    'partially_remediated',
    'D',
    ['unfinished M', 'source_removed M'],
  ],
  ['p: another version is scanned', change(1, { version_rescanned: false }), 'partially_remediated', 'D', ['unfinished M', 'version_not_rescanned M']],
  [
    'q: an open finding is merged into a fixed one',
    change(1, { merged: [{ id: id(150), state: 'open', title: 'Merged', severity: 'high' }] }),
    'partially_remediated',
    'C',
    ['withdrawn_by_person M'],
  ],
  [
    'r: the worker accepts the risk alone',
    all(
      change(2, {
        state: 'risk_accepted',
        assurance: null,
        cause: 'person',
        decided_by: ada,
        acceptance: { owner: 'Ada', expires_at: on('06-01'), compensating_control: null, requested_by: ada, approved_by: null },
      }),
      trail(decide(2, 'risk_accepted')),
    ),
    'partially_remediated',
    'C',
    ['exception_self_decided M'],
  ],
  [
    "s: the worker's own connection fetches the scan",
    afterScan({ delivery: { ...scanFacts('after').delivery, connection: { ...connectionOf(), created_by: ada, changed_by: ada } } }),
    'remediated',
    'C',
    ['scan_by_worker M'],
  ],
  [
    't: the settings of the connection changed between the scans',
    afterScan({ delivery: { ...scanFacts('after').delivery, connection: { ...connectionOf(), settings_sha256: 'cd'.repeat(32) } } }),
    'remediated',
    'C',
    ['scan_by_worker M'],
  ],
  [
    'u: the worker set the password of the approver',
    ({ facts: given }) => {
      given.people = given.people.map((person) =>
        person.id === grace.person ? { ...person, signs_in_with: 'password', credential_from: ada.person } : person,
      );
    },
    'remediated',
    'C',
    ['approver_took_part M'],
  ],
  [
    'v: one key without a member works, another approves',
    all(
      trail(event('finding.status_changed', ownerlessKey, { object: ofFinding(1), before: { status: 'open' }, after: { status: 'remediated' } })),
      facts({
        approvals: [
          { id: IDS.approval, decision: 'approved', by: { ...ownerlessKey, id: id(9), name: 'head' }, at: on('03-11'), comment: null, state_sha256: '' },
        ],
      }),
    ),
    'remediated',
    'C',
    ['approver_took_part M'],
  ],
  [
    'w: four eyes is switched off before the exception',
    all(facts({ approvals: [] }), ({ facts: given }) => {
      const [first] = given.policies;
      if (first)
        given.policies = [
          { ...first, four_eyes: true },
          { ...first, effective_from: on('03-09'), changed_by: olga },
        ];
    }),
    'remediated',
    'D',
    ['policy_loosened M', 'no_approval M'],
  ],
];

function connectionOf() {
  const { connection } = scanFacts('after').delivery;
  if (connection === null) throw new Error('the scan has no connection');
  return connection;
}
