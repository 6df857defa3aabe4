import type { Priority, TicketChange, TicketState } from '../contract.ts';
import { includesName, type PriorityNames, priorities, type StateNames } from './mapping.ts';

/** For vendors whose issues are only open or closed. Labels express the other states and the priority. */

export type LabelNames = Required<Pick<StateNames, 'in_progress' | 'rejected'>>;

export function stateFromLabels(labels: readonly string[], isClosed: boolean, names: LabelNames): TicketState {
  const has = (wanted: readonly string[] | undefined): boolean => labels.some((label) => includesName(wanted ?? [], label));
  if (isClosed) return has(names.rejected) ? 'rejected' : 'done';
  return has(names.in_progress) ? 'in_progress' : 'open';
}

export function priorityFromLabels(labels: readonly string[], names: PriorityNames): Priority | null {
  return priorities.find((priority) => includesName(labels, names[priority])) ?? null;
}

/** The labels to add and to remove. Labels with other names stay. */
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
  const obsolete = [...(priority === undefined ? [] : Object.values(names.priorities)), ...(state === undefined ? [] : stateLabels)];
  return {
    add: wanted.filter((name) => !includesName(labels, name)),
    remove: labels.filter((label) => includesName(obsolete, label) && !includesName(wanted, label)),
  };
}
