import { Type } from 'typebox';
import { listParameters, PageOf } from '../http/paging.ts';
import { Id, Named, Nullable, OneOf, Strict, Timestamp } from '../http/schemas.ts';
import { eventPatterns } from './types.ts';
import { deliveryStatuses } from './webhooks/deliveries.ts';

const Url = Type.String({
  format: 'uri',
  maxLength: 2000,
  pattern: '^https?://\\S+$',
  description: 'An https or http address without a name or password in it',
  examples: ['https://hooks.example.com/rrs'],
});
const Pattern = OneOf(eventPatterns, { description: 'The name of an event (`finding.created`), all that begin alike (`finding.*`), or all (`*`)' });
const whichEvents = {
  description: 'Which events: names (`finding.created`), all that begin alike (`finding.*`), or all (`*`)',
  examples: [['finding.*', 'package.ready']],
};
const EventTypes = Type.Array(Pattern, { minItems: 1, maxItems: 50, uniqueItems: true, ...whichEvents });
const Description = Nullable(Type.String({ maxLength: 500, examples: ['Tells the chat of the security team'] }));
const Moment = (description: string) => Nullable({ ...Timestamp, description, examples: [null] });

export const WebhookParams = Strict({ id: Id });
export const DeliveryParams = Strict({ id: Id, delivery_id: Id });

export const Webhook = Named('Webhook', {
  id: Id,
  url: Url,
  event_types: Type.Array(Type.String(), whichEvents),
  description: Description,
  enabled: Type.Boolean({ description: 'Whether events are delivered', examples: [true] }),
  disabled_reason: Nullable(Type.String({ description: 'Why it is disabled, in words', examples: [null] })),
  disabled_at: Moment('Since when it is disabled'),
  secret_hint: Type.String({ description: 'How the signing secret ends, to tell secrets apart', examples: ['…mPq4='] }),
  previous_secret_until: Moment('Until then deliveries are signed with the secret before the present one too'),
  failing_since: Moment('Since when nothing but failures came back; after 24 hours of that it is disabled'),
  paused_until: Moment('The receiver asked for time or failed several times in a row: nothing is delivered before'),
  last_success_at: Moment('When the receiver last took an event'),
  created_by: Type.String({ examples: ['first owner key'] }),
  version: Type.Integer({ minimum: 1, description: 'Grows with each change of the settings; also the ETag' }),
  created_at: Timestamp,
  updated_at: Timestamp,
});

export const WebhookWithSecret = Named('WebhookWithSecret', {
  ...Webhook.properties,
  secret: Type.String({
    description: 'The signing secret (`whsec_` and 32 bytes in base64). It is shown only here.',
    examples: ['whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD2dX0mQr1mPq4='],
  }),
});

export const WebhookList = PageOf('WebhookList', Webhook);
export const WebhookQuery = Strict(listParameters(['created_at'] as const, 'created_at'));

export const WebhookCreate = Named('WebhookCreate', {
  url: Url,
  event_types: EventTypes,
  description: Type.Optional(Description),
  enabled: Type.Optional(Type.Boolean({ description: 'Absent: true', examples: [true] })),
});

export const WebhookChange = Named(
  'WebhookPatch',
  {
    url: Type.Optional(Url),
    event_types: Type.Optional(EventTypes),
    description: Type.Optional(Description),
    enabled: Type.Optional(Type.Boolean({ description: 'What happens while it is false is not delivered later', examples: [true] })),
  },
  { minProperties: 1, examples: [{ event_types: ['finding.*', 'import.*'] }] },
);

export const Delivery = Named('WebhookDelivery', {
  id: Id,
  webhook_id: Id,
  event_id: { ...Id, description: 'The `id` of the event and the `webhook-id` of its deliveries, however often it is delivered' },
  event_type: Type.String({ examples: ['finding.created'] }),
  status: OneOf(deliveryStatuses, { description: '`pending`: not taken yet, to be tried (again); `failed`: given up', examples: ['succeeded'] }),
  attempts: Type.Integer({ minimum: 0, examples: [1] }),
  next_attempt_at: Moment('When it is tried next'),
  last_attempt_at: Nullable({ ...Timestamp, description: 'When it was tried last' }),
  duration_ms: Nullable(Type.Integer({ minimum: 0, description: 'How long the last attempt took', examples: [84] })),
  response_status: Nullable(Type.Integer({ description: 'What the receiver answered last', examples: [204] })),
  response_excerpt: Nullable(Type.String({ description: 'How that answer begins, 1 KiB at the most', examples: [''] })),
  error: Nullable(Type.String({ description: 'What went wrong, in words', examples: [null] })),
  replay_of: Nullable({ ...Id, description: 'The delivery that this one repeats', examples: [null] }),
  created_at: Timestamp,
});
export const DeliveryList = PageOf('WebhookDeliveryList', Delivery);
export const DeliveryQuery = Strict({
  ...listParameters(['created_at'] as const, '-created_at'),
  status: Type.Optional(Type.Array(OneOf(deliveryStatuses), { maxItems: 3, description: 'Several separated by commas', examples: [['failed']] })),
});

export const EventStreamQuery = Strict({
  types: Type.Optional(
    Type.Array(Pattern, {
      minItems: 1,
      maxItems: 50,
      description: 'Which events, as for webhooks; several separated by commas; absent: all',
      examples: [['finding.*']],
    }),
  ),
});
export const EventStreamHeaders = Type.Object({
  'last-event-id': Type.Optional({
    ...Id,
    description: 'The `id` of the last event the reader has: the stream begins behind it. Absent: with what happens from now on',
  }),
});
