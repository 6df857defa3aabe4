import type { Static } from 'typebox';
import type { Delivery, Webhook } from './schemas.ts';
import type { DeliveryRow } from './webhooks/deliveries.ts';
import type { WebhookRow } from './webhooks/webhooks.ts';

const timestamp = (date: Date | null): string | null => date?.toISOString() ?? null;

export function toWebhook(row: WebhookRow): Static<typeof Webhook> {
  return {
    ...row,
    disabled_at: timestamp(row.disabled_at),
    previous_secret_until: timestamp(row.previous_secret_until),
    failing_since: timestamp(row.failing_since),
    paused_until: timestamp(row.paused_until),
    last_success_at: timestamp(row.last_success_at),
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  };
}

export function toDelivery(row: DeliveryRow): Static<typeof Delivery> {
  return {
    ...row,
    next_attempt_at: timestamp(row.next_attempt_at),
    last_attempt_at: timestamp(row.last_attempt_at),
    created_at: row.created_at.toISOString(),
  };
}
