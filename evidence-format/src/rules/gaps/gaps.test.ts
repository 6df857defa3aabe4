import { expect, test } from 'vitest';
import { GAP_CODES, type GapCode, type GapWeight } from '../../document/evidence.ts';
import type { FindingFacts } from '../../document/finding.ts';
import { gapSentence } from '../../render/v2/words/gaps.ts';
import {
  ada,
  type Case,
  derived,
  event,
  findingFacts,
  grace,
  H,
  IDS,
  id,
  mallory,
  ofFinding,
  olga,
  on,
  ownerlessKey,
  pipelineRun,
  scanFacts,
} from '../../testing/sample-facts.ts';

type Change = (given: Case) => unknown;

const facts =
  (overrides: Partial<Case['facts']>): Change =>
  (given) =>
    Object.assign(given.facts, overrides);
const finding = (overrides: Partial<FindingFacts>): Change => facts({ findings: [findingFacts(1, overrides)] });
const after = (overrides: Parameters<typeof scanFacts>[1]): Change => facts({ scans: [scanFacts('before'), scanFacts('after', overrides)] });
const secondAfter = (overrides: Parameters<typeof scanFacts>[1]): Change =>
  together(
    facts({ scans: [scanFacts('before'), scanFacts('after'), { ...scanFacts('after', overrides), id: id(26) }] }),
    finding({ after: { state: 'absent', scan: IDS.after, others: [id(26)], doubts: [] } }),
  );
const together =
  (...changes: Change[]): Change =>
  (given) =>
    changes.forEach((change) => void change(given));
const policies =
  (...versions: Partial<Case['facts']['policies'][number]>[]): Change =>
  ({ facts: given }) => {
    const [first] = given.policies;
    if (first) given.policies = [first, ...versions.map((version) => ({ ...first, effective_from: on('03-05'), changed_by: olga, ...version }))];
  };
const policy =
  (overrides: Partial<Case['facts']['policies'][number]>): Change =>
  ({ facts: given }) =>
    Object.assign(given.policies[0] ?? {}, overrides);
const unlinked = (state: FindingFacts['state']): Change =>
  facts({ unlinked: [{ id: id(109), title: 'Old', severity: 'low', state, at: on('03-05'), by: ada, reason: null }] });
const otherOpen =
  (alike: string[]): Change =>
  ({ facts: given }) =>
    Object.assign(given.assets[0] ?? {}, { other_open: { ...given.assets[0]?.other_open, low: 2 }, other_open_alike: alike });
const approval = (overrides: Partial<Case['facts']['approvals'][number]>): Change =>
  facts({ approvals: [{ id: IDS.approval, decision: 'approved', by: grace, at: on('03-11'), comment: null, state_sha256: '', ...overrides }] });
const artifact =
  (overrides: Partial<Case['facts']['artifacts'][number]>): Change =>
  ({ facts: given }) =>
    Object.assign(given.artifacts[0] ?? {}, overrides);
const accepted = (acceptance: Partial<NonNullable<FindingFacts['acceptance']>>, by = mallory): Change =>
  finding({
    state: 'risk_accepted',
    assurance: null,
    cause: 'person',
    decided_by: by,
    acceptance: { owner: 'Olga', expires_at: on('06-01'), compensating_control: null, requested_by: by, approved_by: null, ...acceptance },
  });
const byPerson = (overrides: Partial<FindingFacts>): Change => finding({ cause: 'second_person', assurance: 'independent', decided_by: mallory, ...overrides });
const doubts = (...codes: string[]): Change => byPerson({ after: { state: 'absent', scan: IDS.after, others: [], doubts: codes } });
const uploaded = (by: typeof ada, more: Parameters<typeof scanFacts>[1] = {}): Change =>
  after({ delivery: { method: 'upload', by, connection: null, pipeline: null }, ...more });
const failed = (overrides: Parameters<typeof scanFacts>[1]): Change =>
  facts({
    scans: [
      scanFacts('before'),
      scanFacts('after'),
      { ...scanFacts('before'), id: id(25), phase: 'other', status: 'failed', file: null, received_at: on('03-09'), ...overrides },
    ],
  });
/** Somebody adds these people, who sign in with a password. */
const addedBy =
  (by: typeof ada, members: (typeof ada)[], at: string): Change =>
  ({ facts: { people }, trail }) => {
    for (const { id: member } of members) {
      trail.push(event('member.added', by, { at, object: { type: 'member', id: member ?? '' } }));
      Object.assign(people.find((person) => person.id === member) ?? {}, { signs_in_with: 'password', credential_from: by.person });
    }
  };
const late: Partial<FindingFacts> = { first_seen: on('01-02'), clock_started_at: on('01-02') };

/** Null: the case does not cause the gap. */
const table: [GapCode, string, Change, GapWeight | null][] = [
  ['no_findings', 'no finding', facts({ findings: [] }), 'major'],
  ['unfinished', 'an open finding', finding({ state: 'open', assurance: null, cause: 'none', closed_at: null }), 'major'],
  ['unlinked_active', 'an open finding was removed', unlinked('open'), 'major'],
  ['unlinked_active', 'a verified finding was removed', unlinked('verified'), null],
  ['unlinked_excepted', 'an accepted finding was removed', unlinked('risk_accepted'), 'major'],
  ['unlinked_excepted', 'a withdrawn finding was removed', unlinked('withdrawn'), 'major'],
  ['other_open_on_asset', 'another finding is open', otherOpen([]), 'minor'],
  ['other_open_on_asset', 'one with the same CVE is open', otherOpen([id(200)]), 'major'],
  ['withdrawn_by_person', 'withdrawn by hand', finding({ state: 'withdrawn', cause: 'person', decided_by: ada, assurance: null }), 'major'],
  ['withdrawn_by_person', 'withdrawn by its source', finding({ state: 'withdrawn', cause: 'source', assurance: null }), null],
  ['asset_gone', 'the source no longer lists the asset', finding({ state: 'withdrawn', cause: 'asset_gone', assurance: null }), 'major'],
  ['withdrawn_by_source', 'withdrawn by its source', finding({ state: 'withdrawn', cause: 'source', assurance: null }), 'note'],
  ['exception_self_decided', 'a worker accepted it', accepted({}, ada), 'major'],
  ['exception_self_decided', 'a worker asked and somebody else agreed', accepted({ approved_by: mallory }, ada), null],
  [
    'exception_self_decided',
    'a key without a member dismissed it',
    finding({ state: 'false_positive', cause: 'person', decided_by: ownerlessKey, assurance: null }),
    'major',
  ],
  [
    'exception_self_decided',
    'nobody is known to have dismissed it',
    finding({ state: 'false_positive', cause: 'person', decided_by: null, assurance: null }),
    'major',
  ],
  ['exception_self_decided', 'somebody else dismissed it', finding({ state: 'false_positive', cause: 'person', decided_by: mallory, assurance: null }), null],
  ['exception_without_end', 'an acceptance without an end', accepted({ expires_at: null }), 'major'],
  ['exception_expired', 'an acceptance that ended', accepted({ expires_at: on('03-01') }), 'major'],
  ['suppressed_in_tool', 'the tool ignores it', finding({ state: 'open', assurance: null, cause: 'none', closed_at: null, suppressed: true }), 'major'],
  [
    'suppressed_in_tool',
    'the tool ignores an accepted risk',
    together(accepted({}), ({ facts: given }) => Object.assign(given.findings[0] ?? {}, { suppressed: true })),
    'note',
  ],
  ['no_rescan', 'verified by a second person', byPerson({ after: { state: 'unknown', scan: null, others: [], doubts: [] } }), 'major'],
  ['no_rescan', 'verified by a second person and a scan', byPerson({}), null],
  ['verifier_took_part', 'verified by a worker', byPerson({ decided_by: ada }), 'major'],
  ['verifier_took_part', 'verified by somebody else', byPerson({}), null],
  ['verifier_took_part', 'one person added worker and verifier during the work', together(byPerson({}), addedBy(grace, [ada, mallory], on('03-05'))), 'major'],
  ['verifier_took_part', 'one person added worker and verifier before', together(byPerson({}), addedBy(grace, [ada, mallory], on('02-05'))), null],
  ['verifier_took_part', 'two people added them', together(byPerson({}), addedBy(grace, [ada], on('03-05')), addedBy(olga, [mallory], on('03-05'))), null],
  ['no_scan_before', 'no scan before', finding({ before: { state: 'unknown', scan: null } }), 'minor'],
  ['scan_not_kept', 'the report after the fix', after({ file: null }), 'major'],
  ['scan_not_kept', 'the report before the fix', facts({ scans: [scanFacts('before', { file: null }), scanFacts('after')] }), 'minor'],
  [
    'scan_not_kept',
    'a report that confirms nothing',
    facts({ scans: [scanFacts('before'), scanFacts('after'), { ...scanFacts('before'), id: id(25), phase: 'other', file: null }] }),
    null,
  ],
  ['scan_by_worker', 'uploaded by the worker', uploaded(ada), 'major'],
  ['scan_by_worker', 'uploaded with a key without a member', uploaded(ownerlessKey), 'major'],
  ['scan_by_worker', 'sent by a pipeline', after({ delivery: { method: 'pipeline', by: mallory, connection: null, pipeline: pipelineRun } }), 'major'],
  ['scan_by_worker', 'uploaded by somebody else', uploaded(mallory), null],
  [
    'scan_by_worker',
    'uploaded by the worker, next to that of another source',
    secondAfter({ delivery: { method: 'upload', by: ada, connection: null, pipeline: null } }),
    'major',
  ],
  ['scan_by_hand', 'uploaded by somebody else', uploaded(mallory), 'minor'],
  ['scan_self_described', 'the report of another source describes nothing', secondAfter({ self_described: true }), 'major'],
  ['scan_copied', 'the report of another source', secondAfter({ copy_of: IDS.before }), 'major'],
  ['scan_self_described', 'the report describes nothing', after({ self_described: true }), 'major'],
  ['scan_copied', 'the report repeats another', after({ copy_of: IDS.before }), 'major'],
  ['scan_undated', 'the report has no time', after({ started_at: null, ended_at: null }), 'minor'],
  ['scan_contradicts', 'another scan shows it', finding({ contradicted_by: id(60) }), 'major'],
  [
    'scan_contradicts',
    'another scan shows an accepted risk',
    together(accepted({}), ({ facts: given }) => Object.assign(given.findings[0] ?? {}, { contradicted_by: id(60) })),
    null,
  ],
  ['scan_failed', 'a report since the last sighting could not be read', failed({}), 'minor'],
  ['scan_failed', 'such a report names the finding', failed({ names: ['CVE-2026-1001'] }), 'major'],
  ['scan_failed', 'such a report names another weakness', failed({ names: ['CVE-2026-9999'] }), 'minor'],
  ['scan_failed', 'the report is older than the last sighting', failed({ names: ['CVE-2026-1001'], received_at: on('02-20') }), null],
  ['scan_failed', 'the report has another format', failed({ names: ['CVE-2026-1001'], format: 'y' }), null],
  ['scan_failed', 'the finding is open', together(failed({}), finding({ state: 'open', assurance: null, cause: 'none', closed_at: null })), null],
  [
    'source_removed',
    'a source was removed',
    together(finding({ occurrences: [], occurrence_count: 0 }), ({ facts: given }) => Object.assign(given.sources[0] ?? {}, { removed_at: on('03-09') })),
    'major',
  ],
  ['version_not_rescanned', 'another version was scanned', finding({ version_rescanned: false }), 'major'],
  ['source_stale', 'the last scan is old', ({ facts: given }) => Object.assign(given.sources[0] ?? {}, { last_scan_at: on('02-01') }), 'minor'],
  [
    'source_stale',
    'the last scan of a source that never saw a finding is old',
    together(finding({ sources: ['b'] }), ({ facts: given }) => Object.assign(given.sources[0] ?? {}, { last_scan_at: on('02-01') })),
    null,
  ],
  ['scan_older_than_claim', 'the scan is older', together(byPerson({}), after({ started_at: on('03-02'), ended_at: on('03-02') })), 'major'],
  ['scan_uncredentialed', 'no credentials', doubts('not_credentialed'), 'major'],
  ['scan_uncredentialed', 'credentials unknown', doubts('credentials_unstated'), 'minor'],
  [
    'scan_uncredentialed',
    'credentials unknown, verified by the scan',
    finding({ after: { state: 'absent', scan: IDS.after, others: [], doubts: ['credentials_unstated'] } }),
    null,
  ],
  ['scan_narrower', 'a narrower scan', doubts('scan_narrower'), 'major'],
  ['scan_narrower', 'a scan that does not list its checks', doubts('checks_unstated'), 'minor'],
  [
    'search_stated',
    'the sender says that the tool looked for secrets',
    finding({ after: { state: 'absent', scan: IDS.after, others: [], doubts: ['search_unstated'] } }),
    'minor',
  ],
  [
    'search_stated',
    'the sender says that all of the repository was scanned',
    finding({ after: { state: 'absent', scan: IDS.after, others: [], doubts: ['part_unstated'] } }),
    'minor',
  ],
  ['scanner_outdated', 'older knowledge', doubts('knowledge_older'), 'minor'],
  ['brake_confirmed', 'confirmed by the worker', after({ confirmed: { by: ada, at: on('03-10') } }), 'major'],
  ['brake_confirmed', 'confirmed by somebody else', after({ confirmed: { by: mallory, at: on('03-10') } }), 'minor'],
  ['severity_lowered', 'from high', finding({ override: { severity: 'low', by: ada, at: on('03-05'), reason: null } }), 'major'],
  ['severity_lowered', 'from medium', finding({ severity_source: 'medium', override: { severity: 'low', by: ada, at: on('03-05'), reason: null } }), 'minor'],
  [
    'severity_lowered',
    'of a known exploited one',
    finding({ kev: true, severity_source: 'medium', override: { severity: 'low', by: ada, at: on('03-05'), reason: null } }),
    'major',
  ],
  ['severity_lowered', 'raised', finding({ override: { severity: 'critical', by: ada, at: on('03-05'), reason: null } }), null],
  ['sla_missed', 'high', finding(late), 'major'],
  [
    'sla_missed',
    'medium',
    together(policy({ sla: { critical: 1, high: 1, medium: 1, low: 1, info: 1, unknown: 1, kev: 1 } }), finding({ ...late, severity_source: 'medium' })),
    'minor',
  ],
  ['sla_missed', 'known exploited', finding({ ...late, kev: true }), null],
  ['kev_past_due', 'known exploited', finding({ ...late, kev: true }), 'major'],
  ['clock_reset', 'reopened', finding({ first_seen: on('02-20') }), 'minor'],
  [
    'policy_loosened',
    'and nothing rests on it',
    policies({ sla: { critical: 15, high: 60, medium: 90, low: 180, info: null, unknown: 90, kev: 14 } }),
    'minor',
  ],
  ['policy_loosened', 'the brake, before the scan', policies({ brake: { findings: 5000, share: 1 } }), 'major'],
  ['policy_loosened', 'the brake, after the scan', policies({ effective_from: on('03-11'), brake: { findings: 5000, share: 1 } }), 'minor'],
  ['policy_changed', 'another ranking', policies({ source_ranking: ['mild'] }), 'note'],
  ['policy_changed', 'tightened', policies({ four_eyes: true }), 'note'],
  ['no_approval', 'nobody', facts({ approvals: [] }), 'minor'],
  ['no_approval', 'nobody, though four eyes are required', together(facts({ approvals: [] }), policy({ four_eyes: true })), 'major'],
  ['approval_stale', 'another state', approval({ state_sha256: H }), 'major'],
  ['approver_took_part', 'the opener', approval({ by: olga }), 'major'],
  ['approver_took_part', 'who uploaded the scan', together(uploaded(grace), approval({})), 'major'],
  [
    'approver_took_part',
    'next to somebody who did not',
    ({ facts: given }) => given.approvals.push({ id: id(41), decision: 'approved', by: ada, at: on('03-11'), comment: null, state_sha256: '' }),
    null,
  ],
  ['rejected', 'rejected', approval({ decision: 'rejected' }), 'major'],
  [
    'rejected',
    'approved later',
    ({ facts: given }) => given.approvals.unshift({ id: id(41), decision: 'rejected', by: grace, at: on('03-10'), comment: null, state_sha256: '' }),
    null,
  ],
  [
    'rejected',
    'approved later, with a password that somebody else has set meanwhile',
    ({ facts: given, trail }) => {
      given.approvals.unshift({ id: id(41), decision: 'rejected', by: grace, at: on('03-10'), comment: null, state_sha256: '' });
      for (const person of given.people) if (person.id === grace.person) Object.assign(person, { credential_from: mallory.person, signs_in_with: 'password' });
      trail.push(
        event('member.updated', mallory, { object: { type: 'member', id: grace.person ?? '' }, after: { password: 'changed' }, at: on('03-10', '23:00') }),
      );
    },
    'major',
  ],
  ['no_artifact', 'none', facts({ artifacts: [] }), 'minor'],
  ['no_artifact', 'a file of the worker', artifact({ captured: false }), 'minor'],
  ['no_artifact', 'a ticket of somebody else', artifact({ captured: false, type: 'change_ticket', added_by: mallory }), null],
  ['no_artifact', 'a screenshot', artifact({ type: 'screenshot' }), 'minor'],
  ['artifact_not_captured', 'a link', artifact({ file: null }), 'minor'],
  ['artifact_removed', 'removed', artifact({ removed: { at: on('03-09'), by: ada, reason: 'wrong' } }), 'minor'],
  ['content_redacted', 'redacted', facts({ redactions: [{ file: 'data/artifacts/x/content', pointer: '/a', reason: 'token' }] }), 'minor'],
  ['no_timestamp', 'no authority', facts({ timestamped: false }), 'minor'],
  ['witness_missing', 'no witness answered', facts({ witnessed: false }), 'minor'],
  ['witness_missing', 'no witness is configured', facts({ witnessed: null }), null],
  ['log_restarted', 'after the work item was created', facts({ log: { origin: 'x', epoch: 2, started_at: on('03-05') } }), 'minor'],
  ['log_restarted', 'before the work item was created', facts({ log: { origin: 'x', epoch: 2, started_at: on('02-05') } }), 'note'],
  ['interrupted_sealing', 'an abandoned leaf', facts({ abandoned_leaves: [{ index: 3, leaf_sha256: H }] }), 'minor'],
];

test.each(table)('%s: %s', (code, _, change, weight) => {
  const gaps = derived((given) => void change(given)).completeness.gaps.filter((gap) => gap.code === code);
  expect(gaps.map((gap) => gap.weight)).toEqual(weight === null ? [] : [weight]);
  for (const gap of gaps) expect(gapSentence(gap)).toMatch(/^[A-Z\d][^\n]+\.$/);
  for (const gap of gaps) expect(gapSentence(gap)).not.toMatch(/unknown|undefined|NaN|\.\./);
});

test('every code can occur', () => {
  const covered = new Set(table.flatMap(([code, , , weight]) => (weight === null ? [] : [code])));
  expect(GAP_CODES.filter((code) => !covered.has(code))).toEqual([]);
});

test('gaps are in the order of their codes, about sorted ids, and name at most five', () => {
  const evidence = derived(({ facts: given }) => {
    given.timestamped = false;
    given.unlinked = [7, 3, 1, 9, 5, 4].map((number) => ({
      id: id(300 + number),
      title: `Old ${number}`,
      severity: 'low',
      state: 'open',
      at: on('03-05'),
      by: ada,
      reason: 'moved',
    }));
  });
  const [first, second] = evidence.completeness.gaps;
  expect(first).toMatchObject({ code: 'unlinked_active', about: [1, 3, 4, 5, 7, 9].map((number) => id(300 + number)) });
  expect(first && gapSentence(first)).toContain('and 1 more');
  expect(second?.code).toBe('no_timestamp');
});

test('whoever added the change did the work, and so did every assignee', () => {
  const acts = [
    event('artifact.added', mallory, { object: { type: 'artifact', id: IDS.artifact }, after: { type: 'commit' } }),
    event('work_item.updated', olga, {
      before: { assignee: 'Mallory', assignee_member_id: mallory.id },
      after: { assignee: 'Ada', assignee_member_id: ada.id },
    }),
    event('work_item.ticket_linked', olga, { after: { key: 'SEC-1', assignee: 'Mallory' } }),
    event('work_item.status_changed', mallory, { after: { status: 'awaiting_verification' } }),
    event('finding.status_changed', mallory, { object: ofFinding(1), after: { status: 'remediated' } }),
  ];
  const codes = (...events: typeof acts) =>
    derived((given) => {
      given.trail.push(...events);
      uploaded(mallory)(given);
    }).completeness.gaps.map(({ code }) => code);
  expect(codes()).toContain('scan_by_hand');
  for (const act of acts) expect(codes(act)).toContain('scan_by_worker');
  expect(codes(event('artifact.added', mallory, { object: { type: 'artifact', id: IDS.artifact }, after: { type: 'screenshot' } }))).toContain('scan_by_hand');
});
