import { Type } from 'typebox';
import { listParameters, PageOf } from '../http/paging.ts';
import { Id, Named, Nullable, OneOf, Strict, Text, Timestamp } from '../http/schemas.ts';
import { artifactTypes } from './artifacts/artifacts.ts';
import { artifactMediaTypes } from './artifacts/media-type.ts';

const SHA256 = 'f2ca1bb6c7e907d06dafe4687e579fce76b37e4e93b7605022da52e6ccc26fd2';
const ORIGIN = 'rrs.example/orgs/01994f3e-8a10-7c31-9d3c-5f1f4b8f0a11';
export const Sha256 = Type.String({ description: 'SHA-256 in hexadecimal', examples: [SHA256] });
export const Person = Named('EvidencePerson', {
  type: OneOf(['api_key', 'member', 'oidc', 'system'] as const),
  id: Nullable(Type.String({ examples: ['01994f3e-8a10-7c31-9d3c-5f1f4b8f0a11'] })),
  name: Type.String({ examples: ['Ada'] }),
});

const ArtifactType = OneOf(artifactTypes, { examples: ['pull_request'] });
const said = {
  type: ArtifactType,
  title: Text(1, 300, { examples: ['Upgrade OpenSSL to 3.0.14'] }),
  description: Type.Optional(Nullable(Text(0, 10_000, { examples: ['Merged after two reviews'] }))),
  occurred_at: Type.Optional(
    Nullable(Type.String({ format: 'date-time', description: 'When it happened, if that is known', examples: ['2026-11-15T09:30:00Z'] })),
  ),
  supersedes: Type.Optional(
    Nullable(Type.String({ format: 'uuid', description: 'The artifact of the same work item that this one replaces', examples: [null] })),
  ),
};
/** What stands beside the file in a form; a form knows only text. */
export const ArtifactForm = Strict({
  ...said,
  description: Type.Optional(Text(0, 10_000)),
  occurred_at: Type.Optional(Type.String({ format: 'date-time' })),
  supersedes: Type.Optional(Type.String({ format: 'uuid' })),
});
export const ArtifactLink = Named('ArtifactLink', {
  ...said,
  url: Text(1, 2_000, {
    description: 'An http or https address. Credentials in it are removed before it is kept',
    examples: ['https://git.example.com/shop/pulls/17'],
  }),
});

export const Artifact = Named('Artifact', {
  id: Id,
  work_item_id: Id,
  type: ArtifactType,
  title: Type.String({ examples: ['Upgrade OpenSSL to 3.0.14'] }),
  description: Nullable(Type.String({ examples: [null] })),
  occurred_at: Nullable(Timestamp),
  captured: Type.Boolean({ description: 'Whether the service has the bytes; of a link it has not', examples: [true] }),
  url: Nullable(Type.String({ examples: [null] })),
  redactions: Type.Array(
    Named('ArtifactRedaction', {
      pointer: Type.String({ examples: ['/url'] }),
      reason: Type.String({ examples: ['the values of the query parameters token were removed'] }),
    }),
    { description: 'What was taken out before it was kept', examples: [[]] },
  ),
  capture: Nullable(
    Named(
      'ArtifactCapture',
      { url: Type.String(), provider: Type.String(), connection_id: Id, captured_at: Timestamp },
      { description: 'Where its bytes were taken from, when it is what a link led to', examples: [null] },
    ),
  ),
  filename: Nullable(Type.String({ examples: ['review.pdf'] })),
  media_type: Nullable(OneOf(artifactMediaTypes, { description: 'As its bytes say', examples: ['application/pdf'] })),
  size: Nullable(Type.Integer({ examples: [48_213] })),
  sha256: Nullable(Sha256),
  supersedes: Nullable(Type.String({ format: 'uuid', examples: [null] })),
  superseded_by: Nullable(Type.String({ format: 'uuid', examples: [null] })),
  removed: Nullable(Type.Object({ at: Timestamp, by: Person, reason: Type.String() }, { description: 'The tombstone of a removed one', examples: [null] })),
  added_at: Timestamp,
  added_by: Person,
});
export const ArtifactList = PageOf('ArtifactList', Artifact);

const flag = (description: string) => Type.Optional(Type.Boolean({ description }));
export const ArtifactListQuery = Strict({
  ...listParameters(['added_at'] as const, '-added_at'),
  type: Type.Optional(Type.Array(ArtifactType, { minItems: 1, maxItems: artifactTypes.length })),
  superseded: flag('Only those that another one replaces, or only those that none does'),
  removed: flag('Only removed ones, or only those that are there'),
});
export const WorkItemParams = Strict({ work_item_id: Id });
export const ArtifactParams = Strict({ id: Id });
export const ArtifactRemovalQuery = Strict({
  reason: Text(3, 2_000, { description: 'Why it is removed; kept with the tombstone', examples: ['Uploaded to the wrong work item'] }),
});

const Size = (description: string, options: Record<string, unknown> = {}) =>
  Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, description, ...options });
const Hashes = Type.Array(Sha256, { description: 'From the leaf to the root' });
const checkpointNote = `${ORIGIN}\n1\n8soa1sfpB9Btr+RofldfznazfkuTt2BQItpS5szCb9I=\n\n— ${ORIGIN} qk5lq…\n`;

export const LogCheckpoint = Named('LogCheckpoint', {
  origin: Type.String({ description: 'The name of the log', examples: [ORIGIN] }),
  tree_size: Size('Entries in the tree', { examples: [1] }),
  root_hash: Sha256,
  note: Type.String({ description: 'Signed note of C2SP with the Ed25519 key of the log', examples: [checkpointNote] }),
  rekor_note: Type.String({ description: 'The same tree as a checkpoint for tools that know Rekor, with its P-256 key', examples: [checkpointNote] }),
  created_at: Timestamp,
});
export const CheckpointText = Type.String({ examples: [checkpointNote] });

export const LogEntry = Named('LogEntry', {
  index: Size('Place in the log, from 0', { examples: [0] }),
  leaf_hash: Sha256,
  entry: Type.String({
    description: 'The bytes of the leaf: canonical JSON with hashes, signature and public key',
    examples: ['{"apiVersion":"0.0.1","kind":"dsse","spec":{}}'],
  }),
  package_id: Id,
  published: Type.Boolean({
    description: 'Whether the package with this leaf was published; one that was not is left by an attempt that broke off',
    examples: [true],
  }),
  published_at: Nullable(Timestamp),
  appended_at: Timestamp,
});
/** Any text, so that what is no number is not found instead of wrong. */
export const LogEntryParams = Strict({ index: Text(1, 1_000, { description: 'Place in the log, from 0', examples: ['0'] }) });

export const InclusionQuery = Strict({
  index: Size('The entry', { examples: [0] }),
  tree_size: Type.Optional(Size('The tree it is to be shown in; that of the last checkpoint, if not given', { minimum: 1 })),
});
export const InclusionProof = Named('InclusionProof', {
  index: Size('The entry', { examples: [0] }),
  tree_size: Size('Entries in the tree', { examples: [1] }),
  leaf_hash: Sha256,
  root_hash: Sha256,
  hashes: Hashes,
});

export const ConsistencyQuery = Strict({
  from: Size('Size of the older tree', { examples: [1] }),
  to: Type.Optional(Size('Size of the newer tree; that of the last checkpoint, if not given')),
});
export const ConsistencyProof = Named('ConsistencyProof', {
  from: Size('Size of the older tree', { examples: [1] }),
  to: Size('Size of the newer tree', { examples: [1] }),
  from_root_hash: Sha256,
  to_root_hash: Sha256,
  hashes: Type.Array(Sha256, { description: 'As in RFC 6962 section 2.1.2', examples: [[]] }),
});

export const EvidenceKeys = Named('EvidenceKeys', {
  keys: Type.Array(
    Named('EvidenceKey', {
      key_id: Type.String({
        description: 'Of a package key the fingerprint of OpenSSH, of a log key the SHA-256 of its SubjectPublicKeyInfo',
        examples: ['SHA256:wZKdFjLZ0u6T1vGq1nIDqYRLkvXgqVqYwqkH3H0kq1M'],
      }),
      use: OneOf(['package', 'log'] as const),
      algorithm: OneOf(['ES256', 'Ed25519'] as const),
      public_key_pem: Type.String({ examples: ['-----BEGIN PUBLIC KEY-----\nMFkw…\n-----END PUBLIC KEY-----\n'] }),
      jwk: Type.Object(
        { kty: Type.String(), crv: Type.String(), x: Type.String(), kid: Type.String() },
        {
          additionalProperties: true,
          description: 'The same key as JWK; its `kid` is the thumbprint of RFC 7638',
          examples: [{ kty: 'EC', crv: 'P-256', x: 'f83OJ3D2…', y: 'x_FEzRu9…', kid: 'cn-I_WNM…', alg: 'ES256', use: 'sig' }],
        },
      ),
      valid_from: Timestamp,
      valid_to: Nullable(Type.String({ format: 'date-time', description: 'When it was replaced; null: it signs now', examples: [null] })),
    }),
  ),
});
