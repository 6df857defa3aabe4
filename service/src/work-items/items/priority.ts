export const priorities = ['low', 'medium', 'high', 'critical'] as const;
export type Priority = (typeof priorities)[number];

export function priorityRank(priority: Priority): number {
  return priorities.indexOf(priority) + 1;
}

export function priorityName(rank: number): Priority {
  return priorities[rank - 1] ?? 'medium';
}
