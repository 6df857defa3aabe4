import { KEY_USES } from '@rrs/evidence-format';
import { Type } from 'typebox';
import { listParameters, PageOf } from '../http/paging.ts';
import { Id, Named, Nullable, OneOf, Strict, Text, Timestamp } from '../http/schemas.ts';
import { artifactMediaTypes } from './artifacts/media-type.ts';

const SHA256 = 'f2ca1bb6c7e907d06dafe4687e579fce76b37e4e93b7605022da52e6ccc26fd2';
const ORIGIN = 'rrs.example/orgs/01994f3e-8a10-7c31-9d3c-5f1f4b8f0a11';

export const idOf = (what: string) => ({ ...Id, description: `Id of ${what}.` });
export const timeOf = (description: string) => ({ ...Timestamp, description });
export const hashOf = (description: string) => Type.String({ description, examples: [SHA256] });
/** A nullable value whose example is null. */
const optionalId = (description: string) => Nullable(Type.String({ format: 'uuid', description, examples: [null] }));

export const Sha256 = hashOf('SHA-256 in hexadecimal.');
export const Person = Named(
  'EvidencePerson',
  {
    type: OneOf(['api_key', 'member', 'oidc', 'system'] as const, { description: 'Kind of credential. `system` is the service itself.' }),
    id: Nullable(
      Type.String({
        description: 'Id of the API key or member, or the subject of the OIDC token. Null for the service itself.',
        examples: ['01994f3e-8a10-7c31-9d3c-5f1f4b8f0a11'],
      }),
    ),
    name: Type.String({ description: 'Display name at the time of the action.', examples: ['Ada'] }),
  },
  { description: 'The member, API key, OIDC user or system component that performed the action.' },
);

export const artifactTypes = [
  'pull_request',
  'commit',
  'change_ticket',
  'scan_report',
  'approval',
  'screenshot',
  'configuration',
  'test_result',
  'other',
] as const;
const ArtifactType = OneOf(artifactTypes, { description: 'What the artifact documents.', examples: ['pull_request'] });
const title = { description: 'Short title.', examples: ['Upgrade OpenSSL to 3.0.14'] };
const description = { description: 'Details, up to 10,000 characters.', examples: ['Merged after two reviews'] };
const occurredAt = {
  format: 'date-time',
  description: 'When the documented event happened, if known. At most one day in the future.',
  examples: ['2026-11-15T09:30:00Z'],
};
const supersedes = { format: 'uuid', description: 'Id of the artifact that this one replaces. It must belong to the same work item.' };

/** The fields of the multipart form. Form fields are text, so none of them can be null. */
export const ArtifactForm = Strict({
  type: ArtifactType,
  title: Text(1, 300, title),
  description: Type.Optional(Text(0, 10_000, description)),
  occurred_at: Type.Optional(Type.String(occurredAt)),
  supersedes: Type.Optional(Type.String(supersedes)),
});
export const ArtifactLink = Named('ArtifactLink', {
  type: ArtifactType,
  title: Text(1, 300, title),
  description: Type.Optional(Nullable(Text(0, 10_000, description))),
  occurred_at: Type.Optional(Nullable(Type.String(occurredAt))),
  supersedes: Type.Optional(Nullable(Type.String({ ...supersedes, examples: [null] }))),
  url: Text(1, 2_000, {
    description: 'An http or https URL. Credentials in the URL are removed before it is stored.',
    examples: ['https://git.example.com/shop/pulls/17'],
  }),
});

export const Artifact = Named('Artifact', {
  id: idOf('the artifact'),
  work_item_id: idOf('the work item'),
  type: ArtifactType,
  title: Type.String(title),
  description: Nullable(Type.String({ description: 'Details. Null if none were given.', examples: [null] })),
  occurred_at: Nullable(timeOf('When the documented event happened. Null if unknown.')),
  captured: Type.Boolean({ description: 'Whether the service has the content. False for a link.', examples: [true] }),
  url: Nullable(Type.String({ description: 'The link, without credentials. Null for a file.', examples: [null] })),
  redactions: Type.Array(
    Named('ArtifactRedaction', {
      pointer: Type.String({ description: 'JSON Pointer to the changed field.', examples: ['/url'] }),
      reason: Type.String({ description: 'What was removed.', examples: ['the values of the query parameters token were removed'] }),
    }),
    { description: 'What was removed before the artifact was stored.', examples: [[]] },
  ),
  capture: Nullable(
    Named(
      'ArtifactCapture',
      {
        url: Type.String({ description: 'The link that was captured.' }),
        provider: Type.String({ description: 'Provider of the connection that read the link, such as `jira`.' }),
        connection_id: idOf('the connection that read the link'),
        captured_at: timeOf('When the content was read.'),
      },
      { description: 'Where the content was captured from. Null unless the artifact is the captured content of a link.', examples: [null] },
    ),
  ),
  filename: Nullable(Type.String({ description: 'File name as uploaded. Null for a link.', examples: ['review.pdf'] })),
  media_type: Nullable(
    OneOf(artifactMediaTypes, {
      description: 'Media type detected from the content; the type that the client sent is ignored. Null for a link.',
      examples: ['application/pdf'],
    }),
  ),
  size: Nullable(Type.Integer({ description: 'Size of the content in bytes. Null for a link.', examples: [48_213] })),
  sha256: Nullable(hashOf('SHA-256 of the content in hexadecimal. Null for a link.')),
  supersedes: optionalId('Id of the artifact that this one replaces.'),
  superseded_by: optionalId('Id of the artifact that replaces this one.'),
  removed: Nullable(
    Type.Object(
      { at: timeOf('When it was removed.'), by: Person, reason: Type.String({ description: 'Why it was removed.' }) },
      { description: 'Who removed the artifact, when and why. Null unless it was removed.', examples: [null] },
    ),
  ),
  added_at: timeOf('When the artifact was added.'),
  added_by: Person,
});
export const ArtifactList = PageOf('ArtifactList', Artifact);

const flag = (what: string) => Type.Optional(Type.Boolean({ description: `\`true\`: only ${what} artifacts. \`false\`: only the others. Default: both.` }));
export const ArtifactListQuery = Strict({
  ...listParameters(['added_at'] as const, '-added_at'),
  type: Type.Optional(Type.Array(ArtifactType, { minItems: 1, maxItems: artifactTypes.length, description: 'Only artifacts of these types.' })),
  superseded: flag('superseded'),
  removed: flag('removed'),
});
export const WorkItemParams = Strict({ work_item_id: idOf('the work item') });
export const ArtifactParams = Strict({ id: idOf('the artifact') });
export const ArtifactRemovalQuery = Strict({
  reason: Text(3, 2_000, {
    description: 'Why the artifact is removed. Kept permanently and shown in later packages.',
    examples: ['Uploaded to the wrong work item'],
  }),
});

const Count = (description: string, options: Record<string, unknown> = {}) =>
  Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, description, ...options });
const checkpointNote = `${ORIGIN}\n1\n8soa1sfpB9Btr+RofldfznazfkuTt2BQItpS5szCb9I=\n\n— ${ORIGIN} qk5lq…\n`;

const Epoch = Type.Integer({
  minimum: 1,
  maximum: 1_000_000_000,
  description: 'Number of the epoch. A log that was restored from a backup continues in a new epoch, which is a tree of its own.',
  examples: [1],
});
const epochFilter = {
  epoch: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000_000_000, description: 'Epoch of the log. Default: the current epoch.' })),
};
export const EpochQuery = Strict(epochFilter);

export const LogCheckpoint = Named('LogCheckpoint', {
  origin: Type.String({ description: 'Name of the transparency log.', examples: [ORIGIN] }),
  epoch: Epoch,
  tree_size: Count('Number of entries in the tree.', { examples: [1] }),
  root_hash: hashOf('Root hash of the tree in hexadecimal.'),
  note: Type.String({ description: 'Checkpoint as a C2SP signed note, signed with the Ed25519 key of the log.', examples: [checkpointNote] }),
  rekor_note: Type.String({
    description: 'The same checkpoint in the format of Rekor, signed with the P-256 key of the log.',
    examples: [checkpointNote],
  }),
  created_at: timeOf('When the checkpoint was recorded.'),
});
export const CheckpointText = Type.String({ description: 'The C2SP signed note.', examples: [checkpointNote] });

export const LogEntry = Named('LogEntry', {
  index: Count('Index of the entry, from 0.', { examples: [0] }),
  leaf_hash: hashOf('RFC 6962 leaf hash of the entry in hexadecimal.'),
  entry: Type.String({
    description: 'Content of the leaf: canonical JSON with hashes, signature and public key.',
    examples: ['{"apiVersion":"0.0.1","kind":"dsse","spec":{}}'],
  }),
  package_id: Nullable(idOf('the evidence package')),
  statement: Nullable(
    Type.String({
      description: 'DSSE envelope of a statement about the log itself: the start of an epoch, or a rotation of keys. Null for packages.',
      examples: ['{"payload":"…","payloadType":"application/vnd.in-toto+json","signatures":[]}'],
    }),
  ),
  published: Type.Boolean({
    description: 'Whether a package was published with this entry. False if sealing was interrupted after the entry was appended.',
    examples: [true],
  }),
  published_at: Nullable(timeOf('When the package was published. Null if it was not.')),
  appended_at: timeOf('When the entry was appended.'),
});
/** Accepts any text, so that an index that is not a number gives 404 like every other unknown entry. */
export const LogEntryParams = Strict({ index: Text(1, 1_000, { description: 'Index of the entry, from 0.', examples: ['0'] }) });

export const InclusionQuery = Strict({
  ...epochFilter,
  index: Count('Index of the entry, from 0.', { examples: [0] }),
  tree_size: Type.Optional(Count('Size of the tree to prove inclusion in. Default: the size of the latest checkpoint.', { minimum: 1 })),
});
export const InclusionProof = Named('InclusionProof', {
  index: Count('Index of the entry, from 0.', { examples: [0] }),
  tree_size: Count('Number of entries in the tree.', { examples: [1] }),
  leaf_hash: hashOf('Leaf hash of the entry in hexadecimal.'),
  root_hash: hashOf('Root hash of the tree in hexadecimal.'),
  hashes: Type.Array(Sha256, { description: 'Audit path, ordered from the leaf to the root.' }),
});

export const ConsistencyQuery = Strict({
  ...epochFilter,
  from: Count('Size of the older tree.', { examples: [1] }),
  to: Type.Optional(Count('Size of the newer tree. Default: the size of the latest checkpoint.')),
});
export const ConsistencyProof = Named('ConsistencyProof', {
  origin: Type.String({ description: 'Name of the transparency log.', examples: [ORIGIN] }),
  from: Count('Size of the older tree.', { examples: [1] }),
  to: Count('Size of the newer tree.', { examples: [1] }),
  from_root_hash: hashOf('Root hash of the older tree in hexadecimal.'),
  to_root_hash: hashOf('Root hash of the newer tree in hexadecimal.'),
  hashes: Type.Array(Sha256, { description: 'Consistency proof as defined in RFC 6962, section 2.1.2.', examples: [[]] }),
});

export const EvidenceKeys = Named('EvidenceKeys', {
  version: Type.Literal(2, { description: 'Version of this list.' }),
  origins: Type.Array(Type.String(), {
    description: 'Hosts of the transparency logs that the keys sign for. A log is named `<host>/orgs/<organization id>`.',
    examples: [['rrs.example']],
  }),
  keys: Type.Array(
    Named('EvidenceKey', {
      key_id: Type.String({
        description: 'OpenSSH fingerprint (package keys) or SHA-256 of the SubjectPublicKeyInfo in hexadecimal (log and note keys).',
        examples: ['SHA256:wZKdFjLZ0u6T1vGq1nIDqYRLkvXgqVqYwqkH3H0kq1M'],
      }),
      use: OneOf(KEY_USES, {
        description:
          '`package` keys sign packages. `log` keys sign entries and Rekor checkpoints of the transparency log. `note` keys sign its C2SP checkpoints.',
      }),
      algorithm: OneOf(['ES256', 'Ed25519'] as const, { description: 'Signature algorithm.' }),
      public_key_pem: Type.String({
        description: 'Public key in PEM (SubjectPublicKeyInfo).',
        examples: ['-----BEGIN PUBLIC KEY-----\nMFkw…\n-----END PUBLIC KEY-----\n'],
      }),
      jwk: Type.Object(
        {
          kty: Type.String({ description: 'Key type.' }),
          crv: Type.String({ description: 'Curve.' }),
          x: Type.String({ description: 'X coordinate, or the public key for Ed25519, in base64url.' }),
          kid: Type.String({ description: 'JWK thumbprint of the key (RFC 7638).' }),
        },
        {
          additionalProperties: true,
          description: 'The same key as a JSON Web Key.',
          examples: [{ kty: 'EC', crv: 'P-256', x: 'f83OJ3D2…', y: 'x_FEzRu9…', kid: 'cn-I_WNM…', alg: 'ES256', use: 'sig' }],
        },
      ),
      valid_from: timeOf('When the key was registered.'),
      valid_to: Nullable(Type.String({ format: 'date-time', description: 'When the key was replaced. Null while it is in use.', examples: [null] })),
      revoked_at: Nullable(Type.String({ format: 'date-time', description: 'When the key was revoked. Null unless it was.', examples: [null] })),
      revoked_reason: Nullable(Type.String({ description: 'Why the key was revoked. Null unless it was.', examples: [null] })),
    }),
    { description: 'Every key that was ever used. Keys in use come first.' },
  ),
});
