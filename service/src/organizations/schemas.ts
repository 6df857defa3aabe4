import { type TSchema, Type } from 'typebox';
import { listParameters, PageOf } from '../http/paging.ts';
import { Id, Named, Nullable, OneOf, Strict, Text, Timestamp } from '../http/schemas.ts';
import { type Permission, permissionsOf, roles } from '../shared/permissions.ts';
import { policyOf, slaKeys } from './policy.ts';

const Role = OneOf(roles, {
  description: 'viewer reads; analyst also works; admin also manages; owner also the organization; auditor reads evidence and the audit trail',
});
const Name = Type.String({ maxLength: 200, pattern: '\\S', description: 'More than white space', examples: ['Ada Lovelace'] });
const Email = Type.String({ format: 'email', maxLength: 320, examples: ['ada@example.com'] });
const Password = Text(12, 200, { examples: ['correct horse battery staple'], writeOnly: true });
const Version = Type.Integer({ minimum: 1, description: 'Grows with each change; also the ETag' });
const common = { version: Version, created_at: Timestamp, updated_at: Timestamp };

export const IdParams = Strict({ id: Id });

const OrganizationRef = Named('OrganizationRef', {
  id: Id,
  slug: Type.String({ examples: ['default'] }),
  name: Type.String({ examples: ['Example Ltd'] }),
});

const SlaDays = Type.Integer({ minimum: 1, maximum: 3_650, examples: [30] });
const brake = {
  share: Type.Number({ minimum: 0, maximum: 1, description: 'Of the open findings of a source', examples: [0.2] }),
  count: Type.Integer({ minimum: 0, maximum: 1_000_000, examples: [50] }),
};
const slaDays = <T extends TSchema>(schema: T) => Object.fromEntries(slaKeys.map((key) => [key, schema])) as Record<(typeof slaKeys)[number], T>;

const Policy = Named('Policy', {
  sla: Named('SlaPolicy', slaDays(Nullable(SlaDays)), {
    description: 'Days to remediate by severity, from when a finding was first seen; null: no deadline. `kev` caps them for known exploited vulnerabilities',
    examples: [policyOf({}).sla],
  }),
  four_eyes: Type.Boolean({ description: 'Who accepts a risk cannot be the one who answers for it: that is another member', examples: [false] }),
  brake: Named('Brake', brake, { description: 'An import that would close more than this share, and more than this many, waits for a person' }),
});
const PolicyPatch = Named(
  'PolicyPatch',
  {
    sla: Type.Optional(Nullable(Strict(slaDays(Type.Optional(Nullable(SlaDays)))))),
    four_eyes: Type.Optional(Nullable(Policy.properties.four_eyes)),
    brake: Type.Optional(Nullable(Strict({ share: Type.Optional(Nullable(brake.share)), count: Type.Optional(Nullable(brake.count)) }))),
  },
  { description: 'null gives a part its default back; days of the SLA apart, where null is no deadline', examples: [{ sla: { critical: 7, info: null } }] },
);

export const Organization = Named('Organization', {
  id: Id,
  slug: Type.String({ description: 'Short name, never changes', examples: ['default'] }),
  name: Type.String({ examples: ['Example Ltd'] }),
  policy: Policy,
  ...common,
});
export const OrganizationPatch = Named(
  'OrganizationPatch',
  { name: Type.Optional({ ...Name, examples: ['Example Ltd'] }), policy: Type.Optional(PolicyPatch) },
  { minProperties: 1 },
);

export const Me = Named('Me', {
  type: OneOf(['api_key', 'member', 'oidc'] as const),
  id: Nullable(Type.String({ description: 'Of the key or member; for an OIDC token its subject', examples: ['01994f3e-8a10-7c31-9d3c-5f1f4b8f0a11'] })),
  name: Type.String({ examples: ['first owner key'] }),
  email: Nullable(Type.String({ examples: [null] })),
  role: Role,
  permissions: Type.Array(OneOf(permissionsOf('owner') as Permission[])),
  organization: OrganizationRef,
  expires_at: Nullable({ ...Timestamp, examples: [null] }),
});

export const Member = Named('Member', {
  id: Id,
  email: Email,
  name: Name,
  role: Role,
  has_password: Type.Boolean({ description: 'Whether the member can sign in with a password' }),
  ...common,
});
export const MemberList = PageOf('MemberList', Member);
export const MemberQuery = Strict(listParameters(['created_at'] as const, 'created_at'));
export const MemberCreate = Named('MemberCreate', { email: Email, name: Name, role: Role, password: Type.Optional(Password) });
export const MemberPatch = Named(
  'MemberPatch',
  { name: Type.Optional(Name), role: Type.Optional(Role), password: Type.Optional({ ...Password, description: 'Ends the sessions of the member' }) },
  { minProperties: 1, examples: [{ role: 'admin' }] },
);

export const ApiKey = Named('ApiKey', {
  id: Id,
  name: Type.String({ examples: ['ci pipeline'] }),
  role: Role,
  prefix: Type.String({ description: 'How the key begins, to tell keys apart', examples: ['rrs_AbCdEfGh'] }),
  status: OneOf(['active', 'expired', 'revoked'] as const),
  created_by: Type.String({ examples: ['first owner key'] }),
  expires_at: Nullable({ ...Timestamp, examples: [null] }),
  last_used_at: Nullable({ ...Timestamp, description: 'Written every few seconds' }),
  revoked_at: Nullable({ ...Timestamp, examples: [null] }),
  ...common,
});
export const ApiKeyCreated = Named('ApiKeyCreated', {
  ...ApiKey.properties,
  key: Type.String({
    description: 'The key itself. It is shown only here.',
    examples: ['rrs_AbCdEfGhIjKlMnOpQrStUvWxYz0123456789-_AbCdEfGhIjKlMnOpQrStUvWxYz01'],
  }),
});
export const ApiKeyList = PageOf('ApiKeyList', ApiKey);
export const ApiKeyQuery = Strict(listParameters(['created_at'] as const, 'created_at'));
export const ApiKeyCreate = Named('ApiKeyCreate', {
  name: { ...Name, examples: ['ci pipeline'] },
  role: Role,
  expires_at: Type.Optional(
    Nullable(Type.String({ format: 'date-time', description: 'In the future; null or absent: never', examples: ['2027-01-01T00:00:00.000Z'] })),
  ),
});
export const ApiKeyPatch = Named(
  'ApiKeyPatch',
  { name: Type.Optional({ ...Name, examples: ['ci pipeline'] }), expires_at: ApiKeyCreate.properties.expires_at },
  { minProperties: 1 },
);

export const SessionCreate = Named('SessionCreate', {
  email: Email,
  password: Type.String({ minLength: 1, maxLength: 200, writeOnly: true, examples: ['correct horse battery staple'] }),
  organization: Type.Optional(Text(1, 63, { description: 'Slug of the organization, for members of several', examples: ['default'] })),
});
export const PasswordChange = Named('PasswordChange', {
  current_password: Type.String({ minLength: 1, maxLength: 200, writeOnly: true, examples: ['correct horse battery staple'] }),
  new_password: Password,
});
