import { Type } from 'typebox';
import { listParameters, PageOf } from '../http/paging.ts';
import { Id, Named, Nullable, OneOf, Strict, Text, Timestamp, VisibleName } from '../http/schemas.ts';

/** Pipelines import and read. They never manage access, so that a stolen token cannot create other credentials. */
const pipelineRoles = ['analyst', 'viewer'] as const;

const Name = VisibleName(1, 200, { description: 'Display name. Imports and the audit trail show it', examples: ['shop on GitHub'] });
const Issuer = Text(1, 500, {
  description:
    'Issuer of the tokens, exactly as their claim `iss` names it. GitHub Actions: `https://token.actions.githubusercontent.com`. GitLab: the URL of the instance',
  examples: ['https://token.actions.githubusercontent.com'],
});
const Conditions = Type.Record(Text(1, 100), Type.Array(Text(1, 500), { minItems: 1, maxItems: 50, uniqueItems: true }), {
  minProperties: 1,
  maxProperties: 20,
  description:
    'Claims that a token must have, each with the values that are allowed. All claims must match. `*` stands for one or more characters other than `/` and `:`, and must not be at the beginning of a value. At least one claim must say whose pipeline it is, such as `repository` (GitHub) or `project_path` (GitLab)',
  examples: [{ repository: ['acme/shop'], ref: ['refs/heads/main'] }],
});
const Role = OneOf(pipelineRoles, { description: 'Role of the pipeline: `analyst` to import reports, `viewer` to read', examples: ['analyst'] });
const AssetId = Nullable({
  ...Id,
  description: 'The only asset that the pipeline may import reports for and read findings of. null: no limit',
  examples: [null],
});

export const PipelineTrust = Named('PipelineTrust', {
  id: Id,
  name: Name,
  issuer: Issuer,
  audience: Type.String({
    description: 'Audience that the pipeline must request for its token. It names your organization',
    examples: ['rrs:01994f3e-8a10-7c31-9d3c-5f1f4b8f0a11'],
  }),
  conditions: Conditions,
  role: Role,
  asset_id: AssetId,
  created_by: Type.String({ description: 'Name of the person or key that created it', examples: ['Ada Lovelace'] }),
  version: Type.Integer({ minimum: 1, description: 'Version of the object, also its ETag. Each change increases it by 1' }),
  created_at: { ...Timestamp, description: 'When the object was created' },
  updated_at: { ...Timestamp, description: 'When the object was last changed' },
});
export const PipelineTrustList = PageOf('PipelineTrustList', PipelineTrust);
export const PipelineTrustQuery = Strict(listParameters(['created_at'] as const, 'created_at'));
export const PipelineTrustCreate = Named('PipelineTrustCreate', {
  name: Name,
  issuer: Issuer,
  conditions: Conditions,
  role: Role,
  asset_id: Type.Optional(AssetId),
});
export const PipelineTrustPatch = Named(
  'PipelineTrustPatch',
  {
    name: Type.Optional(Name),
    issuer: Type.Optional(Issuer),
    conditions: Type.Optional(Conditions),
    role: Type.Optional(Role),
    asset_id: Type.Optional(AssetId),
  },
  { minProperties: 1, examples: [{ name: 'shop on GitHub' }] },
);
export const PipelineTrustParams = Strict({ id: Id });
