/** What happened to the work item and its findings, in order: data/timeline.json, which the reports show too. */
export interface TimelineEvent {
  at: string;
  actor: string;
  what: string;
  /** What it happened to, in words or by its id. */
  object: string;
}

export function renderTimeline(events: readonly TimelineEvent[]): string {
  return `${JSON.stringify({ events }, null, 2)}\n`;
}
