import { EVIDENCE_SCHEMA_ID, type Evidence, type Gap, PACKAGE_FORMATS, RENDERER } from '../../document/evidence.ts';
import type { RenderContext } from '../../render/v2/context.ts';
import { approvedStateDigest, approvedStateLines, approvedStateOf } from '../../rules/approved-state.ts';
import { concludeFrom, countsOf, gradeOf } from '../../rules/conclude.ts';
import { grace, hash, sampleArtifact, sampleAsset, sampleFinding, sampleId, samplePolicy, sampleScan } from './parts.ts';

/** Facts that a test states come first. Counts follow from the findings, the grade from the gaps. */
export function sampleEvidence(overrides: Partial<Evidence> = {}, gaps: readonly Gap[] = []): Evidence {
  const findings = overrides.findings ?? [1, 2, 3, 4, 5, 6].map((number) => sampleFinding(number));
  const scans = overrides.scans ?? [sampleScan(1), sampleScan(2)];
  const artifacts = overrides.artifacts ?? [
    sampleArtifact(1),
    sampleArtifact(2, { type: 'change_ticket', title: 'CHG-20418 Roll out api 1.4.3', filename: 'CHG-20418.pdf', url: null, captured: false }),
  ];
  const unlinked = overrides.unlinked ?? [];
  const done = findings.every(({ standing }) => standing === 'remediated');
  const evidence: Evidence = {
    schema: EVIDENCE_SCHEMA_ID,
    renderer: RENDERER,
    package_id: sampleId(5, 2),
    sequence: 2,
    earlier: [{ package_id: sampleId(5, 1), sequence: 1, outcome: 'superseded', tagmanifest_sha256: hash(0x51), log: { epoch: 1, index: 11 } }],
    log: { origin: `evidence.example.com/orgs/${sampleId(6, 1)}`, epoch: 1, started_at: '2026-01-01T00:00:00.000Z' },
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
      created_by: grace,
      closed_at: done ? '2026-04-27T02:14:31.000Z' : null,
      follows: null,
    },
    as_of: '2026-05-03T14:00:00.000Z',
    generated_at: '2026-05-03T14:00:01.250Z',
    generator: { name: 'Remediation Risk Service', version: '0.1.0', build_sha256: 'cd'.repeat(32) },
    clock: { database_offset_ms: 3 },
    frameworks: [],
    requested_by: grace,
    note: 'For the annual SOC 2 audit.',
    policies: [samplePolicy()],
    people: [
      { id: sampleId(9, 1), name: 'Ada Lovelace', email: 'ada@example.com', role: 'analyst', signs_in_with: 'sso', credential_from: null },
      { id: sampleId(9, 2), name: 'Grace Hopper', email: 'grace@example.com', role: 'manager', signs_in_with: 'sso', credential_from: null },
      { id: sampleId(9, 3), name: 'Katherine Johnson', email: 'katherine@example.com', role: 'owner', signs_in_with: 'password', credential_from: null },
    ],
    ownerless_keys: 0,
    assets: [sampleAsset(0), sampleAsset(1), sampleAsset(2)],
    sources: [
      {
        asset_id: sampleId(2, 0),
        source: 'trivy',
        kind: 'connection',
        last_scan_at: '2026-04-27T02:13:02.000Z',
        last_complete_at: '2026-04-27T02:13:02.000Z',
        removed_at: null,
        removed_by: null,
      },
    ],
    findings,
    unlinked,
    scans,
    artifacts,
    approvals: [
      { id: sampleId(8, 1), decision: 'approved', by: grace, at: '2026-04-28T07:30:12.000Z', comment: 'Checked the second scan.', state_sha256: CURRENT },
    ],
    collection: [],
    redactions: [],
    audit_trail: { file: 'data/audit-trail.jsonl', events: 24, head: hash(0xc1) },
    abandoned_leaves: [],
    timestamped: true,
    witnessed: null,
    formats: [...PACKAGE_FORMATS],
    conclusion: concludeFrom(findings),
    completeness: { grade: gradeOf(gaps), gaps: [...gaps] },
    counts: countsOf(findings, { unlinked: unlinked.length, artifacts: artifacts.length, scans: scans.length }),
    checks: [
      { id: 'approved_independently', result: 'pass', passed: 1, of: 1 },
      { id: 'verified_by_scan', result: 'pass', passed: findings.length, of: findings.length },
      { id: 'within_deadline', result: 'pass', passed: findings.length, of: findings.length },
      { id: 'exceptions_end', result: 'not_applicable', passed: 0, of: 0 },
    ],
    decisions: [],
    selections: [
      {
        trail_seq: 2,
        at: '2026-03-02T09:00:01.000Z',
        by: { person: sampleId(9, 2), name: 'Grace Hopper' },
        linked: findings.length,
        filter: { asset: 'shop-api', severity: ['critical', 'high'] },
        reason: null,
      },
      { trail_seq: 9, at: '2026-03-09T11:20:00.000Z', by: { person: null, name: 'worker' }, linked: 1, filter: null, reason: 'findings were separated' },
    ],
    controls: [
      {
        framework: 'PCI DSS 4.0.1',
        control: '11.3.1',
        title: 'Internal scans, with rescans that confirm',
        verdict: 'supports',
        evidence: ['data/scans', 'findings'],
      },
      { framework: 'NIST SP 800-53 r5', control: 'SI-2', title: 'Flaw remediation', verdict: 'supports', evidence: ['findings', 'artifacts'] },
      { framework: 'SOC 2', control: 'CC7.4', title: 'Response to identified weaknesses', verdict: 'not_addressed', evidence: [] },
    ],
    ...overrides,
  };
  return {
    ...evidence,
    approvals: evidence.approvals.map((approval) => (approval.state_sha256 === CURRENT ? { ...approval, state_sha256: stateOf(evidence) } : approval)),
  };
}

/** Stands for the digest of the state that the package describes. */
const CURRENT = 'current';

const stateOf = (evidence: Evidence): string => approvedStateDigest(approvedStateLines(approvedStateOf(evidence)));

export const sampleContext: RenderContext = {
  keys: {
    package: 'SHA256:1S9Pd3uOQW4tm0B0eJ8gyIhV3nq5yT5kq3b4oJ4wXhE',
    log: 'SHA256:Zb1q2m0Ykq3b4oJ4wXhE1S9Pd3uOQW4tm0B0eJ8gyIh',
    note: 'evidence.example.com/orgs/0198e0b1+7a1c9e02+AX9Pd3uOQW4tm0B0eJ8gyIhV3nq5yT5kq3b4oJ4wXhE1',
  },
  sha256: { evidence: hash(0xd1), findings: hash(0xd2) },
};
