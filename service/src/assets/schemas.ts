import { assetTypes } from '@rrs/scan-reports';
import { Type } from 'typebox';
import { listParameters, PageOf } from '../http/paging.ts';
import { Id, Named, Nullable, OneOf, Strict, Text, Timestamp } from '../http/schemas.ts';
import { criticalities, exposures } from './assets.ts';

const AssetType = OneOf(assetTypes);
const Criticality = OneOf(criticalities, { description: 'How much depends on it; goes into the risk score' });
const Exposure = OneOf(exposures, { description: 'From where it can be reached; goes into the risk score' });
const Tag = Text(1, 100, { examples: ['payments'] });

export const AssetParams = Strict({ id: Id });

export const Asset = Named('Asset', {
  id: Id,
  type: AssetType,
  name: Type.String({ examples: ['registry.example.com/shop:1.4'] }),
  criticality: Criticality,
  exposure: Exposure,
  owner: Nullable(Type.String({ examples: ['team-payments'] })),
  tags: Type.Array(Type.String(), { examples: [['payments']] }),
  retired: Type.Boolean({ examples: [false] }),
  retired_at: Nullable({ ...Timestamp, examples: [null] }),
  version: Type.Integer({ minimum: 1, description: 'Grows with each change; also the ETag' }),
  created_at: Timestamp,
  updated_at: Timestamp,
});
export const AssetList = PageOf('AssetList', Asset);

const Multi = <T extends Parameters<typeof Type.Array>[0]>(item: T) => Type.Optional(Type.Array(item, { maxItems: 50 }));
export const AssetQuery = Strict({
  ...listParameters(['created_at', 'name'] as const, '-created_at'),
  type: Multi(AssetType),
  name: Type.Optional(Text(1, 300, { description: 'Beginning of the name, in upper or lower case' })),
  criticality: Multi(Criticality),
  exposure: Multi(Exposure),
  tag: Multi(Tag),
  retired: Type.Optional(Type.Boolean({ description: 'Both, if absent' })),
});

export const AssetPatch = Named(
  'AssetPatch',
  {
    criticality: Type.Optional(Criticality),
    exposure: Type.Optional(Exposure),
    owner: Type.Optional(Nullable(Text(1, 200))),
    tags: Type.Optional(Type.Array(Tag, { maxItems: 50, uniqueItems: true })),
    retired: Type.Optional(Type.Boolean({ description: 'Retiring withdraws the active findings of the asset; taking it back does not reopen them' })),
  },
  { minProperties: 1, examples: [{ criticality: 'high', exposure: 'internet', owner: 'team-payments' }] },
);
