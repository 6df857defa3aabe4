import type { Decision } from '../../document/decisions.ts';
import type { Gap } from '../../document/evidence.ts';
import type { Finding } from '../../document/finding.ts';
import { ada, sampleId } from './parts.ts';

export const gap = (code: Gap['code'], weight: Gap['weight'], about: string[] = [], values: Gap['values'] = {}): Gap => ({ code, weight, about, values });

export const undone: Partial<Finding> = {
  closed_at: null,
  within_sla: null,
  assurance: null,
  cause: 'none',
  provenance: null,
  after: { state: 'unknown', scan: null, others: [], doubts: [] },
};
export const decided = {
  closed_at: '2026-04-20T09:12:44.000Z',
  state_changed_at: '2026-04-20T09:12:44.000Z',
  within_sla: null,
  assurance: null,
  provenance: null,
} as const;
export const still: Finding['after'] = { state: 'present', scan: sampleId(3, 2), others: [], doubts: [] };
export const ids = (kind: number, ...numbers: number[]): string[] => numbers.map((number) => sampleId(kind, number));

export function sampleDecision(number: number, overrides: Partial<Decision> = {}): Decision {
  return {
    trail_seq: 10 + number,
    kind: 'withdraw',
    at: `2026-04-20T09:12:${(number % 60).toString().padStart(2, '0')}.000Z`,
    by: { person: ada.person, name: ada.name },
    object: { type: 'finding', id: sampleId(1, number) },
    before: { status: 'open' },
    after: { status: 'withdrawn' },
    reason: 'Not needed any more.',
    findings: { count: 1, by_severity: { critical: 1, high: 0, medium: 0, low: 0, info: 0, unknown: 0 }, ids: [sampleId(1, number)] },
    second_person: null,
    import_id: null,
    ...overrides,
  };
}
