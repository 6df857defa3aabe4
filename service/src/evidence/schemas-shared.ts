import { Type } from 'typebox';
import { listParameters, PageOf } from '../http/paging.ts';
import { Id, Named, Nullable, OneOf, Strict, Text, Timestamp } from '../http/schemas.ts';
import { Person } from './schemas.ts';
import { ListedPackage, PackageParams } from './schemas-packages.ts';
import { DEFAULT_HOURS, MAX_HOURS } from './sharing/share-links.ts';

const TOKEN = 'shr_dGhpcyBpcyBub3QgYSByZWFsIHRva2VuLCBvbmx5IGFuIGV4YW1wbGUgb2Ygb25l';
const recipient = { description: 'For whom it is; receipts name them', examples: ['Grace Hopper, Example Auditors'] };

export const ShareLinkBody = Named(
  'NewShareLink',
  {
    recipient: Text(1, 300, recipient),
    expires_at: Type.Optional(Type.String({ format: 'date-time', description: `At most ${MAX_HOURS} hours from now` })),
    expires_in_hours: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: MAX_HOURS,
        description: `Instead of \`expires_at\`; ${DEFAULT_HOURS} when neither is given`,
        examples: [DEFAULT_HOURS],
      }),
    ),
  },
  { examples: [{ recipient: recipient.examples[0], expires_in_hours: DEFAULT_HOURS }] },
);

const ShareLink = Named('ShareLink', {
  id: Id,
  package_id: Id,
  recipient: Type.String(recipient),
  status: OneOf(['active', 'expired', 'revoked'] as const),
  created_by: Person,
  created_at: Timestamp,
  expires_at: Timestamp,
  revoked_at: Nullable(Type.String({ format: 'date-time', examples: [null] })),
  downloads: Type.Integer({ minimum: 0, description: 'How often something was downloaded with it', examples: [2] }),
  last_download_at: Nullable(Timestamp),
});
export const ShareLinkList = PageOf('ShareLinkList', ShareLink);
export const ShareLinkCreated = Named('ShareLinkCreated', {
  ...ShareLink.properties,
  url: Type.String({ format: 'uri', description: 'The link, shown this once', examples: [`https://rrs.example/api/v1/riskops-evidence/shared/${TOKEN}`] }),
});
export const ShareLinkQuery = Strict(listParameters(['created_at'] as const, '-created_at'));
export const ShareLinkParams = Strict({ ...PackageParams.properties, id: Id });
export const SharedParams = Strict({ token: Type.String({ description: 'Of the link', examples: [TOKEN] }) });

const { package_id, work_item_id, sequence, conclusion, completeness, counts, hashes, signature, log, timestamps, downloads, as_of, generated_at, superseded } =
  ListedPackage.properties;
export const SharedPackage = Named('SharedEvidencePackage', {
  organization: Type.String({ description: 'Whose it is', examples: ['Example Ltd'] }),
  recipient: Type.String(recipient),
  expires_at: { ...Timestamp, description: 'Until when the link serves' },
  package_id,
  work_item_id,
  sequence,
  conclusion,
  completeness,
  counts,
  hashes,
  signature,
  log,
  timestamps,
  downloads,
  as_of,
  generated_at,
  superseded,
  keys: Named('EvidenceKeysHint', {
    url: Type.String({ format: 'uri-reference', examples: ['/api/v1/riskops-evidence/keys'] }),
    hint: Type.String({ examples: ['Compare the fingerprints of the keys with those that the organization gave you by another way.'] }),
  }),
});
