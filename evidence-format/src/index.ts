export { type BagInfo, bagInfoText, bagitText, bagValue, type Manifest, type ManifestEntry, manifestText, parseBagInfo, parseManifest } from './archive/bag.ts';
export { assertSafeNames, isSafeName, MAX_NAME_LENGTH, type NameFault, nameCheck, nameFaults, parseTopFolder, topFolder } from './archive/names.ts';
export { type ReadmeFacts, readmeText } from './archive/readme.ts';
export { writeZip, type ZipEntry, type ZipOptions } from './archive/zip.ts';
export type { WrittenEntry } from './archive/zip-records.ts';
export { type Bytes, concat, equalBytes, fromBase64, fromHex, fromUtf8, toBase64, toHex, utf8 } from './bytes/bytes.ts';
export { crc32 } from './bytes/crc32.ts';
export {
  childrenOf,
  contextTag,
  type Der,
  derInteger,
  derOid,
  expectTag,
  readDer,
  readGeneralizedTime,
  readInteger,
  readOid,
  TAG,
  writeDer,
} from './bytes/der.ts';
export { assertFormat, FormatError } from './bytes/errors.ts';
export { createSha256, type Hasher, sha256, sha256Hex } from './bytes/sha256.ts';
export { chainLine, TRAIL_START, type TrailResult, verifyTrail } from './document/audit-trail.ts';
export { csvCell } from './document/csv.ts';
export * from './document/evidence.ts';
export { concludeFrom, countsOf, gradeOf, reasonsOf, weightOf } from './document/rules.ts';
export { evidenceSchema, evidenceSchemaText } from './document/schema.ts';
export { canonicalJson, canonicalPieces } from './json/jcs.ts';
export { type JsonLimits, parseStrictJson } from './json/strict-json.ts';
export { type Schema, type SchemaFault, validate } from './json/validate.ts';
export {
  type Consistency,
  consistencyText,
  type GivenConsistency,
  leavesBytes,
  MAX_CARRIED_LEAVES,
  parseConsistency,
  parseConsistencyAnswer,
  parseLeaves,
} from './log/consistency.ts';
export {
  type Cosignature,
  cosignatureLine,
  cosignatureMessage,
  parseCosignature,
  parseWitnessVkey,
  type WitnessKey,
  witnessKeyId,
  witnessVkey,
} from './log/cosignature.ts';
export {
  type ConsistencyClaim,
  consistencyProof,
  emptyRoot,
  type InclusionClaim,
  inclusionProof,
  type Lookup,
  leafHash,
  type NodeId,
  nodeHash,
  nodesAfterAppend,
  nodesForAppend,
  nodesForConsistency,
  nodesForInclusion,
  nodesForRoot,
  rootFrom,
  rootFromLeaves,
  type TreeNode,
  verifyConsistency,
  verifyInclusion,
} from './log/merkle.ts';
export {
  type Checkpoint,
  checkpointText,
  type LogEpochName,
  logOrigin,
  type Note,
  type NoteSignature,
  noteWith,
  parseCheckpoint,
  parseNote,
  parseOrigin,
  rekorOrigin,
  signerOf,
} from './log/note.ts';
export { type PackageStatus, packageStatusStatement, parsePackageStatus, type SignedPackageStatus } from './log/package-status.ts';
export { type LogPromise, leafEntry, promiseBytes } from './log/rekor.ts';
export {
  epochStatement,
  type KeySet,
  type KeySuccession,
  type LogEpoch,
  parseEpochStatement,
  parseSuccessionStatement,
  successionStatement,
} from './log/statements.ts';
export {
  loggedSuccession,
  parseSuccessions,
  type SuccessionEnvelope,
  type SuccessionKey,
  successionKeys,
  successionsText,
} from './log/succession.ts';
export { parseTlogProof, type TlogProof, tlogProofText } from './log/tlog-proof.ts';
export { BUNDLE_MEDIA_TYPE, type Bundle, type BundleLogEntry, type BundleParts, bundleJson, parseBundle } from './signing/bundle.ts';
export { type Envelope, envelopeOf, PAYLOAD_TYPE, preAuthEncoding } from './signing/dsse.ts';
export {
  jwkOf,
  KEY_LIST_VERSION,
  KEY_USES,
  type KeyList,
  keyIdOf,
  type ListedKey,
  type ListedKeyUse,
  type PublicJwk,
  parseKeyList,
} from './signing/key-list.ts';
export {
  ed25519RawFromSpki,
  logId,
  noteKeyIdEcdsa,
  noteKeyIdEd25519,
  opensshFingerprint,
  parseVkey,
  pemFromSpki,
  spkiFromEd25519Raw,
  spkiFromPem,
  vkey,
} from './signing/keys.ts';
export {
  PREDICATE_TYPE,
  type Predicate,
  parseStatement,
  predicateOf,
  STATEMENT_TYPE,
  type Statement,
  SUBJECTS,
  type SubjectHashes,
  statementBytes,
} from './signing/statement.ts';
export { parseTimestampResponse, type TimestampResponse, type TimestampToken, type TstInfo, timestampRequest } from './signing/timestamp.ts';
