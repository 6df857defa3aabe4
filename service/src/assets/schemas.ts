import { assetTypes } from '@rrs/scan-reports';
import { type TSchema, Type } from 'typebox';
import { listParameters, PageOf } from '../http/paging.ts';
import { Id, Named, Nullable, OneOf, Strict, Text, Timestamp, VisibleName } from '../http/schemas.ts';
import { criticalities, exposures } from './values.ts';

const AssetType = OneOf(assetTypes, { description: 'Kind of asset' });
const Criticality = OneOf(criticalities, {
  description: 'How important the asset is to the business. It contributes to the risk score of its findings',
});
const Exposure = OneOf(exposures, {
  description: 'From where the asset can be reached. It contributes to the risk score of its findings',
});
const Tag = Text(1, 100, { examples: ['payments'] });
const Retired = (description: string) => Type.Optional(Type.Boolean({ description }));

const count = (description: string) => Type.Integer({ minimum: 0, description, examples: [0] });

export const AssetParams = Strict({ id: Id });

export const Asset = Named('Asset', {
  id: Id,
  type: AssetType,
  name: Type.String({ description: 'Name as scanners report it', examples: ['registry.example.com/shop:1.4'] }),
  criticality: Criticality,
  exposure: Exposure,
  owner: Nullable(Type.String({ description: 'Team or person responsible for the asset', examples: ['team-payments'] })),
  tags: Type.Array(Type.String(), { description: 'Tags of the asset', examples: [['payments']] }),
  findings: Named(
    'AssetFindings',
    {
      active: count('Active findings: open, in progress, or remediated and not yet verified'),
      critical: count('Active findings with the severity `critical`'),
      high: count('Active findings with the severity `high`'),
      overdue: count('Active findings past their deadline, without suppressed ones'),
      max_risk: Nullable(
        Type.Number({ minimum: 0, maximum: 100, description: 'Highest risk score of an active finding. `null` if there is none', examples: [88.5] }),
      ),
    },
    { description: 'Numbers of active findings on the asset' },
  ),
  merged_into: Nullable({ ...Id, description: 'The asset that this one was merged into. It is no longer listed', examples: [null] }),
  retired: Type.Boolean({ description: 'Whether the asset is retired', examples: [false] }),
  retired_at: Nullable({ ...Timestamp, description: 'When the asset was retired', examples: [null] }),
  version: Type.Integer({ minimum: 1, description: 'Version of the asset, also its ETag. Each change increases it by 1' }),
  created_at: { ...Timestamp, description: 'When the asset was first reported' },
  updated_at: { ...Timestamp, description: 'When the asset was last changed' },
});
export const AssetList = PageOf('AssetList', Asset);

const identifiers = (description: string, value: string) =>
  Type.Array(
    Type.Object({
      kind: Type.String({ description: '`name`, or the kind of identifier: `fqdn`, `ip`, `mac`, `arn` and others' }),
      value: Type.String({ description: 'The identifier in its normal form' }),
    }),
    { description, examples: [[{ kind: value.includes('example') ? 'name' : 'ip', value }]] },
  );

export const AssetDetails = Named('AssetDetails', {
  ...Asset.properties,
  identifiers: identifiers('The names by which reports are recognized as being about the asset', 'web.example.com'),
  similar: Type.Array(
    Type.Object({
      id: Id,
      name: Type.String({ description: 'Name of the other asset', examples: ['192.0.2.10'] }),
      retired: Type.Boolean({ description: 'Whether the other asset is retired', examples: [false] }),
      shared: identifiers('What both have, for example an address, or a name without its domain or server', '192.0.2.10'),
    }),
    {
      description:
        'Up to 20 other assets with an address or a name of this one. They can be the same or not: an address can belong to several hosts one after the other. Merge them if you know that they are the same',
    },
  ),
});

const name = (description: string) => VisibleName(1, 1_000, { pattern: '[\\p{L}\\p{N}\\p{P}\\p{S}]', description });

const anyOf = <T extends TSchema>(item: T, description: string) => Type.Optional(Type.Array(item, { maxItems: 50, description }));
export const AssetQuery = Strict({
  ...listParameters(['created_at', 'name', 'active', 'max_risk'] as const, '-created_at'),
  type: anyOf(AssetType, 'Kinds of asset, separated by commas'),
  name: Type.Optional(Text(1, 300, { description: 'First characters of the name, ignoring case' })),
  criticality: anyOf(Criticality, 'Criticalities, separated by commas'),
  exposure: anyOf(Exposure, 'Exposures, separated by commas'),
  tag: anyOf(Tag, 'Tags, separated by commas. An asset matches if it has one of them'),
  owner: anyOf(Text(1, 200), 'Owners, separated by commas, ignoring case'),
  has_findings: Type.Optional(Type.Boolean({ description: 'Whether the asset has active findings' })),
  q: Type.Optional(Text(1, 300, { description: 'Text in the name or the owner, ignoring case' })),
  retired: Retired('`true`: only retired assets. `false`: only assets in use. Default: both'),
});

const tags = Type.Array(Tag, { maxItems: 50, uniqueItems: true, description: 'All tags of the asset. They replace the current ones' });

export const AssetCreate = Named(
  'AssetCreate',
  {
    type: AssetType,
    name: name('Name as reports state it. The tag of an image, or the spelling of a repository address, does not matter'),
    criticality: Type.Optional({ ...Criticality, description: 'How important the asset is to the business. Default: `medium`' }),
    exposure: Type.Optional({ ...Exposure, description: 'From where the asset can be reached. Default: `unknown`' }),
    owner: Type.Optional(VisibleName(1, 200, { description: 'Team or person responsible for the asset' })),
    tags: Type.Optional({ ...tags, description: 'Tags of the asset' }),
  },
  { examples: [{ type: 'host', name: 'web.example.com', criticality: 'high', owner: 'team-payments' }] },
);

const Reason = (description: string) => Type.Optional(Text(3, 2_000, { description }));
export const AssetMergeBody = Named(
  'AssetMerge',
  { into: { ...Id, description: 'The asset that is the same' }, reason: Reason('Why the two are the same') },
  { examples: [{ into: '01994f3e-8a10-7c31-9d3c-5f1f4b8f0a11', reason: 'one host with two names' }] },
);
export const AssetUnmergeBody = Named('AssetUnmerge', { reason: Reason('Why the two are different') }, { examples: [{ reason: 'two hosts' }] });

export const AssetPatch = Named(
  'AssetPatch',
  {
    name: Type.Optional(name('New name. Reports that use the old name are still recognized, and no report replaces the new one')),
    criticality: Type.Optional(Criticality),
    exposure: Type.Optional(Exposure),
    owner: Type.Optional(Nullable(VisibleName(1, 200, { description: 'Team or person responsible for the asset. null removes it' }))),
    tags: Type.Optional(tags),
    retired: Retired('`true` retires the asset and withdraws its active findings. `false` puts it back in use, but does not reopen the findings'),
  },
  { minProperties: 1, examples: [{ criticality: 'high', exposure: 'internet', owner: 'team-payments' }] },
);
