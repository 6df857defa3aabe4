import type { Evidence } from '../../document/evidence.ts';
import { decided, gap, ids, sampleDecision, still, undone } from './common.ts';
import { sampleEvidence } from './evidence.ts';
import { ada, grace, hash, sampleArtifact, sampleFinding, sampleId } from './parts.ts';

export function unfinished(): Evidence {
  const findings = [
    sampleFinding(1, { ...undone, state: 'open', standing: 'active', reopen_count: 1, after: still, within_sla: false }),
    sampleFinding(2, { ...undone, state: 'in_progress', standing: 'active' }),
    sampleFinding(3, { ...undone, state: 'remediated', standing: 'active', state_reason: 'Deployed with api 1.4.3.', assurance: 'artifact' }),
    sampleFinding(4, {
      state: 'verified',
      standing: 'active',
      cause: 'person',
      decided_by: ada,
      assurance: 'declared',
      after: { state: 'unknown', scan: null, others: [], doubts: [] },
      provenance: null,
    }),
    sampleFinding(5),
    sampleFinding(6, { ...decided, state: 'withdrawn', standing: 'aside', cause: 'source', state_reason: 'The vendor retracted the rule.' }),
  ];
  const artifacts = [
    sampleArtifact(1),
    sampleArtifact(2, {
      type: 'other',
      title: 'Build log',
      url: 'https://ci.example.com/builds/4711',
      filename: null,
      file: null,
      sha256: null,
      size: null,
      captured: false,
    }),
    sampleArtifact(3, {
      title: 'Screenshot',
      type: 'screenshot',
      file: null,
      removed: { at: '2026-04-29T10:00:00.000Z', by: ada, reason: 'Showed a customer name.' },
    }),
  ];
  return sampleEvidence(
    {
      findings,
      artifacts,
      approvals: [],
      timestamped: false,
      checks: [
        { id: 'approved_independently', result: 'not_applicable', passed: 0, of: 0 },
        { id: 'verified_by_scan', result: 'pass', passed: 1, of: 1 },
        { id: 'within_deadline', result: 'fail', passed: 1, of: 2 },
        { id: 'exceptions_end', result: 'not_applicable', passed: 0, of: 0 },
      ],
      decisions: [
        sampleDecision(3, {
          kind: 'artifact_remove',
          object: { type: 'artifact', id: sampleId(4, 3) },
          before: null,
          after: null,
          reason: 'Showed a customer name.',
        }),
      ],
      redactions: [{ file: `data/artifacts/${sampleId(4, 1)}/content`, pointer: '/headers/authorization', reason: 'A credential.' }],
      abandoned_leaves: [{ index: 4, leaf_sha256: hash(0xd4) }],
    },
    [
      gap('unfinished', 'major', ids(1, 1, 2, 3, 4)),
      gap('sla_missed', 'major', ids(1, 1)),
      gap('withdrawn_by_source', 'note', ids(1, 6)),
      gap('no_approval', 'major'),
      gap('artifact_not_captured', 'minor', ids(4, 2)),
      gap('artifact_removed', 'minor', ids(4, 3)),
      gap('content_redacted', 'minor', [], { redactions: 1 }),
      gap('no_timestamp', 'minor'),
      gap('interrupted_sealing', 'minor', [], { attempts: 1 }),
    ],
  );
}

export function exceptions(): Evidence {
  const accepted = {
    owner: 'Katherine Johnson, CISO',
    expires_at: '2026-06-30T00:00:00.000Z',
    compensating_control: 'The perimeter firewall blocks outgoing LDAP and RMI.',
    requested_by: ada,
    approved_by: grace,
  };
  return sampleEvidence(
    {
      findings: [
        sampleFinding(1, {
          ...decided,
          state: 'risk_accepted',
          standing: 'excepted',
          cause: 'person',
          decided_by: grace,
          after: still,
          state_reason: 'The service is switched off in June.',
          acceptance: accepted,
        }),
        sampleFinding(2, {
          ...decided,
          state: 'false_positive',
          standing: 'excepted',
          cause: 'person',
          decided_by: grace,
          justification: 'code_not_reachable',
          state_reason: 'The class is not in the image.',
        }),
        sampleFinding(3, {
          ...decided,
          state: 'false_positive',
          standing: 'excepted',
          cause: 'person',
          decided_by: grace,
          justification: 'inaccurate_finding',
        }),
      ],
      decisions: [
        sampleDecision(1, { kind: 'accept', by: { person: grace.person, name: grace.name }, after: { status: 'risk_accepted' }, second_person: grace.person }),
        sampleDecision(2, {
          kind: 'dismiss',
          by: { person: grace.person, name: grace.name },
          after: { status: 'false_positive' },
          reason: 'The class is not in the image.',
        }),
        sampleDecision(3, { kind: 'dismiss', by: { person: grace.person, name: grace.name }, after: { status: 'false_positive' }, reason: null }),
      ],
    },
    [gap('exception_without_end', 'major', ids(1, 2, 3))],
  );
}
