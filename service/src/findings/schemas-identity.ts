import { Type } from 'typebox';
import { Id, Named, Nullable, OneOf, PersonRef, Text, Timestamp } from '../http/schemas.ts';
import { AssetType, Source } from './fields/shapes.ts';

export const FindingMerge = Named(
  'FindingMerge',
  { into: { ...Id, description: 'The finding that is the same' }, reason: Text(3, 2_000, { description: 'Why the two are the same' }) },
  { examples: [{ into: '01994f3e-8a10-7c31-9d3c-5f1f4b8f0a11', reason: 'two names of one library' }] },
);

export const FindingSplit = Named(
  'FindingSplit',
  { reason: Text(3, 2_000, { description: 'Why the two are different' }) },
  { examples: [{ reason: 'two different libraries' }] },
);

const IdentityRule = Named('IdentityRule', {
  id: Id,
  kind: OneOf(['by_person', 'asset_merge', 'alias', 'source_package', 'component'] as const, {
    description:
      'Why the findings were merged: a person decided it, their assets were merged, two ids turned out to be one vulnerability, a package turned out to be built from a source package, or two names turned out to be one component',
  }),
  finding_id: { ...Id, description: 'The finding that was merged' },
  into_id: { ...Id, description: 'The finding that it was merged into' },
  by: PersonRef('Who decided it. null for imports'),
  reason: Nullable(Type.String({ description: 'Reason for the merge', examples: ['two names of one library'] })),
  created_at: { ...Timestamp, description: 'When the findings were merged' },
  revoked_at: Nullable({ ...Timestamp, description: 'When the findings were separated again', examples: [null] }),
  revoked_by: Nullable(Type.String({ description: 'Who separated the findings again', examples: [null] })),
});

export const FindingIdentity = Named('FindingIdentity', {
  id: Id,
  merged_into: Nullable({ ...Id, description: 'The finding that this one was merged into', examples: [null] }),
  weakness: Type.String({ description: 'Identifier of the weakness: a vulnerability id, or the rule of the tool', examples: ['CVE-2021-44228'] }),
  aliases: Type.Array(Type.String(), {
    description: 'Other ids of the weakness, learned from reports. Records that name one of them belong to the finding. At most 200',
    examples: [['GHSA-jfh8-c2jp-5v3q']],
  }),
  component_key: Nullable(
    Type.String({ description: 'Ecosystem and name by which the component is recognized', examples: ['maven:org.apache.logging.log4j:log4j-core'] }),
  ),
  asset: Type.Object(
    {
      id: Id,
      type: AssetType,
      name: Type.String({ description: 'Name of the asset' }),
      identifiers: Type.Array(
        Type.Object({
          kind: Type.String({ description: '`name`, or the kind of identifier: `fqdn`, `ip`, `mac`, `arn` and others' }),
          value: Type.String({ description: 'The identifier in its normal form' }),
        }),
        { description: 'The names by which the asset is recognized' },
      ),
    },
    { description: 'The asset that the finding is on' },
  ),
  tool_ids: Type.Array(
    Type.Object({
      source: Source,
      track: Type.String({ description: 'The track that the source reports it on' }),
      external_id: Type.String({ description: "The source's own id of the finding" }),
    }),
    { description: 'Ids by which tools recognize the finding. Records of the source with the id belong to the finding, even if it moved within the asset' },
  ),
  rules: Type.Array(IdentityRule, { description: 'Merges that the finding took part in, also those that were undone. At most 200' }),
});
