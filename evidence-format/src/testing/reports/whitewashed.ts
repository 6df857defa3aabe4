import type { Evidence } from '../../document/evidence.ts';
import { decided, gap, ids, sampleDecision } from './common.ts';
import { sampleEvidence } from './evidence.ts';
import { ada, grace, hash, katherine, sampleAsset, sampleFinding, sampleId, samplePolicy, sampleScan } from './parts.ts';

/** Every way to close a finding without fixing it, and what the package says about each. */
export function whitewashed(): Evidence {
  const by = { decided_by: ada, cause: 'person', state_reason: 'Not needed any more.' } as const;
  const findings = [
    sampleFinding(1, { ...decided, ...by, state: 'withdrawn', standing: 'excepted' }),
    sampleFinding(2, { ...decided, ...by, state: 'withdrawn', standing: 'excepted', cause: 'asset_retired' }),
    sampleFinding(3, { ...decided, ...by, state: 'withdrawn', standing: 'excepted', cause: 'asset_gone', decided_by: null, state_reason: null }),
    sampleFinding(4, { ...decided, ...by, state: 'withdrawn', standing: 'excepted', cause: 'track_ended' }),
    sampleFinding(5, {
      ...decided,
      ...by,
      state: 'withdrawn',
      standing: 'excepted',
      cause: 'merged',
      merged: [{ id: sampleId(1, 90), state: 'open', title: 'Merged', severity: 'high' }],
    }),
    sampleFinding(6, {
      severity: 'info',
      severity_source: 'critical',
      override: { severity: 'info', by: ada, at: '2026-04-19T10:00:01.000Z', reason: 'Internal only.' },
      provenance: 'worker',
      after: { state: 'absent', scan: sampleId(3, 3), others: [], doubts: ['credentials_unstated', 'knowledge_unstated'] },
    }),
    sampleFinding(7, {
      cause: 'second_person',
      decided_by: grace,
      assurance: 'independent',
      after: { state: 'unknown', scan: null, others: [], doubts: [] },
      provenance: null,
    }),
  ];
  const upload = { method: 'upload', by: ada, connection: null, pipeline: null } as const;
  return sampleEvidence(
    {
      findings,
      assets: [
        sampleAsset(0),
        sampleAsset(1, { other_open: { critical: 4, high: 2, medium: 0, low: 0, info: 0, unknown: 0 }, other_open_alike: ids(1, 91, 92) }),
        sampleAsset(2, { retired_at: '2026-04-20T09:12:02.000Z' }),
      ],
      unlinked: [
        {
          id: sampleId(1, 80),
          title: 'Deserialization in the cart',
          severity: 'critical',
          state: 'false_positive',
          at: '2026-04-19T08:00:00.000Z',
          by: ada,
          reason: 'Belongs elsewhere.',
        },
        { id: sampleId(1, 81), title: 'Path traversal in uploads', severity: 'high', state: 'open', at: '2026-04-19T08:00:04.000Z', by: ada, reason: null },
      ],
      policies: [
        samplePolicy(),
        samplePolicy({
          effective_from: '2026-04-18T16:20:00.000Z',
          changed_by: katherine,
          sla: { critical: 365, high: 365, medium: null, low: null, info: null, unknown: null, kev: 90 },
          four_eyes: false,
        }),
      ],
      scans: [
        sampleScan(1, { rejected: 3 }),
        sampleScan(2, { status: 'discarded', phase: 'other' }),
        sampleScan(3, {
          tool_version: null,
          knowledge_at: null,
          credentialed: null,
          started_at: null,
          ended_at: null,
          targets: [],
          filename: 'final-final.json',
          complete: false,
          doubts: ['partially_covered', 'credentials_unstated'],
          records: 0,
          self_described: true,
          copy_of: sampleId(3, 1),
          delivery: upload,
          confirmed: { by: ada, at: '2026-04-27T02:15:00.000Z' },
        }),
      ],
      approvals: [
        { id: sampleId(8, 1), decision: 'rejected', by: grace, at: '2026-04-10T07:30:12.000Z', comment: 'Not done.', state_sha256: hash(0xf0) },
        { id: sampleId(8, 2), decision: 'approved', by: grace, at: '2026-04-12T07:30:12.000Z', comment: null, state_sha256: hash(0xf1) },
      ],
      ownerless_keys: 2,
      controls: [
        {
          framework: 'PCI DSS 4.0.1',
          control: '11.3.1',
          title: 'Internal scans, with rescans that confirm',
          verdict: 'does_not_support',
          evidence: ['data/scans'],
        },
        { framework: 'SOC 2', control: 'CC8.1', title: 'Changes are authorized, tested and approved', verdict: 'does_not_support', evidence: ['approvals'] },
      ],
      checks: [
        { id: 'approved_independently', result: 'fail', passed: 0, of: 1 },
        { id: 'verified_by_scan', result: 'fail', passed: 1, of: 2 },
        { id: 'within_deadline', result: 'fail', passed: 1, of: 7 },
        { id: 'exceptions_end', result: 'fail', passed: 0, of: 5 },
      ],
      decisions: [
        sampleDecision(0, {
          kind: 'policy_loosen',
          by: { person: katherine.person, name: katherine.name },
          object: { type: 'organization', id: sampleId(6, 1) },
          before: { critical: 15, four_eyes: true },
          after: { critical: 365, four_eyes: false },
          reason: null,
          findings: { count: 0, by_severity: { critical: 0, high: 0, medium: 0, low: 0, info: 0, unknown: 0 }, ids: [] },
        }),
        sampleDecision(1),
        sampleDecision(2, {
          kind: 'retire_asset',
          object: { type: 'asset', id: sampleId(2, 2) },
          before: { retired: false },
          after: { retired: true },
          findings: { count: 25, by_severity: { critical: 4, high: 20, medium: 0, low: 1, info: 0, unknown: 0 }, ids: ids(1, 2, 5) },
        }),
        sampleDecision(6, { kind: 'severity_down', before: { severity: 'critical' }, after: { severity: 'info' }, reason: 'Internal only.' }),
        sampleDecision(8, {
          kind: 'unlink',
          object: { type: 'work_item', id: sampleId(7, 1) },
          before: null,
          after: null,
          findings: { count: 2, by_severity: { critical: 1, high: 1, medium: 0, low: 0, info: 0, unknown: 0 }, ids: ids(1, 80, 81) },
        }),
        sampleDecision(9, {
          kind: 'brake_confirm',
          object: { type: 'import', id: sampleId(3, 3) },
          before: { status: 'needs_confirmation' },
          after: { status: 'succeeded' },
        }),
        sampleDecision(10, { kind: 'import_discard', object: { type: 'import', id: sampleId(3, 2) }, before: null, after: null, reason: 'Wrong file.' }),
      ],
    },
    [
      gap('unlinked_active', 'major', ids(1, 81), { named: '"Path traversal in uploads" by Ada Lovelace' }),
      gap('unlinked_excepted', 'major', ids(1, 80)),
      gap('other_open_on_asset', 'major', ids(2, 1), { alike: '4 critical, 2 high', open: '4 critical, 2 high, 1 medium, 4 low' }),
      gap('withdrawn_by_person', 'major', ids(1, 1, 2, 4, 5), { by: 'Ada Lovelace' }),
      gap('asset_gone', 'major', ids(1, 3)),
      gap('no_rescan', 'major', ids(1, 7)),
      gap('scan_by_worker', 'major', ids(3, 3)),
      gap('scan_self_described', 'major', ids(3, 3)),
      gap('scan_copied', 'major', ids(3, 3)),
      gap('brake_confirmed', 'major', ids(3, 3), { by: 'Ada Lovelace' }),
      gap('severity_lowered', 'major', ids(1, 6), { named: 'critical to info by Ada Lovelace' }),
      gap('policy_loosened', 'minor', [], { named: 'Katherine Johnson on 2026-04-18' }),
      gap('approval_stale', 'major', ids(8, 2)),
      gap('approver_took_part', 'major', ids(8, 2), { by: 'Grace Hopper' }),
      gap('source_stale', 'minor', [], { sources: 'trivy on 2026-03-02' }),
    ],
  );
}
