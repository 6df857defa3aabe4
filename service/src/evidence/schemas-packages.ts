import { CONCLUSIONS, GAP_CODES, GAP_WEIGHTS, GRADES, PACKAGE_FORMATS } from '@rrs/evidence-format';
import { CODES, LAYERS, TAKEN_ON_TRUST } from '@rrs/verifier';
import { Type } from 'typebox';
import { listParameters, PageOf, range } from '../http/paging.ts';
import { Named, Nullable, OneOf, Strict, Text } from '../http/schemas.ts';
import { hashOf, idOf, Person, Sha256, timeOf } from './schemas.ts';

export const packageStatuses = ['generating', 'ready', 'failed', 'superseded'] as const;
const downloadFormats = ['zip', ...PACKAGE_FORMATS] as const;

export const NewPackageBody = Named('NewEvidencePackage', {
  work_item_id: idOf('the work item'),
  formats: Type.Optional(
    Type.Array(OneOf(PACKAGE_FORMATS), {
      minItems: 1,
      maxItems: PACKAGE_FORMATS.length,
      uniqueItems: true,
      description: 'Formats to include. Default: all. `html`, `json` and `jsonl` are always included.',
      examples: [['pdf', 'json']],
    }),
  ),
  dry_run: Type.Optional(
    Type.Boolean({ description: 'Returns what the package would state, and generates nothing. Default: false.', default: false, examples: [false] }),
  ),
  note: Type.Optional(Nullable(Text(1, 2_000, { description: 'Note that is shown in the package. Default: none.', examples: ['For the audit of 2026'] }))),
});

const File = Named('EvidenceFile', {
  path: Type.String({ description: 'Path in the package.', examples: ['data/evidence.json'] }),
  size: Type.Integer({ description: 'Size in bytes.', examples: [18_422] }),
  sha256: Sha256,
  media_type: Type.String({ description: 'Media type.', examples: ['application/json'] }),
});
const Download = Named('EvidenceDownload', {
  format: OneOf(downloadFormats, { description: 'Format. `zip` is the complete package.', examples: ['zip'] }),
  url: Type.String({
    format: 'uri-reference',
    description: 'URL of the download, relative to the server.',
    examples: ['/api/v1/riskops-evidence/packages/01994f3e-8a10-7c31-9d3c-5f1f4b8f0a11/download?format=zip'],
  }),
  size: Type.Integer({ description: 'Size in bytes.', examples: [482_113] }),
  sha256: Sha256,
  media_type: Type.String({ description: 'Media type.', examples: ['application/zip'] }),
  expires_at: Nullable(Type.String({ format: 'date-time', description: 'When the URL stops working. Null if it does not expire.', examples: [null] })),
});
const Gap = Named('EvidenceGap', {
  code: OneOf(GAP_CODES, { description: 'Kind of gap.', examples: ['no_timestamp'] }),
  weight: OneOf(GAP_WEIGHTS, { description: 'A major gap lowers the grade to C or D, a minor one to B. A note has no effect.', examples: ['minor'] }),
  what: Type.String({ description: 'What is missing, in one sentence.', examples: ['No time-stamping authority confirmed when this package was sealed.'] }),
  about: Type.Array(Type.String(), {
    description: 'Ids of the affected findings, scans, artifacts, assets or approvals. Empty if the gap concerns the whole package.',
    examples: [[]],
  }),
});
const count = (what: string) => Type.Integer({ description: `Number of ${what}.`, examples: [1] });

const completeness = {
  grade: OneOf(GRADES, { description: 'A: no gaps. B: minor gaps only. C: one kind of major gap. D: several kinds.', examples: ['B'] }),
  gaps: Type.Array(Gap, { description: 'What the package lacks.' }),
};
const counts = { findings: count('findings'), artifacts: count('artifacts'), scans: count('scans') };

export const PackagePreview = Named('EvidencePreview', {
  work_item_id: idOf('the work item'),
  as_of: timeOf('Time that the preview describes.'),
  conclusion: OneOf(CONCLUSIONS, { description: 'Conclusion that a package sealed now would have.', examples: ['remediated'] }),
  completeness: Named('EvidencePreviewCompleteness', completeness, { description: 'How complete the evidence is.' }),
  counts: Type.Object(counts, { title: 'EvidencePreviewCounts', description: 'What the package would contain.', additionalProperties: true }),
});

export const Package = Named('EvidencePackage', {
  package_id: idOf('the evidence package'),
  work_item_id: idOf('the work item'),
  work_item_title: Type.String({ description: 'Title of the work item when the package was requested.', examples: ['Update OpenSSL'] }),
  sequence: Type.Integer({ description: 'Number of the package within the work item, from 1.', examples: [1] }),
  status: OneOf(packageStatuses, {
    description: '`superseded`: a later package replaced it, or a finding that it reports as closed was reopened.',
    examples: ['ready'],
  }),
  error: Nullable(Type.String({ description: 'Why generation failed. Null unless the status is `failed`.', examples: [null] })),
  conclusion: Nullable(
    OneOf(CONCLUSIONS, { description: 'Conclusion, computed from the states of the findings. Null until the package is ready.', examples: ['remediated'] }),
  ),
  completeness: Nullable(
    Type.Object(completeness, { title: 'EvidenceCompleteness', description: 'How complete the evidence is. Null until the package is ready.' }),
  ),
  counts: Nullable(
    Type.Object(counts, { title: 'EvidenceCounts', description: 'What the package contains. Null until it is ready.', additionalProperties: true }),
  ),
  hashes: Nullable(
    Type.Object(
      {
        archive_sha256: hashOf('SHA-256 of the ZIP file in hexadecimal.'),
        manifest_sha256: hashOf('SHA-256 of `manifest-sha256.txt` in hexadecimal.'),
        tagmanifest_sha256: hashOf('SHA-256 of `tagmanifest-sha256.txt` in hexadecimal.'),
        log_leaf_sha256: hashOf('Leaf hash of the entry in the transparency log in hexadecimal.'),
      },
      { title: 'EvidenceHashes', description: 'Hashes that identify the package. Null until it is ready.' },
    ),
  ),
  signature: Nullable(
    Type.Object(
      {
        key_id: Type.String({ description: 'Id of the signing key.', examples: ['SHA256:5M4U…'] }),
        algorithm: Type.String({ description: 'Signature algorithm.', examples: ['ES256'] }),
      },
      { title: 'EvidenceSignature', description: 'Key that signed the package. `GET /riskops-evidence/keys` lists the keys. Null until the package is ready.' },
    ),
  ),
  log: Nullable(
    Type.Object(
      {
        index: Type.Integer({ description: 'Index of the entry, from 0.', examples: [0] }),
        tree_size: Type.Integer({ description: 'Number of entries after the entry was appended.', examples: [1] }),
        root_hash: hashOf('Root hash of that tree in hexadecimal.'),
      },
      { title: 'EvidenceLog', description: "Entry in your organization's transparency log. Null until the package is ready." },
    ),
  ),
  timestamps: Type.Array(Type.Object({ file: Type.String({ description: 'Path in the ZIP file.', examples: ['proof/timestamp.tsr'] }) }), {
    description: 'RFC 3161 timestamps in the ZIP file. Empty if no time-stamping authority is configured or none answered.',
    examples: [[]],
  }),
  witnesses: Type.Array(
    Named('EvidenceWitness', {
      name: Type.String({ description: 'Name of the witness.', examples: ['witness.example/w1'] }),
      cosigned_at: Nullable(timeOf('When the witness confirmed the checkpoint of the package. Null if it did not answer in time.')),
    }),
    { description: 'Witnesses of the transparency log. Empty if none is configured.', examples: [[]] },
  ),
  files: Type.Array(File, { description: 'Every file under `data/`.' }),
  downloads: Type.Array(Download, { description: 'Available downloads. Empty until the package is ready.' }),
  note: Nullable(Type.String({ description: 'Note given with the request.', examples: [null] })),
  generated_by: Person,
  requested_at: timeOf('When the package was requested.'),
  as_of: Nullable(timeOf('Time of the snapshot that the package describes. Null until the package is ready.')),
  generated_at: Nullable(timeOf('When the package was generated. Null until the package is ready.')),
  superseded: Nullable(
    Type.Object(
      {
        at: timeOf('When the package was superseded.'),
        by: Nullable(Type.String({ format: 'uuid', description: 'Id of the package that replaced it, if there is one.', examples: [null] })),
        reason: Type.String({ description: 'Why it was superseded.', examples: ['A finding that this package reports as closed was reopened.'] }),
      },
      { title: 'EvidenceSupersession', description: 'Why the package is no longer current. It still verifies for its date. Null unless superseded.' },
    ),
  ),
  superseded_by: Nullable(Type.String({ format: 'uuid', description: 'Id of the package that replaced it, if there is one.', examples: [null] })),
});
/** Lists leave out the files: a package can have thousands. */
const { files: _files, ...listed } = Package.properties;
export const ListedPackage = Named('ListedEvidencePackage', listed);
export const PackageList = PageOf('EvidencePackageList', ListedPackage);

const listing = {
  ...listParameters(['generated_at'] as const, '-generated_at'),
  status: Type.Optional(
    Type.Array(OneOf(packageStatuses), { minItems: 1, maxItems: packageStatuses.length, description: 'Only packages with one of these statuses.' }),
  ),
  ...range('generated'),
};
export const ItemPackageListQuery = Strict(listing);
export const PackageListQuery = Strict({ ...listing, work_item_id: Type.Optional(idOf('a work item, to list only its packages')) });
export const PackageParams = Strict({ package_id: idOf('the evidence package') });
export const DownloadQuery = Strict({
  format: Type.Optional(
    OneOf(downloadFormats, { default: 'zip', description: 'Format to download. `zip` (the default) is the complete package.', examples: ['zip'] }),
  ),
});

export const StatusStatement = Named('EvidenceStatusStatement', {
  payload: Type.String({
    description:
      'Base64 of an in-toto statement with the predicate type `https://rrs.example/package-status/v1`. Its predicate has `status` (`ready` or `superseded`), `by`, `reason`, `since`, `as_of` and the latest checkpoint of the log.',
    examples: ['eyJfdHlwZSI6Imh0dHBzOi8vaW4tdG90by5pby9TdGF0ZW1lbnQvdjEi…'],
  }),
  payloadType: Type.String({ description: 'Type of the payload.', examples: ['application/vnd.in-toto+json'] }),
  signatures: Type.Array(
    Named('EvidenceStatusSignature', {
      keyid: Type.String({ description: 'Id of the package key that signed the statement.', examples: ['SHA256:5M4U…'] }),
      sig: Type.String({ description: 'Base64 of the ECDSA signature in DER over the DSSE pre-authentication encoding.', examples: ['MEUCIQ…'] }),
    }),
    { description: 'One signature.' },
  ),
});

export const Verification = Named('EvidenceVerification', {
  owner: Nullable(
    Named(
      'EvidenceOwner',
      {
        organization_id: Type.String({
          description: 'Id of the organization that the package belongs to.',
          examples: ['01994f3e-8a10-7c31-9d3c-5f1f4b8f0a11'],
        }),
        organization_name: Type.String({ description: 'Name of the organization as the package states it.', examples: ['Acme'] }),
        origin: Type.String({ description: 'Transparency log of the package.', examples: ['rrs.example/orgs/01994f3e-8a10-7c31-9d3c-5f1f4b8f0a11'] }),
      },
      { description: 'Whose package it is. Null if its content was not read. Check that it is the organization you expect: organizations share the keys.' },
    ),
  ),
  verdict: OneOf(['verified', 'consistent', 'failed'] as const, {
    description:
      '`verified`: every check passed and the package was signed with keys of this service. `consistent`: no check failed, but at least one layer could not be checked. `failed`: at least one check failed.',
    examples: ['verified'],
  }),
  failures: Type.Array(
    Named('EvidenceFailure', {
      code: OneOf(Object.keys(CODES), { description: 'Kind of failure.', examples: ['payload_changed'] }),
      file: Type.String({ description: 'Affected file in the package. Empty if the failure concerns the whole package.', examples: ['data/report.pdf'] }),
      detail: Type.String({ description: 'What is wrong.' }),
      expected: Nullable(Type.String({ description: 'Expected value, if there is one.', examples: [null] })),
      actual: Nullable(Type.String({ description: 'Value that was found instead, if there is one.', examples: [null] })),
    }),
    { description: 'Failed checks. Empty unless the verdict is `failed`.', examples: [[]] },
  ),
  layers: Type.Array(
    Named('EvidenceLayer', {
      name: OneOf(LAYERS, { description: 'Layer of the package.', examples: ['signature'] }),
      result: OneOf(['pass', 'fail', 'not_present', 'not_checked'] as const, {
        description: '`not_present`: the package has no such layer. `not_checked`: the layer could not be checked.',
        examples: ['pass'],
      }),
      detail: Type.String({ description: 'Explanation of the result.', examples: ['signed by a key that is trusted'] }),
    }),
    { description: 'Result for each layer.' },
  ),
  notes: Type.Array(Type.String(), { description: 'Remarks that do not affect the verdict.', examples: [[]] }),
  taken_on_trust: Type.Array(OneOf(Object.keys(TAKEN_ON_TRUST), { description: 'What no check covers.' }), {
    description: `What the verdict does not cover. ${Object.entries(TAKEN_ON_TRUST)
      .map(([code, meaning]) => `\`${code}\`: ${meaning}`)
      .join(' ')}`,
    examples: [['originals_true', 'who_is_who']],
  }),
  package_id: Nullable(
    Type.String({
      format: 'uuid',
      description: 'Id that the package states. Null if it could not be read.',
      examples: ['01994f3e-8a10-7c31-9d3c-5f1f4b8f0a11'],
    }),
  ),
  superseded: Nullable(
    Type.String({ description: 'Why the package is no longer current, although it may verify. Null if it is current or unknown here.', examples: [null] }),
  ),
});
