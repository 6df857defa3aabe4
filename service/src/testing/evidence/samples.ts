import { concludeFrom, type Evidence, type Gap, reasonsOf } from '@rrs/evidence-format';
import { ada, completeness, hash, sampleArtifact, sampleEvidence, sampleFinding, sampleId } from './sample.ts';

const gap = (code: Gap['code'], weight: Gap['weight'], what: string, about: string[] = []): Gap => ({ code, weight, what, about });

/** One sample of each kind of report. */
export const evidenceSamples = {
  finished: () => sampleEvidence(),
  unfinished: () => sampleEvidence(unfinished()),
  exceptions: () => sampleEvidence(exceptions()),
  empty: () =>
    sampleEvidence({
      findings: [],
      scans: [],
      artifacts: [],
      approvals: [],
      checks: [],
      controls: [],
      supersedes: null,
      note: null,
      completeness: completeness(
        gap('no_findings', 'major', 'The work item has no findings.'),
        gap('no_approval', 'minor', 'Nobody approved it.'),
        gap('no_timestamp', 'minor', 'No time-stamping authority is configured.'),
      ),
    }),
  hostile: () => sampleEvidence(hostile()),
} as const;

export function manyFindings(number: number): Evidence {
  return sampleEvidence({ findings: Array.from({ length: number }, (_, index) => sampleFinding(index + 1)) });
}

function unfinished(): Partial<Evidence> {
  const open = { closed_at: null, within_sla: null, assurance: null, state_changed_by: 'Ada Lovelace', after: { state: 'unknown', scan: null } } as const;
  const findings = [
    sampleFinding(1, { ...open, state: 'open', reopen_count: 1, after: { state: 'present', scan: sampleId(3, 2) }, within_sla: false }),
    sampleFinding(2, { ...open, state: 'in_progress' }),
    sampleFinding(3, { ...open, state: 'remediated', state_reason: 'Deployed with api 1.4.3.', assurance: 'artifact' }),
    sampleFinding(4),
    sampleFinding(5),
    sampleFinding(6, { ...open, state: 'withdrawn', state_reason: 'The asset is retired.' }),
  ];
  const artifacts = [
    sampleArtifact(1),
    sampleArtifact(2, { type: 'other', title: 'Build log', url: 'https://ci.example.com/builds/4711', filename: null, file: null, sha256: null, size: null }),
    sampleArtifact(3, {
      title: 'Screenshot',
      type: 'screenshot',
      file: null,
      removed: { at: '2026-04-29T10:00:00.000Z', by: ada, reason: 'Showed a customer name.' },
    }),
  ];
  return {
    findings,
    artifacts,
    approvals: [],
    completeness: completeness(
      gap(
        'unfinished',
        'major',
        '3 findings are open, in progress or only claimed.',
        [1, 2, 3].map((number) => sampleId(1, number)),
      ),
      gap('no_approval', 'minor', 'Nobody approved it.'),
      gap('artifact_not_captured', 'minor', 'The content behind a link was not captured.', [sampleId(4, 2)]),
      gap('artifact_removed', 'minor', 'An artifact was removed.', [sampleId(4, 3)]),
      gap('no_timestamp', 'minor', 'No time-stamping authority is configured.'),
    ),
    redactions: [{ file: `data/artifacts/${sampleId(4, 1)}/content`, pointer: '/headers/authorization', reason: 'A credential.' }],
    abandoned_leaves: [{ index: 4, leaf_sha256: hash(0xd4), reason: 'The service was stopped while it sealed.' }],
  };
}

function exceptions(): Partial<Evidence> {
  const decided = {
    closed_at: '2026-04-20T00:00:00.000Z',
    within_sla: null,
    assurance: 'declared',
    state_changed_by: 'Grace Hopper',
    after: { state: 'present', scan: sampleId(3, 2) },
  } as const;
  return {
    findings: [
      sampleFinding(1, {
        ...decided,
        state: 'risk_accepted',
        state_reason: 'The service is switched off in June; the perimeter blocks the lookups until then.',
        acceptance: { owner: 'Katherine Johnson, CISO', expires_at: '2026-06-30T00:00:00.000Z' },
      }),
      sampleFinding(2, { ...decided, state: 'false_positive', justification: 'code_not_reachable', state_reason: 'The vulnerable class is not in the image.' }),
      sampleFinding(3, { ...decided, state: 'false_positive', justification: 'inaccurate_finding' }),
    ],
    completeness: completeness(gap('no_timestamp', 'minor', 'No time-stamping authority is configured.')),
  };
}

/** Difficult text from scanners and people: long, foreign, bidirectional, invisible, or hostile to other programs. */
function hostile(): Partial<Evidence> {
  const texts = [
    '<script>alert(1)</script><img src=x onerror=alert(1)> & "quotes" \'single\'',
    '=HYPERLINK("https://evil.example","click")',
    `a-very-long-name-${'x'.repeat(400)}`,
    '漏洞 リモートコード実行 원격 코드 실행 – mixed with latin',
    'ثغرة أمنية في المكتبة תוכנה פגיעה',
    'invoice\u202Efdp.exe \u200B\u2066hidden\u2069',
    `zalgo ${'e\u0301\u0302\u0303\u0304\u0305\u0306\u0307'.repeat(20)}`,
    'emoji 👩‍💻🔥 and lone \uD800 surrogate, NUL \u0000, bell \u0007, newline\r\nsecond line\ttab',
    `https://example.com/${'path/'.repeat(60)}?q=${'%F0%9F%92%A9'.repeat(20)}`,
    '',
    '   ',
    'word '.repeat(1500),
  ];
  const findings = texts.map((text, index) =>
    sampleFinding(index + 1, {
      title: text.toWellFormed(),
      asset: { id: sampleId(2, index), type: 'other', name: text.toWellFormed() },
      component: text.toWellFormed(),
      place: text.toWellFormed(),
      state: index % 2 === 0 ? 'risk_accepted' : 'open',
      state_reason: text.toWellFormed(),
      state_changed_by: text.slice(0, 80).toWellFormed(),
      acceptance: index % 2 === 0 ? { owner: text.slice(0, 80).toWellFormed(), expires_at: '2026-06-30T00:00:00.000Z' } : null,
      closed_at: null,
      within_sla: false,
    }),
  );
  return {
    findings,
    organization: { id: sampleId(6, 1), name: `Ärzte & Söhne <GmbH> ${'株式会社'.repeat(12)}` },
    artifacts: texts.map((text, index) =>
      sampleArtifact(index + 1, { title: text.toWellFormed(), url: `javascript:${text.slice(0, 200).toWellFormed()}`, file: null }),
    ),
    approvals: [
      {
        id: sampleId(8, 1),
        decision: 'rejected',
        by: { kind: 'api_key', id: null, name: texts[0] ?? '' },
        at: '2026-04-28T07:30:00.000Z',
        comment: texts[2] ?? '',
      },
    ],
    note: texts[5] ?? '',
    conclusion: { status: concludeFrom(findings), reasons: [...reasonsOf(findings), ...texts.slice(0, 6).map((text) => text.toWellFormed())] },
    completeness: completeness(...texts.map((text) => gap('unfinished', 'major', text.toWellFormed()))),
  };
}
