import { type Static, Type } from 'typebox';
import { listParameters, PageOf } from '../http/paging.ts';
import { Id, Named, Nullable, OneOf, Strict, Timestamp } from '../http/schemas.ts';
import { eventPatterns } from './types.ts';

const Url = Type.String({
  format: 'uri',
  maxLength: 2000,
  pattern: '^https?://\\S+$',
  description: 'URL of the receiver, https or http, without user name and password',
  examples: ['https://hooks.example.com/rrs'],
});
const Pattern = OneOf(eventPatterns, { description: 'An event type (`finding.created`), a prefix (`finding.*`), or all events (`*`)' });
const selection = {
  description: 'Events to deliver: types (`finding.created`), prefixes (`finding.*`), or all events (`*`)',
  examples: [['finding.*', 'package.ready']],
};
const EventTypes = Type.Array(Pattern, { minItems: 1, maxItems: 50, uniqueItems: true, ...selection });
const Description = Nullable(
  Type.String({ maxLength: 500, description: 'Note for people, up to 500 characters', examples: ['Posts to the chat of the security team'] }),
);
const Enabled = (description: string) => Type.Optional(Type.Boolean({ description, examples: [true] }));
const NullableTimestamp = (description: string) => Nullable({ ...Timestamp, description, examples: [null] });
const DeliveryStatus = OneOf(['pending', 'succeeded', 'failed'] as const, {
  description: '`pending`: waiting for the first or the next attempt. `succeeded`: accepted by the receiver. `failed`: no further attempts',
  examples: ['succeeded'],
});

export const WebhookParams = Strict({ id: Id });
export const DeliveryParams = Strict({ id: Id, delivery_id: Id });

export const Webhook = Named('Webhook', {
  id: Id,
  url: Url,
  event_types: Type.Array(Type.String(), selection),
  description: Description,
  enabled: Type.Boolean({ description: 'Whether events are delivered', examples: [true] }),
  disabled_reason: Nullable(Type.String({ description: 'Why the webhook is disabled', examples: [null] })),
  disabled_at: NullableTimestamp('When the webhook was disabled'),
  secret_hint: Type.String({ description: 'Last characters of the signing secret, to tell secrets apart', examples: ['…mPq4='] }),
  previous_secret_until: NullableTimestamp('Until when deliveries are also signed with the previous secret'),
  failing_since: NullableTimestamp('Since when all attempts have failed. After 24 hours the webhook is disabled'),
  paused_until: NullableTimestamp('Until when nothing is sent, because the receiver asked for a delay or failed several times in a row'),
  last_success_at: NullableTimestamp('When the receiver last accepted an event'),
  created_by: Type.String({ description: 'Name of the person or key that created the webhook', examples: ['first owner key'] }),
  version: Type.Integer({ minimum: 1, description: 'Version of the settings, also the ETag. Each change increases it by 1' }),
  created_at: { ...Timestamp, description: 'When the webhook was created' },
  updated_at: { ...Timestamp, description: 'When the settings were last changed' },
});

export const WebhookWithSecret = Named('WebhookWithSecret', {
  ...Webhook.properties,
  secret: Type.String({
    description: 'Signing secret: `whsec_` and 32 bytes in base64. It cannot be retrieved again',
    examples: ['whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD2dX0mQr1mPq4='],
  }),
});

export const WebhookList = PageOf('WebhookList', Webhook);
export const WebhookQuery = Strict(listParameters(['created_at'] as const, 'created_at'));

export const WebhookCreate = Named('WebhookCreate', {
  url: Url,
  event_types: EventTypes,
  description: Type.Optional(Description),
  enabled: Enabled('Whether events are delivered. Default: true'),
});

export const WebhookPatch = Named(
  'WebhookPatch',
  {
    url: Type.Optional(Url),
    event_types: Type.Optional(EventTypes),
    description: Type.Optional(Description),
    enabled: Enabled('Whether events are delivered. Events that occur while it is false are not delivered later'),
  },
  { minProperties: 1, examples: [{ event_types: ['finding.*', 'import.*'] }] },
);

export const Delivery = Named('WebhookDelivery', {
  id: Id,
  webhook_id: { ...Id, description: 'Webhook that the event is delivered to' },
  event_id: { ...Id, description: 'Id of the event, also the `webhook-id` header. It is the same for every delivery of the event' },
  event_type: Type.String({ description: 'Type of the event', examples: ['finding.created'] }),
  status: DeliveryStatus,
  attempts: Type.Integer({ minimum: 0, description: 'Number of attempts so far', examples: [1] }),
  next_attempt_at: NullableTimestamp('When the next attempt is due'),
  last_attempt_at: Nullable({ ...Timestamp, description: 'When the last attempt was made' }),
  duration_ms: Nullable(Type.Integer({ minimum: 0, description: 'Duration of the last attempt in milliseconds', examples: [84] })),
  response_status: Nullable(Type.Integer({ description: 'HTTP status of the last response', examples: [204] })),
  response_excerpt: Nullable(Type.String({ description: 'First KiB of the last response body', examples: [''] })),
  error: Nullable(Type.String({ description: 'Why the last attempt failed', examples: [null] })),
  replay_of: Nullable({ ...Id, description: 'Delivery that this one repeats', examples: [null] }),
  created_at: { ...Timestamp, description: 'When the delivery was created' },
});
export const DeliveryList = PageOf('WebhookDeliveryList', Delivery);
export const DeliveryQuery = Strict({
  ...listParameters(['created_at'] as const, '-created_at'),
  status: Type.Optional(Type.Array(DeliveryStatus, { maxItems: 3, description: 'Statuses, separated by commas', examples: [['failed']] })),
});
export type DeliveryStatus = Static<typeof DeliveryStatus>;

export const EventStreamQuery = Strict({
  types: Type.Optional(
    Type.Array(Pattern, {
      minItems: 1,
      maxItems: 50,
      description: 'Events to stream: types (`finding.created`) or prefixes (`finding.*`), separated by commas. Default: all events',
      examples: [['finding.*']],
    }),
  ),
});
export const EventStreamHeaders = Type.Object({
  'last-event-id': Type.Optional({
    ...Id,
    description:
      'Id of the last event that you received. The stream starts with the event after it. Returns 404 if the event is no longer stored. Default: only new events',
  }),
});
