/** An event as its row has it. */
export interface StoredEvent {
  id: string;
  type: string;
  subject: string;
  occurred_at: Date;
  data: unknown;
}

export type CloudEvent = ReturnType<typeof toCloudEvent>;

/** CloudEvents 1.0, JSON format. The `source` tells organizations of one service apart; with `id` it names the event everywhere. */
export function toCloudEvent(publicUrl: string, orgId: string, event: StoredEvent) {
  return {
    specversion: '1.0',
    id: event.id,
    source: `${publicUrl}/organizations/${orgId}`,
    type: event.type,
    subject: event.subject,
    time: event.occurred_at.toISOString(),
    datacontenttype: 'application/json',
    data: event.data,
  };
}
