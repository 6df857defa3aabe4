import { Type } from 'typebox';
import { listParameters, PageOf } from '../http/paging.ts';
import { Id, Named, Nullable, OneOf, Strict, Text, Timestamp } from '../http/schemas.ts';

const VulnerabilityId = (description: string, example: string) => Text(1, 200, { description, pattern: '\\S', examples: [example] });
const AliasId = VulnerabilityId('Another id of a vulnerability', 'GHSA-jfh8-c2jp-5v3q');
const CountsFor = OneOf(['all', 'claimants', 'none'] as const, {
  description:
    'Whose records the alias counts for: `all` sources, only the tools that claim it (`claimants`), or `none` because it is revoked, contradicted or replaced',
});

export const AliasParams = Strict({ alias: AliasId });
export const AliasQuery = Strict({
  ...listParameters(['created_at', 'alias'] as const, '-created_at'),
  alias: Type.Optional({ ...AliasId, description: 'Only this alias' }),
  vulnerability: Type.Optional(VulnerabilityId('Only aliases of this vulnerability', 'CVE-2021-44228')),
  counts_for: Type.Optional(Type.Array(CountsFor, { minItems: 1, maxItems: 3, description: 'Only aliases that count for these', examples: [['all']] })),
});

const Claim = Named('AliasClaim', {
  provider: Type.String({ description: 'The tool', examples: ['trivy'] }),
  vulnerability: Type.String({ description: 'The vulnerability that the tool takes it for', examples: ['CVE-2021-44228'] }),
  claimed_at: { ...Timestamp, description: 'When a report of the tool first said so' },
});

export const VulnerabilityAlias = Named('VulnerabilityAlias', {
  id: { ...Id, description: 'ID of the alias in this list' },
  alias: Type.String({ description: 'The other id', examples: ['GHSA-jfh8-c2jp-5v3q'] }),
  vulnerability: Type.String({ description: 'The id under which findings of the vulnerability are kept', examples: ['CVE-2021-44228'] }),
  origin: OneOf(['knowledge', 'sources', 'person', 'claim'] as const, {
    description: 'Who says so: a `knowledge` source, several `sources` that agree, a `person`, or tools whose `claim` nobody has confirmed',
  }),
  counts_for: CountsFor,
  claims: Type.Array(Claim, { description: 'What tools say about the alias' }),
  created_at: { ...Timestamp, description: 'When the alias was confirmed, added or first claimed' },
  added_by: Nullable(Type.String({ description: 'Who added the alias by hand', examples: [null] })),
  added_reason: Nullable(Type.String({ description: 'Why it was added', examples: [null] })),
  revoked_at: Nullable({ ...Timestamp, description: 'When the alias was revoked', examples: [null] }),
  revoked_by: Nullable(Type.String({ description: 'Who revoked the alias', examples: [null] })),
  revoked_reason: Nullable(Type.String({ description: 'Why it was revoked', examples: [null] })),
});
export const VulnerabilityAliasList = PageOf('VulnerabilityAliasList', VulnerabilityAlias);

const Reason = (description: string) => Text(3, 2_000, { description });
export const AliasCreate = Named(
  'AliasCreate',
  {
    alias: AliasId,
    vulnerability: VulnerabilityId('The vulnerability that the alias stands for', 'CVE-2021-44228'),
    reason: Reason('Why the two ids are those of one vulnerability'),
  },
  { examples: [{ alias: 'GHSA-jfh8-c2jp-5v3q', vulnerability: 'CVE-2021-44228', reason: 'the advisory names the CVE' }] },
);
export const AliasRevocation = Named(
  'AliasRevocation',
  { reason: Reason('Why the alias is wrong') },
  { examples: [{ reason: 'the advisory is about another package' }] },
);
export const AliasRestoration = Named(
  'AliasRestoration',
  { reason: Reason('Why the alias is right after all') },
  { examples: [{ reason: 'the advisory was corrected' }] },
);
