export const FINDING_STATES = ['open', 'in_progress', 'remediated', 'verified', 'risk_accepted', 'false_positive', 'withdrawn'] as const;
export type FindingState = (typeof FINDING_STATES)[number];

export const SEVERITIES = ['critical', 'high', 'medium', 'low', 'info', 'unknown'] as const;
export type Severity = (typeof SEVERITIES)[number];

/** What a finding contributes to the conclusion. `aside`: its source took it back, so it counts neither way. */
export const STANDINGS = ['remediated', 'excepted', 'aside', 'active'] as const;
export type Standing = (typeof STANDINGS)[number];

/** A work item in one of these states is finished and does not change any more. */
const CLOSED_ITEM_STATES: readonly unknown[] = ['verified', 'closed_with_exceptions', 'cancelled'];

export function isClosedItem(status: unknown): boolean {
  return CLOSED_ITEM_STATES.includes(status);
}
