import type { Priority, TicketChange, TicketState } from '../contract.ts';
import { isCalled, type PriorityNames, priorities, type StateNames } from './mapping.ts';

/** For vendors whose issues are open or closed, and nothing more: labels tell the rest. */

export type LabelNames = Required<Pick<StateNames, 'in_progress' | 'rejected'>>;

export function stateByLabels(labels: readonly string[], isClosed: boolean, names: LabelNames): TicketState {
  const has = (wanted: readonly string[] | undefined): boolean => labels.some((label) => isCalled(wanted ?? [], label));
  if (isClosed) return has(names.rejected) ? 'rejected' : 'done';
  return has(names.in_progress) ? 'in_progress' : 'open';
}

export function priorityByLabels(labels: readonly string[], names: PriorityNames): Priority | null {
  return priorities.find((priority) => isCalled(labels, names[priority])) ?? null;
}

/** Which labels to put on and take off; those of other people stay. */
export function labelChanges(
  labels: readonly string[],
  { state, priority }: TicketChange,
  names: { states: LabelNames; priorities: PriorityNames },
): { add: string[]; remove: string[] } {
  const stateLabels = [...(names.states.in_progress ?? []), ...(names.states.rejected ?? [])];
  const wanted = [
    ...(priority === undefined ? [] : [names.priorities[priority]]),
    ...(state === 'in_progress' || state === 'rejected' ? (names.states[state] ?? []).slice(0, 1) : []),
  ];
  const unwanted = [...(priority === undefined ? [] : Object.values(names.priorities)), ...(state === undefined ? [] : stateLabels)];
  return {
    add: wanted.filter((name) => !isCalled(labels, name)),
    remove: labels.filter((label) => isCalled(unwanted, label) && !isCalled(wanted, label)),
  };
}
