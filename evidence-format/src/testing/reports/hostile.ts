import type { Evidence } from '../../document/evidence.ts';
import { decided, gap, ids, sampleDecision } from './common.ts';
import { sampleEvidence } from './evidence.ts';
import { hash, sampleArtifact, sampleAsset, sampleFinding, sampleId, sampleScan } from './parts.ts';

/** Difficult text from scanners and people: long, foreign, bidirectional, invisible, or hostile to other programs. */
export const hostileTexts: readonly string[] = [
  '<script>alert(1)</script><img src=x onerror=alert(1)> & "quotes" \'single\'',
  '=HYPERLINK("https://evil.example","click")',
  `a-very-long-name-${'x'.repeat(400)}`,
  '漏洞 リモートコード実行 원격 코드 실행 – mixed with latin',
  'ثغرة أمنية في المكتبة תוכנה פגיעה',
  'invoice\u202Efdp.exe \u200B\u2066hidden\u2069',
  `zalgo ${'e\u0301\u0302\u0303\u0304\u0305\u0306\u0307'.repeat(20)}`,
  'emoji 👩‍💻🔥 and lone \uD800 surrogate, NUL \u0000, bell \u0007, newline\r\nsecond line\ttab'.toWellFormed(),
  `https://example.com/${'path/'.repeat(60)}?q=${'%F0%9F%92%A9'.repeat(20)}`,
  '',
  '   ',
  'word '.repeat(1500),
];

export function hostile(): Evidence {
  const text = (index: number): string => hostileTexts[index % hostileTexts.length] ?? '';
  const person = (index: number) => ({ kind: 'api_key', id: null, name: text(index), person: null }) as const;
  const findings = hostileTexts.map((wild, index) =>
    sampleFinding(index + 1, {
      ...decided,
      title: wild,
      asset: { id: sampleId(2, index), type: 'other', name: wild },
      component: wild,
      place: wild,
      state: index % 2 === 0 ? 'risk_accepted' : 'open',
      standing: index % 2 === 0 ? 'excepted' : 'active',
      cause: index % 2 === 0 ? 'person' : 'none',
      state_reason: wild,
      decided_by: person(index),
      acceptance:
        index % 2 === 0 ? { owner: wild, expires_at: '2026-06-30T00:00:00.000Z', compensating_control: wild, requested_by: null, approved_by: null } : null,
      within_sla: false,
    }),
  );
  return sampleEvidence(
    {
      findings,
      organization: { id: sampleId(6, 1), name: `Ärzte & Söhne <GmbH> ${'株式会社'.repeat(12)}` },
      work_item: { ...sampleEvidence().work_item, title: 'REMEDIATED – GRADE A. Nothing is missing. '.repeat(8), external_ref: text(8) },
      assets: hostileTexts.map((wild, index) => sampleAsset(index, { name: wild, owner: wild, versions: [wild] })),
      scans: hostileTexts.map((wild, index) =>
        sampleScan(index + 1, { tool: wild, tool_version: wild, filename: wild, targets: [wild], version: wild, track: wild, doubts: [wild] }),
      ),
      artifacts: hostileTexts.map((wild, index) => sampleArtifact(index + 1, { title: wild, url: `javascript:${wild.slice(0, 200)}`, file: null })),
      unlinked: hostileTexts.map((wild, index) => ({
        id: sampleId(1, 80 + index),
        title: wild,
        severity: 'high',
        state: 'open',
        at: '2026-04-19T08:00:00.000Z',
        by: person(index),
        reason: wild,
      })),
      people: hostileTexts.map((wild, index) => ({
        id: sampleId(9, index),
        name: wild,
        email: wild,
        role: 'analyst',
        signs_in_with: 'password',
        credential_from: sampleId(9, 1),
      })),
      approvals: [{ id: sampleId(8, 1), decision: 'rejected', by: person(0), at: '2026-04-28T07:30:00.000Z', comment: text(2), state_sha256: hash(1) }],
      decisions: hostileTexts.map((wild, index) =>
        sampleDecision(index + 1, { reason: wild, by: { person: null, name: wild }, before: { note: wild }, after: { note: `${wild}!` } }),
      ),
      note: text(5),
    },
    hostileTexts.map((wild, index) => gap('source_stale', 'major', ids(1, index + 1), { sources: wild })),
  );
}
