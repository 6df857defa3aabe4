import { Type } from 'typebox';
import { listParameters, PageOf } from '../http/paging.ts';
import { Id, Named, Nullable, OneOf, Strict, Text } from '../http/schemas.ts';
import { AssetType, Multi, Severity, Status } from './fields/shapes.ts';
import { ScopeAsset } from './schemas.ts';

export const changeKinds = ['created', 'reopened', 'closed', 'updated', 'unchanged'] as const;
const Kind = OneOf(changeKinds, {
  description:
    'What the import did to the finding. If several apply, the first of: `created`, `reopened`, `closed`, `updated`. A finding that a pull request brings back is `reopened`, but keeps its status',
});

export const ImportChange = Named('ImportChange', {
  finding_id: { ...Id, description: 'ID of the finding' },
  kind: Kind,
  title: Type.String({
    description: 'Current title of the finding',
    examples: ['Apache Log4j2 JNDI features do not protect against attacker controlled LDAP'],
  }),
  severity: { ...Severity, description: 'Current severity of the finding' },
  asset: Type.Object(
    { id: Id, type: AssetType, name: Type.String({ description: 'Name of the asset', examples: ['registry.example.com/shop'] }) },
    { description: 'Asset of the finding' },
  ),
  from_status: Nullable({ ...Status, description: 'Status before the import. `null` if the finding is new or its status did not change' }),
  to_status: Nullable({ ...Status, description: 'Status after the import. `null` if it did not change' }),
  fields: Type.Array(
    Type.Object({
      field: OneOf(['severity', 'version', 'title'] as const, { description: 'What changed. `version` is that of the component' }),
      from: Nullable(Type.String({ description: 'Value before the import', examples: ['medium'] })),
      to: Nullable(Type.String({ description: 'Value after the import', examples: ['high'] })),
    }),
    { description: 'What the sources say differently since the import', examples: [[]] },
  ),
});
export const ImportChangeList = PageOf('ImportChangeList', ImportChange);
export const ImportChangeQuery = Strict({
  ...listParameters(['severity'] as const, '-severity'),
  kind: Multi(Kind, 'One of these kinds. Default: all except `unchanged`, which is known only of the newest scan of each asset and branch by its source'),
});

export const EndedTracks = Named(
  'EndedTracks',
  {
    asset: { ...ScopeAsset, description: 'The asset, in any spelling of its name' },
    tracks: Type.Array(Text(1, 200), {
      minItems: 1,
      maxItems: 100,
      description: 'Pull requests and branches that have been merged or closed, as the pipeline names them',
      examples: [['refs/pull/17/merge']],
    }),
  },
  { examples: [{ asset: { type: 'repository', name: 'https://git.example.com/shop' }, tracks: ['refs/pull/17/merge'] }] },
);
export const EndedTracksResult = Named('EndedTracksResult', {
  ended: Type.Array(Type.String({ description: 'Name as you sent it' }), { description: 'What has ended', examples: [['refs/pull/17/merge']] }),
  not_ended: Type.Array(Type.String({ description: 'Name as you sent it' }), {
    description: 'Names of which the asset has no open pull request or branch whose findings do not count',
    examples: [[]],
  }),
});
