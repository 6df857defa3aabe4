import type { Finding } from '../../document/finding.ts';
import type { Artifact } from '../../document/originals.ts';
import type { Person } from '../../document/people.ts';
import type { Scan } from '../../document/scan.ts';
import type { AssetScope, PolicyVersion } from '../../document/scope.ts';
import { SEVERITIES, type Severity } from '../../document/states.ts';

/** Realistic and deterministic evidence, for tests of the readable files. */
export function sampleId(kind: number, number: number): string {
  return `0198e0b1-7c3a-7${kind.toString(16).padStart(3, '0')}-9b1a-${number.toString(16).padStart(12, '0')}`;
}

export const hash = (number: number): string => number.toString(16).padStart(2, '0').repeat(32);

const member = (number: number, name: string): Person => ({ kind: 'member', id: sampleId(9, number), name, person: sampleId(9, number) });
export const ada = member(1, 'Ada Lovelace');
export const grace = member(2, 'Grace Hopper');
export const katherine = member(3, 'Katherine Johnson');

const components = ['log4j-core', 'spring-beans', 'openssl', 'curl', 'jackson-databind', 'zlib', 'lodash', 'commons-text'];
const none = { critical: 0, high: 0, medium: 0, low: 0, info: 0, unknown: 0 };

export function sampleFinding(number: number, overrides: Partial<Finding> = {}): Finding {
  const component = components[number % components.length] ?? 'openssl';
  const severity = SEVERITIES[(number - 1) % 4] as Severity;
  return {
    id: sampleId(1, number),
    title: number === 1 ? 'Log4Shell: remote code execution through JNDI lookups' : `Weakness ${number} in ${component}`,
    weakness: `CVE-2021-${44_227 + number}`,
    cves: [`CVE-2021-${44_227 + number}`],
    cwes: [502],
    severity,
    severity_source: severity,
    override: null,
    cvss: { version: '3.1', vector: 'CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:C/C:H/I:H/A:H', score: 10 - (number % 7) },
    epss: { score: 0.9421, date: '2026-05-01' },
    kev: number % 5 === 1,
    kev_since: number % 5 === 1 ? '2026-03-01T00:00:00.000Z' : null,
    risk_score: 98 - (number % 60),
    asset: { id: sampleId(2, number % 3), type: 'container_image', name: `registry.example.com/shop/api-${number % 3}` },
    component,
    component_version: `2.14.${number % 10}`,
    fixed_version: '2.17.1',
    fix_published_date: number % 2 === 0 ? null : '2026-03-01',
    purl: `pkg:maven/org.example/${component}@2.14.${number % 10}`,
    place: `app/lib/${component}-2.14.jar`,
    first_seen: '2026-03-02T08:14:12.000Z',
    last_seen: '2026-04-20T02:00:00.000Z',
    clock_started_at: '2026-03-02T08:14:12.000Z',
    due_at: '2026-05-02T08:14:12.000Z',
    closed_at: '2026-04-27T02:14:31.000Z',
    within_sla: true,
    state: 'verified',
    state_reason: null,
    state_changed_at: '2026-04-27T02:14:31.000Z',
    cause: 'scan',
    decided_by: null,
    claimed_at: '2026-04-24T11:45:07.000Z',
    claimed_by: ada,
    assurance: 'scan_after_claim',
    justification: null,
    acceptance: null,
    reopen_count: 0,
    sources: ['trivy'],
    occurrence_count: 1,
    occurrences: [
      {
        place: `app/lib/${component}-2.14.jar`,
        component_version: `2.14.${number % 10}`,
        state: 'absent',
        source: 'trivy',
        track: 'main',
        first_seen: '2026-03-02T08:14:12.000Z',
        last_seen: '2026-04-20T02:00:00.000Z',
      },
    ],
    before: { state: 'present', scan: sampleId(3, 1) },
    after: { state: 'absent', scan: sampleId(3, 2), others: [], doubts: [] },
    contradicted_by: null,
    suppressed: false,
    version_rescanned: true,
    work_items: [{ id: sampleId(7, 1), linked_at: '2026-03-02T09:00:00.000Z', unlinked_at: null }],
    merged: [],
    provenance: 'connection',
    standing: 'remediated',
    ...overrides,
  };
}

export function sampleScan(number: number, overrides: Partial<Scan> = {}): Scan {
  const phase = number === 1 ? 'before' : 'after';
  return {
    id: sampleId(3, number),
    phase,
    status: 'succeeded',
    tool: 'trivy',
    tool_version: '0.58.1',
    knowledge_at: number === 1 ? '2026-03-01T18:00:00.000Z' : '2026-04-26T18:00:00.000Z',
    credentialed: true,
    started_at: number === 1 ? '2026-03-02T08:12:40.000Z' : '2026-04-27T02:11:20.000Z',
    ended_at: number === 1 ? '2026-03-02T08:14:12.000Z' : '2026-04-27T02:13:02.000Z',
    received_at: number === 1 ? '2026-03-02T08:15:03.000Z' : '2026-04-27T02:14:00.000Z',
    imported_at: number === 1 ? '2026-03-02T08:15:09.000Z' : '2026-04-27T02:14:31.000Z',
    format: 'trivy',
    filename: null,
    targets: ['registry.example.com/shop/api-0', 'registry.example.com/shop/api-1', 'registry.example.com/shop/api-2'],
    vantage: 'internal',
    version: number === 1 ? '1.4.2' : '1.4.3',
    track: 'main',
    complete: true,
    doubts: [],
    records: number === 1 ? 128 : 122,
    rejected: 0,
    names: [],
    self_described: false,
    copy_of: null,
    delivery: {
      method: 'connection',
      by: { kind: 'connection', id: sampleId(10, 1), name: 'Harbor scans', person: null },
      connection: {
        id: sampleId(10, 1),
        name: 'Harbor scans',
        provider: 'harbor',
        host: 'harbor.example.com',
        settings_sha256: hash(0xe1),
        created_by: katherine,
        changed_by: katherine,
        changed_at: '2026-01-10T09:30:00.000Z',
      },
      pipeline: null,
    },
    confirmed: null,
    sha256: hash(0xa0 + number),
    size: 182_331,
    original: 'bytes',
    file: `data/scans/${sampleId(3, number)}/report`,
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
    captured: true,
    file: `data/artifacts/${sampleId(4, number)}/content`,
    superseded_by: null,
    removed: null,
    ...overrides,
  };
}

export function sampleAsset(number: number, overrides: Partial<AssetScope> = {}): AssetScope {
  return {
    id: sampleId(2, number),
    type: 'container_image',
    name: `registry.example.com/shop/api-${number}`,
    owner: number === 1 ? null : 'Team Checkout',
    criticality: 'high',
    exposure: 'internet',
    retired_at: null,
    versions: ['1.4.3', '1.4.2', '1.4.1'],
    other_open: number === 2 ? { ...none, medium: 1, low: 4 } : none,
    other_open_alike: [],
    ...overrides,
  };
}

export const samplePolicy = (overrides: Partial<PolicyVersion> = {}): PolicyVersion => ({
  effective_from: '2026-01-01T00:00:00.000Z',
  changed_by: null,
  sla: { critical: 15, high: 30, medium: 90, low: 180, info: null, unknown: 90, kev: 14 },
  four_eyes: true,
  brake: { findings: 50, share: 0.3 },
  source_ranking: ['trivy', 'tenable'],
  retention: { reports: 1_095, runs: 365 },
  ...overrides,
});
