/** An event of the work item or its findings, as written to data/timeline.json and shown in the reports. */
export interface TimelineEvent {
  at: string;
  actor: string;
  what: string;
  /** Title or id of the affected object. */
  object: string;
}

export function renderTimeline(events: readonly TimelineEvent[]): string {
  return `${JSON.stringify({ events }, null, 2)}\n`;
}
