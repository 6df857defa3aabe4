import { type Participant, partOf } from '../../work-items/items/participants.ts';
import type { ApprovalRow } from '../../work-items/items/read.ts';

export interface FinalDecision {
  decision: 'approved' | 'rejected';
  /** Name of the person. */
  name: string;
  /** Whether the person took no part in the work, before or after the decision. */
  independent: boolean;
}

/** The latest decision of each person. `decisions` must be in chronological order. */
export function finalDecisions(decisions: readonly ApprovalRow[], participants: readonly Participant[]): FinalDecision[] {
  const latest = new Map(decisions.map((decision) => [decision.person ?? decision.actor_name, decision]));
  return [...latest.values()].map(({ decision, actor_name, person, person_name, independent }) => ({
    decision,
    name: person_name ?? actor_name,
    independent: independent && partOf(participants, { person, names: [person_name, actor_name] }) === null,
  }));
}
