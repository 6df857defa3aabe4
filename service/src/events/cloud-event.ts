/** An event as it is stored. */
export interface StoredEvent {
  id: string;
  type: string;
  subject: string;
  occurred_at: Date;
  data: unknown;
}

export type CloudEvent = ReturnType<typeof toCloudEvent>;

/** CloudEvents 1.0, JSON format. `source` contains the organization, so that `source` and `id` together are globally unique. */
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
