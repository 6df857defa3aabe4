import { describe, expect, it } from 'vitest';
import { DECISION_KINDS } from '../../../document/decisions.ts';
import { CHECK_IDS, GAP_CODES, GAP_WEIGHTS, type Gap } from '../../../document/evidence.ts';
import { checkWords } from './checks.ts';
import { changeWords, decisionWords } from './decisions.ts';
import { byWeight, gapSentence, gapWords } from './gaps.ts';
import { count, fileSize, grouped, times } from './numbers.ts';

const gap = (code: Gap['code'], about: number, values: Gap['values'] = {}, weight: Gap['weight'] = 'major'): Gap => ({
  code,
  weight,
  about: Array.from({ length: about }, (_, index) => String(index)),
  values,
});

describe('gaps', () => {
  it.each(GAP_CODES)('%s has a label, a sentence and a reason for every number and weight', (code) => {
    for (const weight of GAP_WEIGHTS)
      for (const about of [0, 1, 2, 1_200]) {
        const { label, what, why } = gapWords(gap(code, about, {}, weight));
        expect(label).toMatch(/^[A-Z][^.]+$/);
        expect(what).toMatch(/^(?:[A-Z]|\d).*[^.:]\.$/);
        expect(why).toMatch(/^[A-Z].*\.$/);
        expect(what).not.toMatch(/\b1 (findings|scans|reports|exceptions|artifacts|approvals)\b|undefined|\bNaN\b/);
        expect(what).not.toMatch(/\b[02-9][\d,]* (finding|scan(?! reports)|report|exception|artifact|approval) /);
      }
  });

  it('names who and what if the gap does', () => {
    expect(gapSentence(gap('withdrawn_by_person', 1, { by: 'Ada' }))).toBe('1 finding was withdrawn, retired, merged or ended by a person: Ada.');
    expect(gapSentence(gap('content_redacted', 0, { redactions: 1 }))).toBe('1 value in original files was redacted.');
    expect(gapSentence(gap('interrupted_sealing', 0, { attempts: 2 }))).toBe('2 earlier attempts to seal this package left an entry in the transparency log.');
    expect(gapSentence(gap('log_restarted', 0, { on: '2026-05-01' }, 'note'))).toContain('restarted on 2026-05-01, before the work item');
  });

  it('come in the order of their weight', () => {
    const [minor, note, major] = [gap('no_artifact', 0, {}, 'minor'), gap('policy_changed', 0, {}, 'note'), gap('rejected', 0)];
    expect(byWeight([minor, note, major])).toEqual([major, minor, note]);
  });
});

it.each(CHECK_IDS)('the answer to %s agrees in number', (id) => {
  const answer = (passed: number, of: number) => checkWords({ id, result: 'fail', passed, of }).answer;
  expect(answer(0, 0)).toMatch(/^(No|There)/);
  expect(answer(1, 1)).toMatch(/^1 of 1 (?:approval|verified finding|finding with a deadline|accepted risk) (?:is|was|has|met) .*\.$/);
  expect(answer(2, 3)).toMatch(/^2 of 3 (?:approvals|verified findings|findings with a deadline|accepted risks) (?:are|were|have|met) .*\.$/);
});

it('every decision has words, and its change is shown', () => {
  expect(new Set(DECISION_KINDS.map(decisionWords)).size).toBe(DECISION_KINDS.length);
  expect(changeWords({ before: { severity: 'critical', same: 1 }, after: { severity: 'info', same: 1, four_eyes: false } })).toBe(
    'Four eyes: false; Severity: critical → info',
  );
  expect(changeWords({ before: null, after: [1] })).toBe('');
  const accepted = { acceptance_expires_at: '2027-04-30T20:29:18.327+00:00', reason_code: 'acceptance_approved', status: 'risk_accepted' };
  expect(changeWords({ before: { status: 'open' }, after: accepted })).toBe('Acceptance expires at: 2027-04-30 20:29:18 UTC; Status: open → risk accepted');
  expect(changeWords({ before: null, after: { finding_id: '01900000-0000-7000-8000-000000000001', reason: 'later' } })).toBe('');
});

it('numbers are written the same in every place', () => {
  expect([0, 999, 1_000, 1_234_567].map(grouped)).toEqual(['0', '999', '1,000', '1,234,567']);
  expect([count(1, 'risk'), count(2, 'risk'), times(1), times(3)]).toEqual(['1 risk', '2 risks', 'once', '3 times']);
  expect([0, 1023, 1024, 1_500_000, 2 ** 50].map(fileSize)).toEqual(['0 bytes', '1023 bytes', '1.0 KiB', '1.4 MiB', '1048576.0 GiB']);
});
