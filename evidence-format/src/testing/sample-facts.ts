import type { TrailEvent } from '../document/decisions.ts';
import { EVIDENCE_SCHEMA_ID, type Evidence, type Facts, RENDERER } from '../document/evidence.ts';
import type { FindingFacts } from '../document/finding.ts';
import type { Person, PersonFacts } from '../document/people.ts';
import type { PipelineRun, Scan } from '../document/scan.ts';
import { SEVERITIES } from '../document/states.ts';
import { approvedStateDigest, approvedStateLines, approvedStateOf } from '../rules/approved-state.ts';
import { zeros } from '../rules/conclude.ts';
import { deriveEvidence } from '../rules/derive.ts';

export const id = (number: number): string => `0190a8f0-0000-7000-8000-${number.toString(16).padStart(12, '0')}`;
export const H = 'ab'.repeat(32);
/** A day of 2026, in month-day form. */
export const on = (day: string, time = '12:00'): string => `2026-${day}T${time}:00.000Z`;

const member = (number: number, name: string): Person => ({ kind: 'member', id: id(number), name, person: id(number) });
/** Ada does the work, Grace approves it, Olga administers, and Mallory is a colleague without a part. */
export const [ada, grace, olga, mallory] = [member(1, 'Ada'), member(2, 'Grace'), member(3, 'Olga'), member(4, 'Mallory')] as [Person, Person, Person, Person];
export const ownerlessKey: Person = { kind: 'api_key', id: id(8), name: 'ci', person: null };
export const nobody: Person = { kind: 'system', id: null, name: 'worker', person: null };
const connectionActor: Person = { kind: 'connection', id: id(50), name: 'Scanner', person: null };

const factsOf = (by: Person, role: string): PersonFacts => ({
  id: by.person ?? '',
  name: by.name,
  email: `${by.name.toLowerCase()}@acme.example`,
  role,
  signs_in_with: 'sso',
  credential_from: null,
});

export const IDS = { item: id(5), asset: id(11), before: id(20), after: id(21), artifact: id(30), approval: id(40), organization: id(6) } as const;

export function findingFacts(number: number, overrides: Partial<FindingFacts> = {}): FindingFacts {
  return {
    id: id(100 + number),
    title: `Weakness ${number}`,
    weakness: `CVE-2026-${1000 + number}`,
    cves: [`CVE-2026-${1000 + number}`],
    cwes: [],
    severity: 'high',
    severity_source: 'high',
    override: null,
    cvss: null,
    epss: null,
    kev: false,
    kev_since: null,
    risk_score: 50,
    asset: { id: IDS.asset, type: 'host', name: 'web-1' },
    component: 'openssl',
    component_version: '3.0.1',
    fixed_version: null,
    fix_published_date: null,
    purl: null,
    place: null,
    first_seen: on('03-01'),
    last_seen: on('03-01'),
    clock_started_at: on('03-01'),
    closed_at: on('03-10'),
    state: 'verified',
    state_reason: null,
    state_changed_at: on('03-10'),
    cause: 'scan',
    decided_by: null,
    claimed_at: on('03-08'),
    claimed_by: ada,
    assurance: 'scan_after_claim',
    justification: null,
    acceptance: null,
    reopen_count: 0,
    sources: ['scanner'],
    occurrence_count: 1,
    occurrences: [{ place: 'a', component_version: null, state: 'absent', source: 'scanner', track: 'main', first_seen: on('03-01'), last_seen: on('03-01') }],
    before: { state: 'present', scan: IDS.before },
    after: { state: 'absent', scan: IDS.after, others: [], doubts: [] },
    contradicted_by: null,
    suppressed: false,
    version_rescanned: null,
    work_items: [{ id: IDS.item, linked_at: on('03-02'), unlinked_at: null }],
    merged: [],
    ...overrides,
  };
}

/** What the token of a pipeline said. */
export const pipelineRun: PipelineRun = {
  proof: 'recorded',
  issuer: 'https://ci.example',
  subject: 'repo:acme/shop:ref:refs/heads/main',
  repository: 'acme/shop',
  repository_id: '4711',
  ref: 'refs/heads/main',
  ref_protected: true,
  sha: '3f2c9d1e3f2c9d1e3f2c9d1e3f2c9d1e3f2c9d1e',
  environment: null,
  workflow: 'acme/shop/.github/workflows/scan.yml@refs/heads/main',
  run_id: '1234567890',
  issued_at: '2026-03-10T08:00:00.000Z',
  token_sha256: '8'.repeat(64),
};

export function scanFacts(phase: 'before' | 'after', overrides: Partial<Scan> = {}): Scan {
  const day = phase === 'before' ? '03-01' : '03-10';
  const connection = { id: id(50), name: 'Scanner', provider: 'x', host: 'x.example', settings_sha256: H, created_by: olga, changed_by: olga };
  return {
    id: IDS[phase],
    phase,
    status: 'succeeded',
    tool: 'scanner',
    tool_version: '1.0',
    knowledge_at: null,
    credentialed: true,
    started_at: on(day, '10:00'),
    ended_at: on(day, '11:00'),
    received_at: on(day, '11:30'),
    imported_at: on(day),
    format: 'x',
    filename: null,
    targets: ['web-1'],
    vantage: 'internal',
    version: null,
    track: null,
    complete: true,
    doubts: [],
    records: 2,
    rejected: 0,
    names: [],
    self_described: false,
    copy_of: null,
    delivery: { method: 'connection', by: connectionActor, connection: { ...connection, changed_at: on('01-02') }, pipeline: null },
    confirmed: null,
    sha256: H,
    size: 3,
    original: 'records',
    file: `data/scans/${phase}/${IDS[phase]}/report`,
    ...overrides,
  };
}

let events = 0;

export function event(action: string, by: Person, more: Partial<TrailEvent> = {}): TrailEvent {
  const type = by.kind === 'member' ? 'member' : by.kind;
  const [kind] = action.split('.');
  return {
    id: id(10_000 + events++),
    at: on('03-08'),
    action,
    actor: { type, id: by.id, name: by.name, person: by.person },
    object: { type: kind ?? '', id: IDS.item },
    before: null,
    after: null,
    reason: null,
    import_id: null,
    request_id: null,
    ...more,
  };
}

export const ofFinding = (number: number) => ({ type: 'finding', id: id(100 + number) });

export interface Case {
  facts: Facts;
  trail: TrailEvent[];
}

/** Two findings that Ada fixed, that a connection of Olga no longer sees, and that Grace approved. */
function honestCase(): Case {
  const facts: Facts = {
    schema: EVIDENCE_SCHEMA_ID,
    renderer: RENDERER,
    package_id: id(7),
    sequence: 1,
    earlier: [],
    log: { origin: `rrs.example/orgs/${IDS.organization}`, epoch: 1, started_at: on('01-01') },
    organization: { id: IDS.organization, name: 'Acme' },
    work_item: {
      id: IDS.item,
      title: 'Update OpenSSL',
      description: null,
      status: 'verified',
      priority: 'high',
      assignee: 'Ada',
      due_at: null,
      external_ref: null,
      created_at: on('03-02'),
      created_by: olga,
      closed_at: on('03-10'),
      follows: null,
    },
    as_of: on('03-12'),
    generated_at: on('03-12'),
    generator: { name: 'rrs', version: '0.1.0', build_sha256: 'cd'.repeat(32) },
    clock: { database_offset_ms: 3 },
    frameworks: [],
    requested_by: grace,
    note: null,
    policies: [
      {
        effective_from: on('01-01'),
        changed_by: null,
        sla: { critical: 15, high: 30, medium: 90, low: 180, info: null, unknown: 90, kev: 14 },
        four_eyes: false,
        brake: { findings: 50, share: 0.2 },
        source_ranking: [],
        retention: { reports: 1_095, runs: 365 },
      },
    ],
    people: [factsOf(ada, 'analyst'), factsOf(grace, 'analyst'), factsOf(olga, 'admin'), factsOf(mallory, 'analyst')],
    ownerless_keys: 0,
    assets: [
      {
        id: IDS.asset,
        type: 'host',
        name: 'web-1',
        owner: null,
        criticality: 'high',
        exposure: 'internal',
        retired_at: null,
        versions: [],
        other_open: zeros(SEVERITIES),
        other_open_alike: [],
      },
    ],
    sources: [
      {
        asset_id: IDS.asset,
        source: 'scanner',
        kind: 'connection',
        last_scan_at: on('03-10'),
        last_complete_at: on('03-10'),
        removed_at: null,
        removed_by: null,
      },
    ],
    findings: [findingFacts(1), findingFacts(2)],
    unlinked: [],
    scans: [scanFacts('before'), scanFacts('after')],
    artifacts: [
      {
        id: IDS.artifact,
        type: 'pull_request',
        title: 'Update',
        description: null,
        occurred_at: null,
        added_at: on('03-08'),
        added_by: ada,
        url: 'https://git.example/1',
        filename: null,
        media_type: 'text/html',
        size: 100,
        sha256: H,
        captured: true,
        file: `data/artifacts/${IDS.artifact}/content`,
        superseded_by: null,
        removed: null,
      },
    ],
    approvals: [{ id: IDS.approval, decision: 'approved', by: grace, at: on('03-11'), comment: null, state_sha256: '' }],
    collection: [],
    redactions: [],
    audit_trail: { file: 'data/audit-trail.jsonl', events: 3, head: H },
    abandoned_leaves: [],
    timestamped: true,
    witnessed: null,
    formats: ['html', 'json', 'jsonl'],
  };
  const trail = [
    event('work_item.created', olga, { at: on('03-02'), after: { title: 'Update OpenSSL', assignee: 'Ada' } }),
    event('finding.status_changed', ada, { object: ofFinding(1), before: { status: 'open' }, after: { status: 'remediated', reason_code: 'by_person' } }),
    event('finding.status_changed', ada, { object: ofFinding(2), before: { status: 'open' }, after: { status: 'remediated', reason_code: 'by_person' } }),
  ];
  return { facts, trail };
}

/** Approvals without a digest are of the state that the package describes. */
export function derived(change: (given: Case) => void = () => {}): Evidence {
  const given = honestCase();
  change(given);
  const evidence = deriveEvidence(given.facts, given.trail);
  const digest = approvedStateDigest(approvedStateLines(approvedStateOf(evidence)));
  const approvals = given.facts.approvals.map((approval) => (approval.state_sha256 === '' ? { ...approval, state_sha256: digest } : approval));
  return deriveEvidence({ ...given.facts, approvals }, given.trail);
}

/** Codes with the first letter of their weight: `no_artifact m`. */
export const codesOf = ({ completeness }: Evidence): string[] =>
  completeness.gaps.map(({ code, weight }) => `${code} ${{ major: 'M', minor: 'm', note: 'n' }[weight]}`);
