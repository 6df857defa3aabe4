import type { Check, CheckId } from '../../../document/evidence.ts';
import { agree, count, grouped } from './numbers.ts';

interface CheckText {
  question: string;
  /** Completes "2 of 3 …". */
  objects: [one: string, many: string];
  /** Completes "2 of 3 findings …". */
  quality: [one: string, many: string];
  none: string;
}

const CHECKS: Readonly<Record<CheckId, CheckText>> = {
  approved_independently: {
    question: 'Approved by somebody who took no part in the work, in the state of this package',
    objects: ['approval', 'approvals'],
    quality: ['is independent and current', 'are independent and current'],
    none: 'Nobody approved the work.',
  },
  verified_by_scan: {
    question: 'Verified findings shown as fixed by a scan that counts',
    objects: ['verified finding', 'verified findings'],
    quality: ['was absent from a scan that counts', 'were absent from a scan that counts'],
    none: 'No finding is verified.',
  },
  within_deadline: {
    question: 'Closed within the deadline',
    objects: ['finding with a deadline', 'findings with a deadline'],
    quality: ['met it', 'met it'],
    none: 'No finding has a deadline that applies.',
  },
  exceptions_end: {
    question: 'Accepted risks end',
    objects: ['accepted risk', 'accepted risks'],
    quality: ['has an end that has not passed', 'have an end that has not passed'],
    none: 'No risk is accepted.',
  },
};

/** The question of a check and its answer, from its ID and its numbers. */
export function checkWords({ id, passed, of }: Check): { question: string; answer: string } {
  const { question, objects, quality, none } = CHECKS[id];
  if (of === 0) return { question, answer: none };
  return { question, answer: `${grouped(passed)} of ${count(of, ...objects)} ${agree(of === 1 ? 1 : passed, ...quality)}.` };
}
