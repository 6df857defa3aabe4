import { FRAMEWORKS } from '@rrs/evidence-format';
import { type Static, type TSchema, Type } from 'typebox';
import { listParameters, PageOf } from '../http/paging.ts';
import { Id, Named, Nullable, OneOf, PersonRef, Strict, Text, Timestamp, VisibleName } from '../http/schemas.ts';
import { describeRole, type Permission, permissionsOf, roles } from '../shared/permissions.ts';

const Role = OneOf(roles, { description: `Role: ${roles.map((role) => `\`${role}\` ${describeRole(role)}`).join('. ')}` });
export const Name = VisibleName(1, 200, {
  pattern: '\\S',
  description: 'Display name, with at least one visible character',
  examples: ['Ada Lovelace'],
});
export const Email = Type.String({ format: 'email', maxLength: 320, description: 'E-mail address, stored in lower case', examples: ['ada@example.com'] });
export const Password = Text(12, 200, {
  description: 'Password, 12 to 200 characters. It is stored as an Argon2id hash',
  examples: ['correct horse battery staple'],
  writeOnly: true,
});
const ExistingPassword = Type.String({
  minLength: 1,
  maxLength: 200,
  description: 'Current password',
  writeOnly: true,
  examples: ['correct horse battery staple'],
});
export const RevokeApiKeys = Type.Boolean({
  description: 'Whether to revoke all API keys of the member too, because somebody else may have created some. Default: false',
  examples: [false],
});
const common = {
  version: Type.Integer({ minimum: 1, description: 'Version of the object, also its ETag. Each change increases it by 1' }),
  created_at: { ...Timestamp, description: 'When the object was created' },
  updated_at: { ...Timestamp, description: 'When the object was last changed' },
};

export const IdParams = Strict({ id: Id });

export const OrganizationRef = Named(
  'OrganizationRef',
  {
    id: Id,
    slug: Type.String({ description: 'Short name of the organization. It never changes', examples: ['default'] }),
    name: Type.String({ description: 'Display name', examples: ['Example Ltd'] }),
  },
  { description: 'Organization that the credential belongs to' },
);

export const defaultPolicy = {
  sla: { critical: 15, high: 30, medium: 90, low: 180, info: null, unknown: 90, kev: 14 },
  four_eyes: false,
  brake: { share: 0.2, count: 50 },
  track_names: [] as string[],
  track_days: 30,
  source_ranking: [] as string[],
  frameworks: [] as string[],
  retention: { report_days: 1_095, run_days: 365, delivery_days: 30, event_days: 90 },
};

const slaSubjects = {
  critical: 'of critical severity',
  high: 'of high severity',
  medium: 'of medium severity',
  low: 'of low severity',
  info: 'of informational severity',
  unknown: 'of unknown severity',
  kev: 'with a known exploited vulnerability (CISA KEV). The deadline of the severity applies if it is shorter',
};
type SlaKey = keyof typeof slaSubjects;
const SlaDays = (description: string) => Nullable(Type.Integer({ minimum: 1, maximum: 3_650, description, examples: [30] }));

function slaDays<T extends TSchema>(modify: (days: ReturnType<typeof SlaDays>) => T): Record<SlaKey, T> {
  const days = (key: SlaKey, subject: string) =>
    modify(SlaDays(`Days to remediate a finding ${subject}. null: no deadline. Default: ${defaultPolicy.sla[key] ?? 'null'}`));
  return Object.fromEntries(Object.entries(slaSubjects).map(([key, subject]) => [key, days(key as SlaKey, subject)])) as Record<SlaKey, T>;
}

const brake = {
  share: Type.Number({ minimum: 0, maximum: 1, description: "Share of the source's open findings, from 0 to 1. Default: 0.2", examples: [0.2] }),
  count: Type.Integer({ minimum: 0, maximum: 1_000_000, description: 'Number of findings. Default: 50', examples: [50] }),
};

/** A hundred years, for those who want to keep everything. */
const MAX_RETENTION_DAYS = 36_500;
const retentionDays = (key: keyof typeof defaultPolicy.retention, minimum: number, what: string) =>
  Type.Integer({ minimum, maximum: MAX_RETENTION_DAYS, description: `Days to keep ${what}. Default: ${defaultPolicy.retention[key]}`, examples: [365] });
const retention = {
  report_days: retentionDays('report_days', 30, 'the files of uploaded reports, counted from the upload'),
  run_days: retentionDays('run_days', 30, 'runs of connections and the records of what they collected. The last successful run of a connection is kept'),
  delivery_days: retentionDays('delivery_days', 7, 'deliveries to webhooks with their responses'),
  event_days: retentionDays('event_days', 7, 'events, for the event stream and for replays. Events that are still to be delivered are kept'),
};

const Policy = Named(
  'Policy',
  {
    sla: Named(
      'SlaPolicy',
      slaDays((days) => days),
      { description: 'Days to remediate a finding, by severity, counted from the time it was first seen', examples: [defaultPolicy.sla] },
    ),
    four_eyes: Type.Boolean({
      description:
        'Whether decisions require a second person. Accepting a risk is then a request that somebody else must approve, and nobody can approve a work item that they took part in. Default: false',
      examples: [false],
    }),
    brake: Named('Brake', brake, {
      description: "An import that would close more than `share` of a source's open findings, and more than `count` findings, waits for confirmation",
    }),
    track_names: Type.Array(Text(1, 200), {
      maxItems: 200,
      uniqueItems: true,
      description:
        'Branches and environments whose findings count, in addition to the well-known ones such as `main`, `prod` and `release-1.4`. `*` stands for any text. Findings of other branches are kept apart like those of pull requests. Default: none',
      examples: [['integration', 'customer-*']],
    }),
    track_days: Type.Integer({
      minimum: 1,
      maximum: 3_650,
      description: 'Days without a scan after which tracks of pull requests and branches in development end. Default: 30',
      examples: [30],
    }),
    source_ranking: Type.Array(Text(1, 100), {
      maxItems: 50,
      uniqueItems: true,
      description:
        'Sources whose severity counts, the most trusted first, by `tool` or `provider` as in `GET /sources`. The first one decides that still sees a finding and knows its severity. Without one, the highest severity counts. Default: none',
      examples: [['trivy', 'tenable']],
    }),
    frameworks: Type.Array(OneOf(FRAMEWORKS, { description: 'Name of a compliance framework' }), {
      uniqueItems: true,
      description: 'Compliance frameworks whose controls evidence packages address. Default: none chosen, which means all of them',
      examples: [['SOC 2', 'PCI DSS 4.0.1']],
    }),
    retention: Named('RetentionPolicy', retention, {
      description:
        'How long the service keeps what would otherwise grow without limit. It deletes the rest once a day. Imports with their counts, findings, evidence packages, the files they contain and the audit trail are always kept. A package that is generated after a report file was deleted states the hash of the file, but cannot contain it',
      examples: [defaultPolicy.retention],
    }),
  },
  { description: 'Rules for imports, deadlines, risk acceptance and retention' },
);
const PolicyPatch = Named(
  'PolicyPatch',
  {
    sla: Type.Optional(
      Nullable(
        Strict(
          slaDays((days) => Type.Optional(days)),
          { description: 'Days to remediate by severity. null restores all defaults' },
        ),
      ),
    ),
    four_eyes: Type.Optional(Nullable(Policy.properties.four_eyes)),
    brake: Type.Optional(
      Nullable(
        Strict(
          { share: Type.Optional(Nullable(brake.share)), count: Type.Optional(Nullable(brake.count)) },
          { description: 'Limits above which an import waits for confirmation. null restores the defaults' },
        ),
      ),
    ),
    track_names: Type.Optional(Nullable(Policy.properties.track_names)),
    track_days: Type.Optional(Nullable(Policy.properties.track_days)),
    source_ranking: Type.Optional(Nullable(Policy.properties.source_ranking)),
    frameworks: Type.Optional(Nullable(Policy.properties.frameworks)),
    retention: Type.Optional(
      Nullable(
        Strict(
          {
            report_days: Type.Optional(Nullable(retention.report_days)),
            run_days: Type.Optional(Nullable(retention.run_days)),
            delivery_days: Type.Optional(Nullable(retention.delivery_days)),
            event_days: Type.Optional(Nullable(retention.event_days)),
          },
          { description: 'Days to keep what grows. null restores the defaults' },
        ),
      ),
    ),
  },
  {
    description: 'Changes to the policy. null restores the default, except for the days of the SLA, where null means no deadline',
    examples: [{ sla: { critical: 7, info: null } }],
  },
);
export type OrganizationPolicy = Static<typeof Policy>;
export type PolicyChange = Static<typeof PolicyPatch>;

export const Organization = Named('Organization', {
  ...OrganizationRef.properties,
  policy: Policy,
  ...common,
});
export const OrganizationPatch = Named(
  'OrganizationPatch',
  { name: Type.Optional({ ...Name, examples: ['Example Ltd'] }), policy: Type.Optional(PolicyPatch) },
  { minProperties: 1 },
);

const MustChangePassword = Type.Boolean({
  description: 'Whether somebody else chose the password. The session can then only read, until `PUT /me/password` changes the password',
  examples: [false],
});

export const Me = Named('Me', {
  type: OneOf(['api_key', 'member', 'oidc'] as const, { description: 'Kind of credential. `oidc` is an access token that carries its own role' }),
  id: Nullable(
    Type.String({ description: 'Id of the API key or member, or the subject of the OIDC token', examples: ['01994f3e-8a10-7c31-9d3c-5f1f4b8f0a11'] }),
  ),
  name: Type.String({ description: 'Name of the API key or of the person', examples: ['first owner key'] }),
  person: PersonRef('The person behind the credential. All sessions, API keys and access tokens of a member are one person'),
  email: Nullable(Type.String({ description: 'E-mail address of the person. null for an API key', examples: [null] })),
  role: Role,
  permissions: Type.Array(OneOf(permissionsOf('owner') as Permission[]), { description: 'Permissions of the role' }),
  organization: OrganizationRef,
  must_change_password: MustChangePassword,
  expires_at: Nullable({ ...Timestamp, description: 'When the credential expires. null: never', examples: [null] }),
});

export const Member = Named('Member', {
  id: Id,
  email: Email,
  name: Name,
  role: Role,
  has_password: Type.Boolean({ description: 'Whether the member can sign in with a password' }),
  must_change_password: MustChangePassword,
  identity_provider_linked: Type.Boolean({ description: 'Whether the member has signed in at the identity provider. Only that account is the member then' }),
  ...common,
});
export const MemberList = PageOf('MemberList', Member);
export const MemberQuery = Strict({
  q: Type.Optional(Text(1, 200, { description: 'Text in the name or the e-mail address, ignoring case' })),
  ...listParameters(['created_at'] as const, 'created_at'),
});
export const MemberCreate = Named('MemberCreate', {
  email: Email,
  name: Name,
  role: Role,
  password: Type.Optional({ ...Password, description: 'Password, 12 to 200 characters. If absent, the member can sign in only through the identity provider' }),
});
export const MemberPatch = Named(
  'MemberPatch',
  {
    name: Type.Optional(Name),
    role: Type.Optional(Role),
    password: Type.Optional({ ...Password, description: "New password, 12 to 200 characters. Setting it ends the member's sessions" }),
  },
  { minProperties: 1, examples: [{ role: 'admin' }] },
);

export const ApiKey = Named('ApiKey', {
  id: Id,
  name: Type.String({ description: 'Display name', examples: ['ci pipeline'] }),
  role: Role,
  prefix: Type.String({ description: 'First characters of the key, to tell keys apart', examples: ['rrs_AbCdEfGh'] }),
  status: OneOf(['active', 'expired', 'revoked'] as const, { description: 'Whether the key can be used' }),
  created_by: Type.String({ description: 'Name of the person or key that created it', examples: ['first owner key'] }),
  expires_at: Nullable({ ...Timestamp, description: 'When the key expires. null: never', examples: [null] }),
  last_used_at: Nullable({ ...Timestamp, description: 'When the key was last used, accurate to a few seconds' }),
  revoked_at: Nullable({ ...Timestamp, description: 'When the key was revoked', examples: [null] }),
  ...common,
});
export const ApiKeyCreated = Named('ApiKeyCreated', {
  ...ApiKey.properties,
  key: Type.String({
    description: 'The key. It cannot be retrieved again',
    examples: ['rrs_AbCdEfGhIjKlMnOpQrStUvWxYz0123456789-_AbCdEfGhIjKlMnOpQrStUvWxYz01'],
  }),
});
export const ApiKeyList = PageOf('ApiKeyList', ApiKey);
export const ApiKeyQuery = Strict(listParameters(['created_at'] as const, 'created_at'));
const Expiry = (description: string) => Type.Optional(Nullable(Type.String({ format: 'date-time', description, examples: ['2027-01-01T00:00:00.000Z'] })));
export const ApiKeyCreate = Named('ApiKeyCreate', {
  name: { ...Name, examples: ['ci pipeline'] },
  role: Role,
  expires_at: Expiry(
    'When the key expires, in the future. null or absent: never. A caller who is not a member can create keys for 24 hours, and a key of no member that expires only keys that expire with it',
  ),
});
export const ApiKeyPatch = Named(
  'ApiKeyPatch',
  {
    name: Type.Optional({ ...Name, examples: ['ci pipeline'] }),
    expires_at: Expiry('When the key expires, in the future. null: never'),
  },
  { minProperties: 1 },
);

export const SessionCreate = Named('SessionCreate', {
  email: Email,
  password: ExistingPassword,
  organization: Type.Optional(
    Text(1, 63, { description: 'Slug of the organization. Required only if you are a member of several with the same password', examples: ['default'] }),
  ),
});
export const PasswordChange = Named('PasswordChange', {
  current_password: ExistingPassword,
  new_password: { ...Password, description: 'New password, 12 to 200 characters' },
  revoke_api_keys: Type.Optional(RevokeApiKeys),
});
