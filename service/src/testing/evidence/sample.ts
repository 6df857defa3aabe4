import type { Artifact, Evidence, Finding, Gap, Scan, Severity } from '@rrs/evidence-format';
import { concludeFrom, countsOf, EVIDENCE_SCHEMA_ID, gradeOf, PACKAGE_FORMATS, reasonsOf, SEVERITIES } from '@rrs/evidence-format';
import type { ReportContext } from '../../evidence/formats/context.ts';

/** Realistic and deterministic evidence, for tests of the reports. */
export const ada = { kind: 'member', id: sampleId(9, 1), name: 'Ada Lovelace' } as const;
const grace = { kind: 'member', id: sampleId(9, 2), name: 'Grace Hopper' } as const;

export function sampleId(kind: number, number: number): string {
  return `0198e0b1-7c3a-7${kind.toString(16).padStart(3, '0')}-9b1a-${number.toString(16).padStart(12, '0')}`;
}

export const hash = (number: number) => number.toString(16).padStart(2, '0').repeat(32);

const components = ['log4j-core', 'spring-beans', 'openssl', 'curl', 'jackson-databind', 'zlib', 'lodash', 'commons-text'];

export function sampleFinding(number: number, overrides: Partial<Finding> = {}): Finding {
  const component = components[number % components.length] ?? 'openssl';
  return {
    id: sampleId(1, number),
    title: number === 1 ? 'Log4Shell: remote code execution through JNDI lookups' : `Weakness ${number} in ${component}`,
    weakness: `CVE-2021-${44_227 + number}`,
    cves: [`CVE-2021-${44_227 + number}`],
    cwes: [502],
    severity: SEVERITIES[number % 4] as Severity,
    cvss: { version: '3.1', vector: 'CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:C/C:H/I:H/A:H', score: 10 - (number % 7) },
    epss: { score: 0.9421, date: '2026-05-01' },
    kev: number % 5 === 1,
    risk_score: 98 - (number % 60),
    asset: { id: sampleId(2, number % 7), type: 'container_image', name: `registry.example.com/shop/api-${number % 7}:1.4.2` },
    component,
    component_version: `2.14.${number % 10}`,
    fixed_version: '2.17.1',
    purl: `pkg:maven/org.example/${component}@2.14.${number % 10}`,
    place: `app/lib/${component}-2.14.jar`,
    first_seen: '2026-03-02T08:15:00.000Z',
    last_seen: '2026-04-20T02:00:00.000Z',
    due_at: '2026-05-02T00:00:00.000Z',
    closed_at: '2026-04-27T02:14:00.000Z',
    within_sla: true,
    state: 'verified',
    state_reason: null,
    state_changed_at: '2026-04-27T02:14:00.000Z',
    state_changed_by: 'trivy',
    assurance: 'scan_after_claim',
    justification: null,
    acceptance: null,
    reopen_count: 0,
    sources: ['trivy'],
    occurrence_count: 0,
    occurrences: [],
    before: { state: 'present', scan: sampleId(3, 1) },
    after: { state: 'absent', scan: sampleId(3, 2) },
    ...overrides,
  };
}

function sampleScan(number: number, overrides: Partial<Scan> = {}): Scan {
  const phase = number === 1 ? 'before' : 'after';
  return {
    id: sampleId(3, number),
    phase,
    tool: 'trivy 0.58.1',
    format: 'trivy',
    filename: `shop-api-${phase}.json`,
    received_at: number === 1 ? '2026-03-02T08:15:00.000Z' : '2026-04-27T02:14:00.000Z',
    finished_at: number === 1 ? '2026-03-02T08:14:12.000Z' : '2026-04-27T02:13:02.000Z',
    complete: true,
    records: 128,
    sha256: hash(0xa0 + number),
    size: 182_331,
    file: `data/scans/${phase}/${sampleId(3, number)}/report`,
    ...overrides,
  };
}

export function sampleArtifact(number: number, overrides: Partial<Artifact> = {}): Artifact {
  return {
    id: sampleId(4, number),
    type: 'pull_request',
    title: 'Update log4j-core to 2.17.1 (#4711)',
    description: 'The change, with its review.',
    occurred_at: '2026-04-24T10:02:00.000Z',
    added_at: '2026-04-24T11:40:00.000Z',
    added_by: ada,
    url: 'https://git.example.com/shop/api/pull/4711',
    filename: 'pull-4711.patch',
    media_type: 'text/x-patch',
    size: 5_310,
    sha256: hash(0xb0 + number),
    file: `data/artifacts/${sampleId(4, number)}/content`,
    superseded_by: null,
    removed: null,
    ...overrides,
  };
}

export function sampleEvidence(overrides: Partial<Evidence> = {}): Evidence {
  const findings = overrides.findings ?? [1, 2, 3, 4, 5, 6].map((number) => sampleFinding(number));
  const scans = overrides.scans ?? [sampleScan(1), sampleScan(2)];
  const artifacts = overrides.artifacts ?? [
    sampleArtifact(1),
    sampleArtifact(2, { type: 'change_ticket', title: 'CHG-20418 Roll out api 1.4.3', filename: 'CHG-20418.pdf', url: null }),
  ];
  const done = concludeFrom(findings) === 'remediated';
  return {
    schema: EVIDENCE_SCHEMA_ID,
    package_id: sampleId(5, 1),
    sequence: 2,
    supersedes: { package_id: sampleId(5, 0), sequence: 1 },
    organization: { id: sampleId(6, 1), name: 'Example Shop Ltd' },
    work_item: {
      id: sampleId(7, 1),
      title: 'Remove Log4Shell and related weaknesses from the shop API',
      description: null,
      status: done ? 'verified' : 'in_progress',
      priority: 'high',
      assignee: 'Ada Lovelace',
      due_at: '2026-05-02T00:00:00.000Z',
      external_ref: 'SEC-1042',
      created_at: '2026-03-02T09:00:00.000Z',
      closed_at: done ? '2026-04-27T02:14:00.000Z' : null,
      follows: null,
    },
    as_of: '2026-05-03T14:00:00.000Z',
    generated_at: '2026-05-03T14:00:01.250Z',
    generator: { name: 'Remediation Risk Service', version: '0.1.0' },
    requested_by: grace,
    note: 'For the annual SOC 2 audit.',
    conclusion: { status: concludeFrom(findings), reasons: reasonsOf(findings) },
    completeness: completeness(),
    counts: { ...countsOf(findings), artifacts: artifacts.length, scans: scans.length },
    findings,
    scans,
    artifacts,
    approvals: [{ id: sampleId(8, 1), decision: 'approved', by: grace, at: '2026-04-28T07:30:00.000Z', comment: 'Checked the second scan.' }],
    checks: [
      { id: 'approver_differs_from_author', result: 'pass', detail: 'Grace Hopper approved what Ada Lovelace did.' },
      { id: 'scan_after_claim', result: 'pass', detail: 'The scan of 2026-04-27 began after the last claim.' },
    ],
    controls: [
      { framework: 'PCI DSS 4.0.1', control: '11.3.1', title: 'Internal scans, with rescans that confirm', evidence: ['data/scans/after'] },
      { framework: 'NIST SP 800-53 r5', control: 'SI-2', title: 'Flaw remediation', evidence: ['findings', 'artifacts'] },
      { framework: 'SOC 2', control: 'CC7.1', title: 'Detection of new vulnerabilities', evidence: ['data/scans/before', 'data/findings.csv'] },
    ],
    collection: [],
    redactions: [],
    audit_trail: { file: 'data/audit-trail.jsonl', events: 24, head: hash(0xc1) },
    abandoned_leaves: [],
    formats: [...PACKAGE_FORMATS],
    files: [],
    ...overrides,
  };
}

export const completeness = (...gaps: Gap[]): Evidence['completeness'] => ({ grade: gradeOf(gaps), gaps });

export function sampleContext(overrides: Partial<ReportContext> = {}): ReportContext {
  return {
    timeline: [
      { at: '2026-03-02T08:15:00.000Z', actor: 'trivy', what: 'Findings were first seen', object: 'shop-api-before.json' },
      { at: '2026-03-02T09:00:00.000Z', actor: 'Ada Lovelace', what: 'The work item was created', object: 'SEC-1042' },
      { at: '2026-04-24T11:40:00.000Z', actor: 'Ada Lovelace', what: 'An artifact was added', object: 'Update log4j-core to 2.17.1 (#4711)' },
      { at: '2026-04-27T02:14:00.000Z', actor: 'trivy', what: 'Findings were no longer seen and became verified', object: 'shop-api-after.json' },
      { at: '2026-04-28T07:30:00.000Z', actor: 'Grace Hopper', what: 'The outcome was approved', object: 'SEC-1042' },
    ],
    keys: {
      package: 'SHA256:1S9Pd3uOQW4tm0B0eJ8gyIhV3nq5yT5kq3b4oJ4wXhE',
      log: 'SHA256:Zb1q2m0Ykq3b4oJ4wXhE1S9Pd3uOQW4tm0B0eJ8gyIh',
      note: 'evidence.example.com/orgs/0198e0b1+7a1c9e02+AX9Pd3uOQW4tm0B0eJ8gyIhV3nq5yT5kq3b4oJ4wXhE1',
    },
    ...overrides,
  };
}
