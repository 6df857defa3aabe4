import { Type } from 'typebox';
import { listParameters, PageOf } from '../http/paging.ts';
import { Named, Nullable, OneOf, Strict, Text } from '../http/schemas.ts';
import { idOf, Person, timeOf } from './schemas.ts';
import { ListedPackage, PackageParams } from './schemas-packages.ts';

export const DEFAULT_HOURS = 168;
export const MAX_HOURS = 2_160;
const MAX_DOWNLOADS = 1_000;
const COUNTING =
  'Each request for a file counts. A range request does not count if the same address started to download the same format with the link within the last hour.';

const TOKEN = 'shr_dGhpcyBpcyBub3QgYSByZWFsIHRva2VuLCBvbmx5IGFuIGV4YW1wbGUgb2Ygb25l';
const recipient = { description: 'Who the link is for. Download receipts name the recipient.', examples: ['Grace Hopper, Example Auditors'] };

export const ShareLinkBody = Named(
  'NewShareLink',
  {
    recipient: Text(1, 300, recipient),
    expires_at: Type.Optional(
      Type.String({ format: 'date-time', description: `When the link expires. At most ${MAX_HOURS} hours from now. Excludes \`expires_in_hours\`.` }),
    ),
    expires_in_hours: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: MAX_HOURS,
        description: `Lifetime of the link in hours. Default: ${DEFAULT_HOURS}. Excludes \`expires_at\`.`,
        examples: [DEFAULT_HOURS],
      }),
    ),
    max_downloads: Type.Optional(
      Nullable(
        Type.Integer({
          minimum: 1,
          maximum: MAX_DOWNLOADS,
          description: `Number of downloads after which the link stops working. 1 makes a link for one use. Default: no limit. ${COUNTING}`,
          examples: [3],
        }),
      ),
    ),
  },
  { examples: [{ recipient: recipient.examples[0], expires_in_hours: DEFAULT_HOURS }] },
);

const remaining = Nullable(Type.Integer({ minimum: 0, description: 'Number of downloads that are left. Null if there is no limit.', examples: [1] }));

const ShareLink = Named('ShareLink', {
  id: idOf('the share link'),
  package_id: idOf('the evidence package'),
  recipient: Type.String(recipient),
  status: OneOf(['active', 'used_up', 'expired', 'revoked'] as const, {
    description: 'Only active links work. A link that is used up still shows the package until it expires, but refuses downloads.',
  }),
  created_by: Person,
  created_at: timeOf('When the link was created.'),
  expires_at: timeOf('When the link expires.'),
  revoked_at: Nullable(Type.String({ format: 'date-time', description: 'When the link was revoked. Null if it was not.', examples: [null] })),
  downloads: Type.Integer({ minimum: 0, description: `Number of downloads with this link. ${COUNTING}`, examples: [2] }),
  max_downloads: Nullable(Type.Integer({ minimum: 1, description: 'Number of downloads that the link allows. Null if there is no limit.', examples: [3] })),
  remaining_downloads: remaining,
  last_download_at: Nullable(timeOf('When a download with the link last began. Null if never.')),
});
export const ShareLinkList = PageOf('ShareLinkList', ShareLink);
export const ShareLinkCreated = Named('ShareLinkCreated', {
  ...ShareLink.properties,
  url: Type.String({
    format: 'uri',
    description: 'The link to a page that shows the package and verifies it in the browser. It cannot be retrieved again.',
    examples: [`https://rrs.example/shared/${TOKEN}`],
  }),
  api_url: Type.String({
    format: 'uri',
    description: 'The same link for programs: `GET /riskops-evidence/shared/{token}`. It cannot be retrieved again.',
    examples: [`https://rrs.example/api/v1/riskops-evidence/shared/${TOKEN}`],
  }),
});
export const ShareLinkQuery = Strict(listParameters(['created_at'] as const, '-created_at'));
export const ShareLinkParams = Strict({ ...PackageParams.properties, id: idOf('the share link') });
export const SharedParams = Strict({ token: Type.String({ description: 'Token of the share link.', examples: [TOKEN] }) });

const {
  package_id,
  work_item_id,
  work_item_title,
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
} = ListedPackage.properties;
export const SharedPackage = Named('SharedEvidencePackage', {
  organization: Type.String({ description: 'Name of the organization that shared the package.', examples: ['Example Ltd'] }),
  recipient: Type.String(recipient),
  expires_at: timeOf('When the link expires.'),
  remaining_downloads: remaining,
  package_id,
  work_item_id,
  work_item_title,
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
  keys: Named(
    'EvidenceKeysHint',
    {
      url: Type.String({
        format: 'uri-reference',
        description: 'URL of the public keys, relative to the server.',
        examples: ['/api/v1/riskops-evidence/keys'],
      }),
      hint: Type.String({
        description: 'How to check the keys.',
        examples: ['Compare the key fingerprints with those that the organization gave you through another channel.'],
      }),
    },
    { description: 'Where to find the public keys.' },
  ),
});
