import { expect, test } from 'vitest';
import { DECISION_KINDS, type DecisionKind, type TrailEvent } from '../../document/decisions.ts';
import { ada, derived, event, grace, IDS, id, mallory, nobody, ofFinding, olga, on } from '../../testing/sample-facts.ts';

const finding = (before: object, after: object, more: Partial<TrailEvent> = {}) =>
  event('finding.status_changed', ada, { object: ofFinding(1), before, after: { reason_code: 'by_person', ...after }, reason: 'because', ...more });
const about = (action: string, type: string, before: object | null, after: object | null) =>
  event(action, ada, { object: { type, id: id(70) }, before, after });
const sla = { critical: 15, high: 30 };

/** An event for each kind, and one that is like it and no decision. */
const acts: [DecisionKind, TrailEvent, TrailEvent | null][] = [
  ['withdraw', finding({ status: 'open' }, { status: 'withdrawn' }), finding({ status: 'withdrawn' }, { status: 'open' })],
  [
    'retire_asset',
    about('asset.updated', 'asset', { retired: false }, { retired: true }),
    about('asset.updated', 'asset', { retired: true }, { retired: false }),
  ],
  ['retire_asset', finding({ status: 'open' }, { status: 'withdrawn', reason_code: 'asset_retired' }), null],
  ['end_track', about('asset.track_ended', 'asset', { ended: false }, { ended: true, reason: 'over' }), about('asset.reactivated', 'asset', {}, {})],
  ['end_track', about('asset.track_renamed', 'asset', { track: 'prod' }, { track: 'old' }), null],
  ['source_remove', finding({ status: 'open' }, { status: 'withdrawn', reason_code: 'source_retired' }), null],
  ['source_remove', about('source.retired', 'source', {}, { reason: 'old' }), about('source.reactivated', 'source', {}, {})],
  ['source_remove', about('connection.deleted', 'connection', {}, null), about('connection.created', 'connection', null, {})],
  ['merge', event('finding.merged', ada, { object: ofFinding(2), after: { merged_into: id(101) } }), null],
  ['merge', about('asset.merged', 'asset', null, { merged_into: id(71) }), null],
  ['split', event('finding.split', ada, { object: ofFinding(2), before: { merged_into: id(101) } }), null],
  ['alias', about('alias.added', 'alias', null, { vulnerability: 'CVE-1' }), null],
  [
    'unlink',
    event('work_item.finding_unlinked', ada, { after: { finding_id: id(109), reason: null } }),
    event('work_item.findings_linked', ada, { after: { linked: 1 } }),
  ],
  [
    'severity_down',
    finding({ severity: 'critical' }, { severity: 'low', severity_override: 'low' }, { action: 'finding.severity_changed' }),
    finding({ severity: 'low' }, { severity: 'critical', severity_override: null }, { action: 'finding.severity_changed' }),
  ],
  [
    'criticality_down',
    about('asset.updated', 'asset', { criticality: 'critical' }, { criticality: 'low' }),
    about('asset.updated', 'asset', { criticality: 'low' }, { criticality: 'high' }),
  ],
  ['accept', finding({ status: 'open' }, { status: 'risk_accepted' }), finding({ status: 'risk_accepted' }, { status: 'open' })],
  [
    'extend_acceptance',
    finding(
      { status: 'risk_accepted', acceptance_expires_at: on('06-01') },
      { status: 'risk_accepted', acceptance_expires_at: on('09-01') },
      { action: 'finding.updated' },
    ),
    finding(
      { status: 'risk_accepted', acceptance_expires_at: on('06-01') },
      { status: 'risk_accepted', acceptance_expires_at: on('05-01') },
      { action: 'finding.updated' },
    ),
  ],
  ['dismiss', finding({ status: 'open' }, { status: 'false_positive' }), null],
  [
    'verify_by_hand',
    finding({ status: 'remediated' }, { status: 'verified' }),
    finding({ status: 'remediated' }, { status: 'verified', reason_code: 'scan_absent' }),
  ],
  [
    'policy_loosen',
    about('organization.updated', 'organization', { policy: { sla } }, { policy: { sla: { ...sla, high: 60 } } }),
    about('organization.updated', 'organization', { policy: { sla } }, { policy: { sla: { ...sla, high: 10 } } }),
  ],
  ['policy_loosen', about('organization.updated', 'organization', { policy: { four_eyes: true } }, { policy: { four_eyes: false } }), null],
  ['policy_loosen', about('organization.updated', 'organization', { policy: { brake: { count: 50 } } }, { policy: { brake: { count: 5000 } } }), null],
  ['policy_loosen', about('organization.updated', 'organization', { policy: { sla } }, { policy: { sla: { ...sla, critical: null } } }), null],
  [
    'brake_confirm',
    event('import.confirmed', ada, { object: { type: 'import', id: IDS.after } }),
    event('import.succeeded', ada, { object: { type: 'import', id: IDS.after } }),
  ],
  ['import_discard', event('import.discarded', ada, { object: { type: 'import', id: IDS.after } }), null],
  [
    'connection_change',
    about('connection.updated', 'connection', { config: { url: 'a' }, enabled: true }, { config: { url: 'b' }, enabled: true }),
    about('connection.updated', 'connection', { config: { url: 'a' }, name: 'x' }, { config: { url: 'a' }, name: 'y', credentials_changed: [] }),
  ],
  ['connection_change', about('connection.updated', 'connection', { config: {}, enabled: true }, { config: {}, enabled: false }), null],
  [
    'deadline_extend',
    event('work_item.updated', ada, { before: { due_at: on('05-01') }, after: { due_at: on('06-01') } }),
    event('work_item.updated', ada, { before: { due_at: on('06-01') }, after: { due_at: on('05-01') } }),
  ],
  ['deadline_extend', event('work_item.updated', ada, { before: { due_at: on('05-01') }, after: { due_at: null } }), null],
  ['artifact_remove', event('artifact.removed', ada, { object: { type: 'artifact', id: IDS.artifact }, after: { reason: 'wrong' } }), null],
  [
    'credential_for_approver',
    event('member.updated', ada, { object: { type: 'member', id: grace.id ?? '' }, after: { password: 'changed' } }),
    event('member.updated', grace, { object: { type: 'member', id: grace.id ?? '' }, after: { password: 'changed' } }),
  ],
];

const registerOf = (...events: TrailEvent[]) => derived(({ trail }) => void trail.push(...events)).decisions;

test.each(acts)('%s is recognized', (kind, act, other) => {
  expect(registerOf(act)).toMatchObject([{ kind, trail_seq: 4, by: { person: ada.person, name: 'Ada' } }]);
  if (other !== null) expect(registerOf(other)).toEqual([]);
});

test('every kind is covered', () => {
  const covered = new Set(acts.map(([kind]) => kind));
  expect(DECISION_KINDS.filter((kind) => !covered.has(kind))).toEqual([]);
});

test('acts of the service, of scans and of connections are no decisions', () => {
  for (const [, act] of acts) expect(registerOf({ ...act, actor: { type: 'system', id: null, name: nobody.name, person: null } })).toEqual([]);
});

test('one request with one reason is one decision, however many findings it has', () => {
  const bulk = Array.from({ length: 25 }, (_, number) =>
    finding({ status: 'open' }, { status: 'false_positive' }, { object: { type: 'finding', id: id(200 + number) } }),
  );
  const [decision, ...others] = registerOf(...bulk);
  expect(others).toEqual([]);
  expect(decision?.findings).toMatchObject({ count: 25, by_severity: { unknown: 25 } });
  expect(decision?.findings.ids).toHaveLength(20);
  const requests = bulk.map((act, number) => ({ ...act, at: on('03-08', `10:${String(number).padStart(2, '0')}`), request_id: 'r1' }));
  expect(registerOf(...requests)).toHaveLength(1);
  expect(registerOf(...requests.map((act, number) => ({ ...act, request_id: `r${number}` })))).toHaveLength(25);
});

test('another person, kind or reason is another decision', () => {
  const act = finding({ status: 'open' }, { status: 'false_positive' });
  const byMallory = { ...act, actor: { ...act.actor, person: mallory.person } };
  expect(registerOf(act, byMallory, { ...act, reason: 'other' }, finding({ status: 'open' }, { status: 'withdrawn' }))).toHaveLength(4);
});

test('a retired asset and the findings that it withdraws are one decision', () => {
  const asset = event('asset.updated', ada, { object: { type: 'asset', id: IDS.asset }, before: { retired: false }, after: { retired: true } });
  const withdrawn = [1, 2].map((number) =>
    event('finding.status_changed', ada, {
      object: ofFinding(number),
      before: { status: 'open' },
      after: { status: 'withdrawn', reason_code: 'asset_retired' },
      reason: 'The asset was retired.',
    }),
  );
  expect(registerOf(asset, ...withdrawn)).toMatchObject([{ kind: 'retire_asset', reason: null, findings: { count: 2, by_severity: { high: 2 } } }]);
});

test('who asked for an acceptance decided on it, and who approved it is the second person', () => {
  const request = event('finding.acceptance_requested', ada, { object: ofFinding(1), after: { owner: 'Olga' }, reason: 'soon gone' });
  const answer = event('finding.status_changed', olga, {
    at: on('03-09'),
    object: ofFinding(1),
    before: { status: 'open' },
    after: { status: 'risk_accepted', reason_code: 'acceptance_approved' },
    reason: 'agreed',
  });
  expect(registerOf(request, answer)).toMatchObject([{ kind: 'accept', by: { name: 'Ada' }, second_person: olga.person, reason: 'agreed', trail_seq: 5 }]);
});

test('a confirmed import has the findings that it closed', () => {
  const confirmed = event('import.confirmed', olga, { object: { type: 'import', id: IDS.after } });
  expect(registerOf(confirmed)).toMatchObject([{ kind: 'brake_confirm', import_id: IDS.after, findings: { count: 2, ids: [id(101), id(102)] } }]);
});
