import { CONCLUSIONS, GAP_CODES, GRADES, PACKAGE_FORMATS } from '@rrs/evidence-format';
import { CODES, LAYERS } from '@rrs/verifier';
import { Type } from 'typebox';
import { listParameters, PageOf, range } from '../http/paging.ts';
import { Id, Named, Nullable, OneOf, Strict, Text, Timestamp } from '../http/schemas.ts';
import { packageStatuses } from './packages/packages.ts';
import { Person, Sha256 } from './schemas.ts';

const downloadFormats = ['zip', ...PACKAGE_FORMATS] as const;

export const NewPackageBody = Named('NewEvidencePackage', {
  work_item_id: Id,
  formats: Type.Optional(
    Type.Array(OneOf(PACKAGE_FORMATS), {
      minItems: 1,
      maxItems: PACKAGE_FORMATS.length,
      uniqueItems: true,
      description: 'What the package can be read as, besides the ZIP; all when not given. `evidence.json` is always in it',
      examples: [['pdf', 'json']],
    }),
  ),
  note: Type.Optional(Nullable(Text(1, 2_000, { description: 'Shown in the package', examples: ['For the audit of 2026'] }))),
});

const File = Named('EvidenceFile', {
  path: Type.String({ description: 'In the bag', examples: ['data/evidence.json'] }),
  size: Type.Integer({ examples: [18_422] }),
  sha256: Sha256,
  media_type: Type.String({ examples: ['application/json'] }),
});
const Download = Named('EvidenceDownload', {
  format: OneOf(downloadFormats, { examples: ['zip'] }),
  url: Type.String({ format: 'uri-reference', examples: ['/api/v1/riskops-evidence/packages/01994f3e-8a10-7c31-9d3c-5f1f4b8f0a11/download?format=zip'] }),
  size: Type.Integer({ examples: [482_113] }),
  sha256: Sha256,
  media_type: Type.String({ examples: ['application/zip'] }),
  expires_at: Nullable(Type.String({ format: 'date-time', description: 'Null: as long as the package, for whoever may read it', examples: [null] })),
});
const Gap = Named('EvidenceGap', {
  code: OneOf(GAP_CODES, { examples: ['no_timestamp'] }),
  weight: OneOf(['major', 'minor'] as const, { examples: ['minor'] }),
  what: Type.String({ examples: ['No time-stamping authority confirmed the time of this package.'] }),
  about: Type.Array(Type.String(), { description: 'Ids of findings, scans or artifacts; empty: the package', examples: [[]] }),
});
const number = Type.Integer({ examples: [1] });

export const Package = Named('EvidencePackage', {
  package_id: Id,
  work_item_id: Id,
  sequence: Type.Integer({ description: 'Counts the packages of the work item, from 1', examples: [1] }),
  status: OneOf(packageStatuses, { examples: ['ready'] }),
  error: Nullable(Type.String({ description: 'Why it failed', examples: [null] })),
  conclusion: Nullable(OneOf(CONCLUSIONS, { description: 'Computed from the findings', examples: ['remediated'] })),
  completeness: Nullable(
    Type.Object({ grade: OneOf(GRADES, { examples: ['B'] }), gaps: Type.Array(Gap) }, { title: 'EvidenceCompleteness', description: 'A: nothing is missing' }),
  ),
  counts: Nullable(
    Type.Object({ findings: number, artifacts: number, scans: number }, { title: 'EvidenceCounts', description: 'What is in it', additionalProperties: true }),
  ),
  hashes: Nullable(
    Type.Object(
      { archive_sha256: Sha256, manifest_sha256: Sha256, tagmanifest_sha256: Sha256, log_leaf_sha256: Sha256 },
      { title: 'EvidenceHashes', description: 'Of the ZIP, of the two manifests in it, and of its leaf in the log' },
    ),
  ),
  signature: Nullable(
    Type.Object(
      { key_id: Type.String({ examples: ['SHA256:5M4U…'] }), algorithm: Type.String({ examples: ['ES256'] }) },
      { title: 'EvidenceSignature', description: 'The key is one of `GET /riskops-evidence/keys`' },
    ),
  ),
  log: Nullable(
    Type.Object(
      { index: Type.Integer({ examples: [0] }), tree_size: number, root_hash: Sha256 },
      { title: 'EvidenceLog', description: 'Its place in the transparency log of the organization' },
    ),
  ),
  timestamps: Type.Array(Type.Object({ file: Type.String({ examples: ['proof/timestamp.tsr'] }) }), { description: 'RFC 3161, in the ZIP', examples: [[]] }),
  files: Type.Array(File, { description: 'Everything under data/' }),
  downloads: Type.Array(Download),
  note: Nullable(Type.String({ examples: [null] })),
  generated_by: Person,
  requested_at: Timestamp,
  as_of: Nullable(Timestamp),
  generated_at: Nullable(Timestamp),
  superseded: Nullable(
    Type.Object(
      {
        at: Timestamp,
        by: Nullable(Type.String({ format: 'uuid', examples: [null] })),
        reason: Type.String({ examples: ['A finding that this package calls closed is open again.'] }),
      },
      { title: 'EvidenceSupersession', description: 'It still verifies, for its date' },
    ),
  ),
  superseded_by: Nullable(Type.String({ format: 'uuid', examples: [null] })),
});
/** Of many packages without their files. */
const { files: _files, ...listed } = Package.properties;
export const ListedPackage = Named('ListedEvidencePackage', listed);
export const PackageList = PageOf('EvidencePackageList', ListedPackage);

const listing = {
  ...listParameters(['generated_at'] as const, '-generated_at'),
  status: Type.Optional(Type.Array(OneOf(packageStatuses), { minItems: 1, maxItems: packageStatuses.length })),
  ...range('generated'),
};
export const ItemPackageListQuery = Strict(listing);
export const PackageListQuery = Strict({ ...listing, work_item_id: Type.Optional(Id) });
export const PackageParams = Strict({ package_id: Id });
export const DownloadQuery = Strict({
  format: Type.Optional(OneOf(downloadFormats, { default: 'zip', description: 'The ZIP holds all of them', examples: ['zip'] })),
});

export const Verification = Named('EvidenceVerification', {
  verdict: OneOf(['verified', 'consistent', 'failed'] as const, {
    description: '`verified`: every layer holds, and the keys are those of this service. `consistent`: nothing is wrong, but whom to trust is not known',
    examples: ['verified'],
  }),
  failures: Type.Array(
    Named('EvidenceFailure', {
      code: OneOf(Object.keys(CODES), { examples: ['payload_changed'] }),
      file: Type.String({ examples: ['data/report.pdf'] }),
      detail: Type.String(),
      expected: Nullable(Type.String({ examples: [null] })),
      actual: Nullable(Type.String({ examples: [null] })),
    }),
    { examples: [[]] },
  ),
  layers: Type.Array(
    Named('EvidenceLayer', {
      name: OneOf(LAYERS, { examples: ['signature'] }),
      result: OneOf(['pass', 'fail', 'not_present', 'not_checked'] as const, { examples: ['pass'] }),
      detail: Type.String({ examples: ['signed by a key that is trusted'] }),
    }),
  ),
  notes: Type.Array(Type.String(), { examples: [[]] }),
  package_id: Nullable(Type.String({ format: 'uuid', description: 'As the package says', examples: ['01994f3e-8a10-7c31-9d3c-5f1f4b8f0a11'] })),
  superseded: Nullable(Type.String({ description: 'Why it no longer says how things are, though it verifies', examples: [null] })),
});
