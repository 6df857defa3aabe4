import { type Artifact, collectionOf, EVIDENCE_SCHEMA_ID, type Facts, type FindingFacts, type Person, RENDERER, type Scan } from '@rrs/evidence-format';

export const id = (last: number) => `01900000-0000-7000-8000-${String(last).padStart(12, '0')}`;

/** The ID of a finding. It begins with the time at which the service recorded it, which is `AT.received`. */
export const findingId = (last: number) => `019b78c9-0a80-7000-8000-${String(last).padStart(12, '0')}`;

export const IDS = {
  package: id(1),
  organization: id(2),
  workItem: id(3),
  before: id(4),
  after: id(5),
  artifact: id(6),
  approval: id(7),
  previous: id(8),
  connection: id(9),
  findings: [findingId(101), findingId(102)],
  asset: id(200),
  ada: id(300),
  grace: id(301),
  edsger: id(302),
} as const;

/** When things happened, in this order. */
export const AT = {
  policy: '2025-12-01T00:00:00.000Z',
  logStart: '2026-01-01T00:00:00.000Z',
  seen: '2026-01-01T08:00:00.000Z',
  received: '2026-01-01T09:00:00.000Z',
  created: '2026-01-02T10:00:00.000Z',
  claimed: '2026-01-10T10:00:00.000Z',
  rescanned: '2026-02-20T08:00:00.000Z',
  verified: '2026-02-20T09:00:00.000Z',
  artifact: '2026-02-21T10:00:00.000Z',
  approved: '2026-02-22T10:00:00.000Z',
  sealed: '2026-03-04T05:06:07.000Z',
} as const;

const member = (person: string, name: string): Person => ({ kind: 'member', id: person, name, person });
export const ada = member(IDS.ada, 'Ada');
export const grace = member(IDS.grace, 'Grace');
export const edsger = member(IDS.edsger, 'Edsger');
const connection: Person = { kind: 'connection', id: IDS.connection, name: 'Scanner', person: null };

export interface SampleFile {
  path: string;
  sha256: string;
  size: number;
}

export const PATHS = {
  before: `data/scans/before/${IDS.before}/report`,
  after: `data/scans/after/${IDS.after}/report`,
  artifact: `data/artifacts/${IDS.artifact}/content`,
} as const;

function sampleFinding(number: number): FindingFacts {
  return {
    id: findingId(100 + number),
    title: `OpenSSL ${number}`,
    weakness: `CVE-2026-${1000 + number}`,
    cves: [`CVE-2026-${1000 + number}`],
    cwes: [79],
    severity: 'high',
    severity_source: 'high',
    override: null,
    cvss: { version: '3.1', vector: 'CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:N/A:N', score: 7.5 },
    epss: { score: 0.25, date: '2026-03-01' },
    kev: false,
    kev_since: null,
    risk_score: 71,
    asset: { id: IDS.asset, type: 'host', name: 'web-1' },
    component: 'openssl',
    component_version: '3.0.1',
    fixed_version: '3.0.2',
    fix_published_date: '2026-02-01',
    purl: 'pkg:deb/debian/openssl@3.0.1',
    place: null,
    first_seen: AT.seen,
    last_seen: AT.seen,
    clock_started_at: AT.seen,
    closed_at: AT.verified,
    state: 'verified',
    state_reason: null,
    state_changed_at: AT.verified,
    cause: 'scan',
    decided_by: null,
    claimed_at: AT.claimed,
    claimed_by: ada,
    assurance: 'scan_after_claim',
    justification: null,
    acceptance: null,
    reopen_count: 0,
    sources: ['scanner'],
    occurrence_count: 1,
    occurrences: [
      {
        place: 'package openssl',
        component_version: '3.0.1',
        state: 'absent',
        source: 'scanner',
        track: 'main',
        first_seen: AT.seen,
        last_seen: AT.seen,
      },
    ],
    before: { state: 'present', scan: IDS.before },
    after: { state: 'absent', scan: IDS.after, others: [], doubts: [] },
    contradicted_by: null,
    suppressed: false,
    version_rescanned: null,
    work_items: [{ id: IDS.workItem, linked_at: AT.created, unlinked_at: null }],
    merged: [],
  };
}

function sampleScan(phase: 'before' | 'after', file: SampleFile): Scan {
  const [ended, received] = phase === 'before' ? [AT.seen, AT.received] : [AT.rescanned, AT.verified];
  return {
    id: IDS[phase],
    phase,
    status: 'succeeded',
    tool: 'scanner',
    tool_version: '4.2',
    knowledge_at: ended,
    credentialed: true,
    started_at: ended,
    ended_at: ended,
    received_at: received,
    imported_at: received,
    format: 'sarif',
    filename: 'report.json',
    targets: ['web-1'],
    vantage: 'internal',
    version: null,
    track: 'main',
    complete: true,
    doubts: [],
    records: phase === 'before' ? 2 : 0,
    rejected: 0,
    names: [],
    self_described: false,
    copy_of: null,
    delivery: {
      method: 'connection',
      by: connection,
      connection: {
        id: IDS.connection,
        name: 'Scanner',
        provider: 'scanner',
        host: 'scanner.example',
        settings_sha256: '2'.repeat(64),
        created_by: edsger,
        changed_by: edsger,
        changed_at: AT.policy,
      },
      pipeline: null,
    },
    confirmed: null,
    original: 'records',
    file: file.path,
    sha256: file.sha256,
    size: file.size,
  };
}

function sampleArtifact({ path, sha256, size }: SampleFile): Artifact {
  return {
    id: IDS.artifact,
    type: 'change_ticket',
    title: 'CHG-1',
    description: null,
    occurred_at: null,
    added_at: AT.artifact,
    added_by: ada,
    url: null,
    filename: 'change.txt',
    media_type: 'text/plain',
    captured: true,
    file: path,
    sha256,
    size,
    superseded_by: null,
    removed: null,
  };
}

/** The facts of a small complete package: two scans by a connection, an artifact, an approval, two verified findings. */
export function sampleFacts(files: SampleFile[]): Facts {
  const file = (path: string) => files.find((candidate) => candidate.path === path) ?? { path, sha256: '0'.repeat(64), size: 0 };
  const scans = [sampleScan('before', file(PATHS.before)), sampleScan('after', file(PATHS.after))];
  const artifacts = [sampleArtifact(file(PATHS.artifact))];
  return {
    schema: EVIDENCE_SCHEMA_ID,
    renderer: RENDERER,
    package_id: IDS.package,
    sequence: 2,
    earlier: [{ package_id: IDS.previous, sequence: 1, outcome: 'superseded', tagmanifest_sha256: '3'.repeat(64), log: { epoch: 1, index: 2 } }],
    log: { origin: `evidence.example/orgs/${IDS.organization}`, epoch: 1, started_at: AT.logStart },
    organization: { id: IDS.organization, name: 'Acme' },
    work_item: {
      id: IDS.workItem,
      title: 'Update OpenSSL',
      description: null,
      status: 'verified',
      priority: 'high',
      assignee: 'Ada',
      due_at: null,
      external_ref: null,
      created_at: AT.created,
      created_by: ada,
      closed_at: AT.verified,
      follows: null,
    },
    as_of: AT.sealed,
    generated_at: AT.sealed,
    generator: { name: 'rrs', version: '0.1.0', build_sha256: 'cd'.repeat(32) },
    clock: { database_offset_ms: 3 },
    frameworks: [],
    requested_by: ada,
    note: null,
    policies: [
      {
        effective_from: AT.policy,
        changed_by: null,
        sla: { critical: 15, high: 90, medium: 120, low: 180, info: null, unknown: 120, kev: 14 },
        four_eyes: true,
        brake: { findings: 50, share: 0.5 },
        source_ranking: [],
        retention: { reports: 1_095, runs: 365 },
      },
    ],
    people: [
      { id: IDS.ada, name: 'Ada', email: 'ada@acme.example', role: 'analyst', signs_in_with: 'sso', credential_from: null },
      { id: IDS.grace, name: 'Grace', email: 'grace@acme.example', role: 'owner', signs_in_with: 'sso', credential_from: null },
      { id: IDS.edsger, name: 'Edsger', email: null, role: 'admin', signs_in_with: 'sso', credential_from: null },
    ],
    ownerless_keys: 0,
    assets: [
      {
        id: IDS.asset,
        type: 'host',
        name: 'web-1',
        owner: 'Platform',
        criticality: 'high',
        exposure: 'internet',
        retired_at: null,
        versions: [],
        other_open: { critical: 0, high: 0, medium: 0, low: 0, info: 0, unknown: 0 },
        other_open_alike: [],
      },
    ],
    sources: [
      {
        asset_id: IDS.asset,
        source: 'scanner',
        kind: 'connection',
        last_scan_at: AT.rescanned,
        last_complete_at: AT.rescanned,
        removed_at: null,
        removed_by: null,
      },
    ],
    findings: [sampleFinding(1), sampleFinding(2)],
    unlinked: [],
    scans,
    artifacts,
    approvals: [{ id: IDS.approval, decision: 'approved', by: grace, at: AT.approved, comment: null, state_sha256: '0'.repeat(64) }],
    collection: collectionOf(scans, artifacts, new Map([[IDS.artifact, { source: 'https://changes.example/CHG-1', at: AT.artifact }]])),
    redactions: [],
    audit_trail: { file: 'data/audit-trail.jsonl', events: 0, head: '0'.repeat(64) },
    abandoned_leaves: [],
    timestamped: false,
    witnessed: null,
    formats: ['pdf', 'html', 'json', 'jsonl', 'csv'],
  };
}
