import { hash } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Evidence } from '../document/evidence.ts';
import { sampleEvidence } from '../testing/sample-evidence.ts';
import { approvedStateDigest, approvedStateLines, approvedStateOf } from './approved-state.ts';

const digestOf = (evidence: Evidence): string => approvedStateDigest(approvedStateLines(approvedStateOf(evidence)));
const changed = (change: (evidence: Evidence) => void): Evidence => {
  const copy = structuredClone(sampleEvidence);
  change(copy);
  return copy;
};

test('the lines are canonical, and the digest covers each with its line feed', () => {
  const lines = [...approvedStateLines(approvedStateOf(sampleEvidence))];
  expect(lines[0]).toBe(
    '{"organization_id":"0190a8f0-0000-7000-8000-000000000004","policy":{"brake":{"findings":100,"share":0.5},"four_eyes":true,"sla":{"critical":15,"high":30,"kev":14}},"title":"Patch log4j","type":"https://rrs.example/approved-state/v2","work_item_id":"0190a8f0-0000-7000-8000-000000000005"}',
  );
  expect(lines[1]).toBe(
    '{"finding":{"acceptance":null,"assurance":"scan_after_claim","decided_by":null,"id":"0190a8f0-0000-7000-8000-00000000000a","justification":null,"provenance":"other_person","severity":"critical","severity_source":"critical","state":"verified"}}',
  );
  expect(lines.slice(2).map((line) => Object.keys(JSON.parse(line))[0])).toEqual(['finding', 'unlinked', 'artifact']);
  expect(approvedStateDigest(lines)).toBe(hash('sha256', lines.map((line) => `${line}\n`).join('')));
});

const differences: [string, (evidence: Evidence) => void][] = [
  ['another title', ({ work_item }) => Object.assign(work_item, { title: 'Patch' })],
  ['a longer deadline', ({ policies }) => Object.assign(policies[0]?.sla ?? {}, { critical: 30 })],
  ['four eyes no longer required', ({ policies }) => Object.assign(policies[0] ?? {}, { four_eyes: false })],
  ['another state of a finding', ({ findings }) => Object.assign(findings[0] ?? {}, { state: 'open' })],
  ['another assurance', ({ findings }) => Object.assign(findings[0] ?? {}, { assurance: 'declared' })],
  ['a scan of another provenance', ({ findings }) => Object.assign(findings[0] ?? {}, { provenance: 'worker' })],
  ['a lower severity', ({ findings }) => Object.assign(findings[0] ?? {}, { severity: 'low' })],
  ['a longer acceptance', ({ findings }) => Object.assign(findings[1]?.acceptance ?? {}, { expires_at: '2030-01-01T00:00:00.000Z' })],
  ['another compensating control', ({ findings }) => Object.assign(findings[1]?.acceptance ?? {}, { compensating_control: 'None' })],
  ['a finding less', ({ findings }) => findings.pop()],
  ['an unlinked finding', ({ unlinked, findings }) => unlinked.push({ ...findings[0], id: findings[1]?.id } as Evidence['unlinked'][number])],
  ['another state of an unlinked finding', ({ unlinked }) => Object.assign(unlinked[0] ?? {}, { state: 'false_positive' })],
  ['another content of an artifact', ({ artifacts }) => Object.assign(artifacts[0] ?? {}, { sha256: '0'.repeat(64) })],
  ['an artifact that is no longer removed', ({ artifacts }) => Object.assign(artifacts[0] ?? {}, { removed: null })],
];

test.each(differences)('%s makes an approval stale', (_, change) => {
  expect(digestOf(changed(change))).not.toBe(digestOf(sampleEvidence));
});

const harmless: [string, (evidence: Evidence) => void][] = [
  ['another EPSS and risk', ({ findings }) => Object.assign(findings[0] ?? {}, { epss: null, risk_score: 1 })],
  ['another title of a finding', ({ findings }) => Object.assign(findings[0] ?? {}, { title: 'Log4Shell!' })],
  ['a later confirming scan', ({ findings }) => Object.assign(findings[0] ?? {}, { last_seen: '2027-01-01T00:00:00.000Z', after: null })],
  ['a deadline of a severity that no finding has', ({ policies }) => Object.assign(policies[0]?.sla ?? {}, { medium: 1 })],
  ['an approval', ({ approvals }) => approvals.pop()],
  ['who asked for an acceptance', ({ findings }) => Object.assign(findings[1]?.acceptance ?? {}, { requested_by: null })],
];

test.each(harmless)('%s does not make an approval stale', (_, change) => {
  expect(digestOf(changed(change))).toBe(digestOf(sampleEvidence));
});

test('the order of lists does not matter', () => {
  fc.assert(
    fc.property(fc.shuffledSubarray([0, 1], { minLength: 2 }), (order) => {
      const shuffled = changed((evidence) => {
        evidence.findings = order.flatMap((at) => evidence.findings[at] ?? []);
      });
      expect(digestOf(shuffled)).toBe(digestOf(sampleEvidence));
    }),
  );
});
