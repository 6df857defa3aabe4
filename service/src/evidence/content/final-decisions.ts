import type { Participant } from '../../work-items/items/participants.ts';
import { partOf } from '../../work-items/items/participants.ts';
import type { ApprovalRow } from '../../work-items/items/read.ts';

export interface LastWord {
  decision: 'approved' | 'rejected';
  actor_name: string;
  /** Had no part in the work, before the decision or after it. */
  independent: boolean;
}

/** Of each who decided, what was said last counts. Decisions come in their order. */
export function lastWordsOf(decisions: readonly ApprovalRow[], participants: readonly Participant[]): LastWord[] {
  const last = new Map(decisions.map((decision) => [decision.person ?? decision.actor_name, decision]));
  return [...last.values()].map(({ decision, actor_name, person, independent }) => ({
    decision,
    actor_name,
    independent: independent && partOf(participants, { person, name: actor_name }) === null,
  }));
}
