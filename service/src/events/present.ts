import type { Static } from 'typebox';
import type { Delivery, Webhook } from './schemas.ts';
import type { DeliveryRow } from './webhooks/deliveries.ts';
import type { WebhookRow } from './webhooks/webhooks.ts';

const moment = (date: Date | null): string | null => date?.toISOString() ?? null;

export function toWebhook(row: WebhookRow): Static<typeof Webhook> {
  return {
    ...row,
    disabled_at: moment(row.disabled_at),
    previous_secret_until: moment(row.previous_secret_until),
    failing_since: moment(row.failing_since),
    paused_until: moment(row.paused_until),
    last_success_at: moment(row.last_success_at),
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  };
}

export function toDelivery(row: DeliveryRow): Static<typeof Delivery> {
  return {
    ...row,
    next_attempt_at: moment(row.next_attempt_at),
    last_attempt_at: moment(row.last_attempt_at),
    created_at: row.created_at.toISOString(),
  };
}
