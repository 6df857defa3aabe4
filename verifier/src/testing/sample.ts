import { countsOf, EVIDENCE_SCHEMA_ID, type Evidence, type Finding, type FindingState, type Gap, gradeOf, reasonsOf } from '@rrs/evidence-format';

const id = (last: number) => `01900000-0000-7000-8000-${String(last).padStart(12, '0')}`;
const NOW = '2026-03-04T05:06:07.000Z';

export const IDS = {
  package: id(1),
  organization: id(2),
  workItem: id(3),
  before: id(4),
  after: id(5),
  artifact: id(6),
  approval: id(7),
  previous: id(8),
} as const;

export function sampleFinding(number: number, state: FindingState): Finding {
  return {
    id: id(100 + number),
    title: `OpenSSL ${number}`,
    weakness: `CVE-2026-${1000 + number}`,
    cves: [`CVE-2026-${1000 + number}`],
    cwes: [79],
    severity: 'high',
    cvss: { version: '3.1', vector: 'CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:N/A:N', score: 7.5 },
    epss: { score: 0.25, date: '2026-03-01' },
    kev: false,
    risk_score: 71,
    asset: { id: id(200), type: 'host', name: 'web-1' },
    component: 'openssl',
    component_version: '3.0.1',
    fixed_version: '3.0.2',
    purl: 'pkg:deb/debian/openssl@3.0.1',
    place: null,
    first_seen: '2026-01-01T00:00:00.000Z',
    last_seen: '2026-02-01T00:00:00.000Z',
    due_at: null,
    closed_at: state === 'verified' ? NOW : null,
    within_sla: null,
    state,
    state_reason: null,
    state_changed_at: NOW,
    state_changed_by: null,
    assurance: state === 'verified' ? 'scan_after_claim' : null,
    justification: null,
    acceptance: null,
    reopen_count: 0,
    sources: ['scanner'],
    occurrence_count: 0,
    occurrences: [],
    before: { state: 'present', scan: IDS.before },
    after: { state: 'absent', scan: IDS.after },
  };
}

export const gap = (code: Gap['code'], weight: Gap['weight']): Gap => ({ code, weight, what: `The gap ${code}.`, about: [] });

export interface SampleFile {
  path: string;
  sha256: string;
  size: number;
}

/** Returns a small evidence.json that matches the given files: two scans, an artifact, an approval, two verified findings. */
export function sampleEvidence(files: SampleFile[], trail: { events: number; head: string }): Evidence {
  const file = (path: string) => files.find((candidate) => candidate.path === path) ?? { path, sha256: '0'.repeat(64), size: 0 };
  const findings = [sampleFinding(1, 'verified'), sampleFinding(2, 'verified')];
  const person = { kind: 'member', id: id(300), name: 'Ada' } as const;
  const gaps = [gap('no_timestamp', 'minor')];
  const scan = (phase: 'before' | 'after') => ({
    id: IDS[phase],
    phase,
    tool: 'scanner',
    format: 'sarif',
    filename: 'report.json',
    received_at: NOW,
    finished_at: null,
    complete: true,
    records: 2,
    ...stored(file(`data/scans/${phase}/${IDS[phase]}/report`)),
  });
  const artifactFile = file(`data/artifacts/${IDS.artifact}/content`);
  return {
    schema: EVIDENCE_SCHEMA_ID,
    package_id: IDS.package,
    sequence: 2,
    supersedes: { package_id: IDS.previous, sequence: 1 },
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
      created_at: '2026-01-02T00:00:00.000Z',
      closed_at: NOW,
      follows: null,
    },
    as_of: NOW,
    generated_at: NOW,
    generator: { name: 'rrs', version: '0.1.0' },
    requested_by: person,
    note: null,
    conclusion: { status: 'remediated', reasons: reasonsOf(findings) },
    completeness: { grade: gradeOf(gaps), gaps },
    counts: { ...countsOf(findings), artifacts: 1, scans: 2 },
    findings,
    scans: [scan('before'), scan('after')],
    artifacts: [
      {
        id: IDS.artifact,
        type: 'change_ticket',
        title: 'CHG-1',
        description: null,
        occurred_at: null,
        added_at: NOW,
        added_by: person,
        url: null,
        filename: 'change.txt',
        media_type: 'text/plain',
        ...stored(artifactFile),
        superseded_by: null,
        removed: null,
      },
    ],
    approvals: [{ id: IDS.approval, decision: 'approved', by: { ...person, id: id(301), name: 'Grace' }, at: NOW, comment: null }],
    checks: [{ id: 'approver_differs_from_author', result: 'pass', detail: 'Grace approved what Ada did.' }],
    controls: [],
    collection: [
      { ...stored(artifactFile), file: artifactFile.path, media_type: 'text/plain', method: 'upload', source: 'Ada', collected_at: NOW, collected_by: person },
    ],
    redactions: [],
    audit_trail: { file: 'data/audit-trail.jsonl', ...trail },
    abandoned_leaves: [],
    formats: ['pdf', 'json'],
    files: files.map(({ path, size, sha256 }) => ({ path, size, sha256, media_type: 'application/octet-stream' })),
  };
}

function stored({ path, sha256, size }: SampleFile) {
  return { file: path, sha256, size };
}
