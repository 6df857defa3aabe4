import { Type } from 'typebox';
import { listParameters, PageOf, range } from '../http/paging.ts';
import { Id, Named, Nullable, OneOf, PersonRef, Strict, Text, Timestamp } from '../http/schemas.ts';

const ActorType = OneOf(['api_key', 'member', 'oidc', 'system'] as const, {
  description: 'Kind of actor. `system` is the service itself: the command line, scheduled jobs and the first start',
});
const Snapshot = (description: string) => Nullable(Type.Object({}, { additionalProperties: true, description, examples: [{ name: 'ci', role: 'analyst' }] }));

export const AuditEvent = Named('AuditEvent', {
  id: Id,
  occurred_at: { ...Timestamp, description: 'When the change was made' },
  actor: Named(
    'AuditActor',
    {
      type: ActorType,
      id: Nullable(
        Type.String({
          description: 'Id of the API key or member, or the subject of the OIDC token. null for the service itself',
          examples: ['01994f3e-8a10-7c31-9d3c-5f1f4b8f0a11'],
        }),
      ),
      name: Type.String({ description: 'Name of the actor at the time of the change', examples: ['deploy key'] }),
    },
    { description: 'Who made the change' },
  ),
  person: PersonRef('The person behind the actor. null for the service itself and for connections'),
  action: Type.String({ description: 'What was done: the kind of object and the change', examples: ['api_key.created'] }),
  object: Named(
    'AuditObject',
    {
      type: Type.String({ description: 'Kind of object', examples: ['api_key'] }),
      id: Type.String({ description: 'Id of the object', examples: ['01994f3e-8a10-7c31-9d3c-5f1f4b8f0a12'] }),
      name: Nullable(Type.String({ description: 'Name or title that the object has now. null if it is gone or has none', examples: ['ci'] })),
    },
    { description: 'The object that was changed' },
  ),
  before: Snapshot('Changed fields before the change. null if the object was created or there is nothing to show'),
  after: Snapshot('Changed fields after the change. null if the object was deleted or there is nothing to show'),
  request_id: Nullable(
    Type.String({ description: 'Id of the request that made the change. null for the service itself', examples: ['01994f3e-8a10-7c31-9d3c-5f1f4b8f0a13'] }),
  ),
  address: Nullable(Type.String({ description: 'IP address of the client. null for the service itself', examples: ['192.0.2.7'] })),
});

export const AuditEventList = PageOf('AuditEventList', AuditEvent);

const filters = {
  actor_id: Type.Optional(Text(1, 200, { description: 'Id of the actor' })),
  person_id: Type.Optional(Text(1, 200, { description: 'Id of the person behind the actor' })),
  action: Type.Optional(Type.Array(Text(1, 100), { maxItems: 20, description: 'Actions such as `api_key.created`, separated by commas' })),
  object_type: Type.Optional(Text(1, 100, { description: 'Kind of object, such as `api_key`' })),
  object_id: Type.Optional(Text(1, 200, { description: 'Id of the object' })),
  request_id: Type.Optional(Text(1, 128, { description: 'Id of the request that made the change' })),
  ...range('occurred'),
};

export const AuditEventQuery = Strict({ ...listParameters(['occurred_at'] as const, '-occurred_at'), ...filters });

export const AuditExportQuery = Strict({
  format: OneOf(['csv', 'ndjson'] as const, { default: 'csv', description: 'File format: CSV or NDJSON (one JSON object per line). Default: `csv`' }),
  ...filters,
});
