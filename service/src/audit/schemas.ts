import { Type } from 'typebox';
import { listParameters, PageOf, range } from '../http/paging.ts';
import { Id, Named, Nullable, OneOf, Strict, Text, Timestamp } from '../http/schemas.ts';

const ActorType = OneOf(['api_key', 'member', 'oidc', 'system'] as const, {
  description: '`system` is the service itself: the command line, schedules, first start',
});
const Snapshot = Nullable(Type.Object({}, { additionalProperties: true, examples: [{ name: 'ci', role: 'analyst' }] }));

export const AuditEvent = Named('AuditEvent', {
  id: Id,
  occurred_at: Timestamp,
  actor: Named('AuditActor', {
    type: ActorType,
    id: Nullable(Type.String({ examples: ['01994f3e-8a10-7c31-9d3c-5f1f4b8f0a11'] })),
    name: Type.String({ examples: ['deploy key'] }),
  }),
  action: Type.String({ examples: ['api_key.created'] }),
  object: Named('AuditObject', { type: Type.String({ examples: ['api_key'] }), id: Type.String({ examples: ['01994f3e-8a10-7c31-9d3c-5f1f4b8f0a12'] }) }),
  before: Snapshot,
  after: Snapshot,
  request_id: Nullable(Type.String({ examples: ['01994f3e-8a10-7c31-9d3c-5f1f4b8f0a13'] })),
  address: Nullable(Type.String({ examples: ['192.0.2.7'] })),
});

export const AuditEventList = PageOf('AuditEventList', AuditEvent);

export const AuditEventQuery = Strict({
  ...listParameters(['occurred_at'] as const, '-occurred_at'),
  actor_id: Type.Optional(Text(1, 200, { description: 'Who did it' })),
  action: Type.Optional(Type.Array(Text(1, 100), { maxItems: 20, description: 'Like `api_key.created`; several separated by commas' })),
  object_type: Type.Optional(Text(1, 100)),
  object_id: Type.Optional(Text(1, 200)),
  request_id: Type.Optional(Text(1, 128)),
  ...range('occurred'),
});
